// SPDX-License-Identifier: Apache-2.0

// Creates elements. Content becomes text nodes or attributes and is never parsed as markup.

/** Creates an element with attributes, event handlers (`onclick`) and children; a string becomes a text node. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value)
    else if (value === true) made.setAttribute(key, "")
    else if (value !== false && value !== undefined && value !== null) made.setAttribute(key, value)
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined))
  return made
}

/** Creates an SVG element with attributes. */
export function svgElement(name, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  return made
}

const styles = {}

/** Loads a style sheet once; the promise is fulfilled when it applies. */
export function loadStyle(name) {
  styles[name] ??= new Promise((loaded) => {
    document.head.append(element("link", { rel: "stylesheet", href: `/page/${name}.css`, onload: loaded, onerror: loaded }))
  })
  return styles[name]
}

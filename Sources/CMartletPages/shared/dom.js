// SPDX-License-Identifier: Apache-2.0

// Creates elements, and replaces none while it is pressed; addresses of the server. Content becomes text nodes or attributes and is never parsed
// as markup.

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

/** The address of a path of the server. A proxy may serve the page, and with it the server, below a path of its own. */
export const serverURL = (path) => new URL(`.${path}`, document.baseURI).href

const styles = {}

/** Loads a style sheet once; the promise is fulfilled when it applies. */
export function loadStyle(name) {
  styles[name] ??= new Promise((loaded) => {
    document.head.append(element("link", { rel: "stylesheet", href: serverURL(`/page/${name}.css`), onload: loaded, onerror: loaded }))
  })
  return styles[name]
}

// A browser sends no click to an element that is replaced between press and release.

/** The longest time in milliseconds for which a press holds back changes: a release can be lost. */
const longestPress = 5000
/** The time in milliseconds between the end of a touch and its click. */
const clickDelay = 50
const afterRelease = new Set()
let isPressed = false
let releaseTimer = 0

function releaseAfter(milliseconds) {
  clearTimeout(releaseTimer)
  releaseTimer = setTimeout(() => {
    isPressed = false
    const actions = [...afterRelease]
    afterRelease.clear()
    for (const action of actions) action()
  }, milliseconds)
}

function press() {
  isPressed = true
  releaseAfter(longestPress)
}

addEventListener("pointerdown", press, true)
for (const end of ["pointerup", "pointercancel", "dragend"]) addEventListener(end, () => releaseAfter(clickDelay), true)
addEventListener("click", () => releaseAfter(0), true)
// The space bar presses a button until it is released.
addEventListener("keydown", ({ key, repeat }) => { if (key === " " && !repeat) press() }, true)
addEventListener("keyup", ({ key }) => { if (key === " ") releaseAfter(0) }, true)

/** Calls a function now or, while something is pressed, once it is released; a function that waits is called once. */
export function afterPress(action) {
  if (isPressed) afterRelease.add(action)
  else action()
}

/** Returns a promise that is fulfilled when nothing is pressed. */
export function released() {
  return new Promise((resolve) => { afterPress(resolve) })
}

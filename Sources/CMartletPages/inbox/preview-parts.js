// What several surfaces are put together of.

import { element } from "./dom.js"
import { app } from "./inbox.js"
import { fraction } from "./preview-template.js"

export const clock = () => element("div", { class: "clock" }, "9:41")
export const statusBar = () => element("div", { class: "status" }, element("span", {}, "9:41"), element("span", {}, "●●●"))

export const icon = (push) => element("div", { class: "icon" }, app(push).split(".").pop().slice(0, 1).toUpperCase())

/** A text in a place of its own; null for none. */
export const part = (style, name, words, lines = 1) =>
  (words === undefined || words === "" ? null
    : element("div", { class: style, "data-name": name, "data-lines": lines }, String(words)))

/** A bar of progress; null where there is none. */
export const bar = (value) =>
  (fraction(value) === undefined ? null : element("progress", { max: 1, value: fraction(value) }))

/** A StandBy view as it is in a dark room. */
export function night(content) {
  content.classList.add("night")
  return content
}

/** A gauge around a place; null where there is nothing to gauge. */
export function ring(value) {
  const share = fraction(value)
  if (share === undefined) return null
  const namespace = "http://www.w3.org/2000/svg"
  const circle = (style, length) => {
    const made = document.createElementNS(namespace, "circle")
    const attributes = { cx: 18, cy: 18, r: 16, pathLength: 100, "stroke-dasharray": `${length} 100`, class: style }
    for (const [name, text] of Object.entries(attributes)) made.setAttribute(name, text)
    return made
  }
  const made = document.createElementNS(namespace, "svg")
  made.setAttribute("viewBox", "0 0 36 36")
  made.setAttribute("class", "ring")
  made.append(circle("track", 100), circle("share", share * 100))
  return made
}

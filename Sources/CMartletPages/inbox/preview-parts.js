// SPDX-License-Identifier: Apache-2.0

// Elements that several previews share.

import { element, svgElement } from "./dom.js"
import { app } from "./push.js"
import { fraction } from "./preview-template.js"

export const clock = () => element("div", { class: "clock" }, "9:41")
export const statusBar = () => element("div", { class: "status" }, element("span", {}, "9:41"), element("span", {}, "●●●"))

export const icon = (push) => element("div", { class: "icon" }, app(push).split(".").pop().slice(0, 1).toUpperCase())

/** A text with a maximum number of lines; null for no text. */
export const part = (style, name, text, lines = 1) =>
  (text === undefined || text === "" ? null
    : element("div", { class: style, "data-name": name, "data-lines": lines }, String(text)))

/** A progress bar; null for a value that is not a fraction. */
export const bar = (value) =>
  (fraction(value) === undefined ? null : element("progress", { max: 1, value: fraction(value) }))

/** A StandBy view in Night Mode. */
export function night(content) {
  content.classList.add("night")
  return content
}

/** A circular gauge; null for a value that is not a fraction. */
export function ring(value) {
  const share = fraction(value)
  if (share === undefined) return null
  const circle = (style, length) =>
    svgElement("circle", { cx: 18, cy: 18, r: 16, pathLength: 100, "stroke-dasharray": `${length} 100`, class: style })
  const made = svgElement("svg", { viewBox: "0 0 36 36", class: "ring" })
  made.append(circle("track", 100), circle("share", share * 100))
  return made
}

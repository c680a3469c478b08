// SPDX-License-Identifier: Apache-2.0

// Elements that several previews share.

import { element, svgElement } from "./dom.js"
import { app, appColour } from "./push.js"
import { dayOf, timeOf } from "./preview-language.js"
import { fraction } from "./preview-template.js"

/** Shapes of the system: width, height, a filled path, and lines with their width. */
const glyphs = {
  signal: [18, 12, "", "M1.5 9v1.5M6.5 7v3.5M11.5 4.5v6M16.5 1.5v9", 3],
  wifi: [17, 12, "M8.5 11.5 6 9a3.5 3.5 0 0 1 5 0z", "M1.5 4.3a10 10 0 0 1 14 0M4 7a6.5 6.5 0 0 1 9 0", 2],
  battery: [27, 12, "M4 2h16q2 0 2 2v4q0 2-2 2H4Q2 10 2 8V4q0-2 2-2zM25 4v4a2 2 0 0 0 0-4z", "M4 .5h16Q23.5.5 23.5 4v4q0 3.5-3.5 3.5H4Q.5 11.5.5 8V4Q.5.5 4 .5z", 1],
  torch: [16, 24, "M3 0h10v3H3zM3 4.5h10c0 3-2.5 4-2.5 7V22l-1 2h-3l-1-2V11.5c0-3-2.5-4-2.5-7z", "", 0],
  camera: [24, 20, "M8 1h8l1 2.5h4q3 0 3 3V17q0 3-3 3H3q-3 0-3-3V6.5q0-3 3-3h4zM12 6a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11z", "M12 8.5a3 3 0 1 1 0 6 3 3 0 0 1 0-6z", 1.5],
  image: [20, 16, "M2 13V3h2v6l3-2 3 4 3-2 5 4z", "M2 1h16q1 0 1 1v12q0 1-1 1H2q-1 0-1-1V2q0-1 1-1z", 2],
  video: [16, 16, "M2 1l13 7-13 7z", "", 0],
  lock: [12, 16, "M0 6.5h12V14q0 2-2 2H2q-2 0-2-2z", "M3 7V4.5a3 3 0 0 1 6 0V7", 1.6],
}

/** A shape of the system, hidden from screen readers. */
export function glyph(name, height = 12) {
  const [width, unit, filled, lines, stroke] = glyphs[name]
  const made = svgElement("svg", { viewBox: `0 0 ${width} ${unit}`, width: (width * height) / unit, height, class: "glyph", "aria-hidden": "true" })
  made.append(svgElement("path", { d: filled }), svgElement("path", { d: lines, class: "line", "stroke-width": stroke }))
  return made
}

/** A part of a screen with classes. */
export const box = (style, ...children) => element("div", { class: style }, ...children)

/** The status bar of a phone, with its Dynamic Island; the Lock Screen has no time in it. */
export const statusBar = (push, isLocked = false) => element("div", { class: "status", "aria-hidden": "true" },
  element("span", {}, isLocked ? "" : timeOf(push)), element("i", { class: "sensors" }, isLocked ? glyph("lock", 13) : null),
  element("span", { class: "icons" }, glyph("signal"), glyph("wifi"), glyph("battery", 13)))

/** The Lock Screen: the date above the clock, `widgets` below it, and `content` at the bottom. */
export const lockScreen = (push, content, { above = null, widgets = null } = {}) => [
  statusBar(push, true),
  box("face", above ?? box("date", dayOf(push)), box("clock", timeOf(push)), widgets),
  box("list", content),
  element("div", { class: "shortcuts", "aria-hidden": "true" },
    element("i", { class: "glass" }, glyph("torch", 24)), element("i", { class: "glass" }, glyph("camera", 20))),
  homeIndicator(),
]

export const homeIndicator = () => element("i", { class: "indicator", "aria-hidden": "true" })

const lastName = (push) => app(push).split(".").pop()
/** The name of an app, which only its bundle identifier tells. */
export const appName = (push) => lastName(push).slice(0, 1).toUpperCase() + lastName(push).slice(1, 40)

/** The app's icon: the first letter of its name, in the colour that the list has for the app. */
export function icon(push) {
  const made = element("div", { class: "icon", "aria-hidden": "true" }, lastName(push).slice(0, 1).toUpperCase())
  made.style.setProperty("--app", appColour(app(push)))
  return made
}

/** A text with a maximum number of lines, 0 for no limit; null for no text. */
export const part = (style, name, text, lines = 1) =>
  (text === undefined || text === "" ? null : element("div", { class: style, "data-name": name, "data-lines": lines }, String(text)))

/** A progress bar; null for a value that is not a fraction. */
export const bar = (value) =>
  (fraction(value) === undefined ? null : element("progress", { max: 1, value: fraction(value), "aria-label": "Progress" }))

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
  const made = svgElement("svg", { viewBox: "0 0 36 36", class: "ring", "aria-hidden": "true" })
  made.append(circle("track", 100), circle("share", share * 100))
  return made
}

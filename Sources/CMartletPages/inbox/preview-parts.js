// SPDX-License-Identifier: Apache-2.0

// Elements that several previews share.

import { element, svgElement } from "./dom.js"
import { app } from "./push.js"
import { fraction } from "./preview-template.js"

/** Shapes of the system: the size of the grid, and a filled path. */
const glyphs = {
  signal: [18, 12, "M1 8h1.4a1 1 0 0 1 1 1v2a1 1 0 0 1-1 1H1a1 1 0 0 1-1-1V9a1 1 0 0 1 1-1zM5.8 5.5h1.4a1 1 0 0 1 1 1V11a1 1 0 0 1-1 1H5.8a1"
    + " 1 0 0 1-1-1V6.5a1 1 0 0 1 1-1zM10.6 2.8H12a1 1 0 0 1 1 1V11a1 1 0 0 1-1 1h-1.4a1 1 0 0 1-1-1V3.8a1 1 0 0 1 1-1zM15.4"
    + " 0h1.4a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1h-1.4a1 1 0 0 1-1-1V1a1 1 0 0 1 1-1z"],
  wifi: [17, 12, "M8.5 2.4c2.4 0 4.6.9 6.3 2.5.1.1.3.1.4 0l1.2-1.3c.1-.1.1-.3 0-.5A11.5 11.5 0 0 0 .6 3.1c-.1.2-.1.4 0 .5l1.2 1.3c.1.1.3"
    + ".1.4 0a9.2 9.2 0 0 1 6.3-2.5zm0 4c1.3 0 2.6.5 3.5 1.3.2.2.4.2.5 0l1.3-1.3c.1-.1.1-.3 0-.5a7.7 7.7 0 0 0-10.6 0c-.1.2-.1.4 0 .5l1.3"
    + " 1.3c.1.2.3.2.5 0 .9-.8 2.2-1.3 3.5-1.3zm2.6 2.7c.1.1.1.3 0 .4l-2.3 2.4c-.2.1-.4.1-.6 0L5.9 9.5c-.1-.1-.1-.3 0-.4a4 4 0 0 1 5.2 0z"],
  battery: [27, 12, "M3.5 0h18A3.5 3.5 0 0 1 25 3.5v5a3.5 3.5 0 0 1-3.5 3.5h-18A3.5 3.5 0 0 1 0 8.5v-5A3.5 3.5 0 0 1 3.5 0zm0 1A2.5 2.5 0 0 0 1"
    + " 3.5v5A2.5 2.5 0 0 0 3.5 11h18A2.5 2.5 0 0 0 24 8.5v-5A2.5 2.5 0 0 0 21.5 1zm.3 1h17.4A1.8 1.8 0 0 1 23 3.8v4.4a1.8 1.8 0 0 1-1.8"
    + " 1.8H3.8A1.8 1.8 0 0 1 2 8.2V3.8A1.8 1.8 0 0 1 3.8 2zM26 4c.7.3 1.2 1.1 1.2 2s-.5 1.7-1.2 2z"],
  torch: [16, 24, "M3 0h10v3H3zM3 4.5h10c0 3-2.5 4-2.5 7V22a2 2 0 0 1-2 2h-1a2 2 0 0 1-2-2V11.5c0-3-2.5-4-2.5-7zM8 11.5a1.5 1.5 0 1 0 0 3 1.5"
    + " 1.5 0 0 0 0-3z"],
  camera: [24, 20, "M8.5 1h7l1.5 2.5h3.5A3.5 3.5 0 0 1 24 7v9.5a3.5 3.5 0 0 1-3.5 3.5h-17A3.5 3.5 0 0 1 0 16.5V7a3.5 3.5 0 0 1 3.5-3.5H7zM12"
    + " 6.2a5.3 5.3 0 1 0 0 10.6 5.3 5.3 0 0 0 0-10.6zm0 1.8a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7z"],
  critical: [16, 15, "M6.7.8a1.5 1.5 0 0 1 2.6 0l6.5 11.7a1.5 1.5 0 0 1-1.3 2.2h-13a1.5 1.5 0 0 1-1.3-2.2zM7.2 5v4.5h1.6V5zm0 5.8v1.7h1.6v-1.7z"],
  image: [20, 16, "M2.5 0h15A2.5 2.5 0 0 1 20 2.5v11a2.5 2.5 0 0 1-2.5 2.5h-15A2.5 2.5 0 0 1 0 13.5v-11A2.5 2.5 0 0 1 2.5 0zM2 12.2l4.3-4.3 3.7 3.6"
    + " 2.7-2.6L18 13V2.5a.5.5 0 0 0-.5-.5h-15a.5.5 0 0 0-.5.5zM13.5 3.8a1.7 1.7 0 1 1 0 3.4 1.7 1.7 0 0 1 0-3.4z"],
  video: [16, 16, "M3 1.3v13.4c0 .8.8 1.2 1.5.8l10.8-6.7c.6-.4.6-1.2 0-1.6L4.5.5C3.8.1 3 .5 3 1.3z"],
  audio: [16, 16, "M7.6 1.3v13.4c0 .6-.7.9-1.1.5L3 11.5H.8a.8.8 0 0 1-.8-.8V5.3c0-.4.4-.8.8-.8H3L6.5.8c.4-.4 1.1-.1 1.1.5zM10 4.5l1-1.3a6 6 0 0 1 0"
    + " 9.6l-1-1.3a4.4 4.4 0 0 0 0-7z"],
  lock: [12, 16, "M2 6.5V4.3a4 4 0 0 1 8 0v2.2h.3A1.7 1.7 0 0 1 12 8.2v6.1a1.7 1.7 0 0 1-1.7 1.7H1.7A1.7 1.7 0 0 1 0 14.3V8.2a1.7 1.7 0 0 1"
    + " 1.7-1.7zm1.6 0h4.8V4.3a2.4 2.4 0 0 0-4.8 0z"],
}

/** A shape of the system, hidden from screen readers. */
export function glyph(name, height = 12) {
  const [width, unit, path] = glyphs[name]
  const made = svgElement("svg", {
    viewBox: `0 0 ${width} ${unit}`, width: (width * height) / unit, height, class: "glyph", fill: "currentColor", "fill-rule": "evenodd",
    "aria-hidden": "true",
  })
  made.append(svgElement("path", { d: path }))
  return made
}

const hours = new Intl.DateTimeFormat([], { hour: "numeric", minute: "2-digit" })
const day = new Intl.DateTimeFormat([], { weekday: "long", month: "long", day: "numeric" })
const dateOf = (push) => new Date(push.time ? push.time * 1000 : Date.now())
/** The time at which a push arrived, as a phone shows it: without AM or PM. */
export const timeOf = (push) => hours.formatToParts(dateOf(push)).filter(({ type }) => ["hour", "minute"].includes(type))
  .map(({ value }) => value).join(":")
export const dayOf = (push) => day.format(dateOf(push))

/** The status bar of a phone, with its Dynamic Island; the Lock Screen has no time in it. */
export const statusBar = (push, isLocked = false) => element("div", { class: "status", "aria-hidden": "true" },
  element("span", {}, isLocked ? "" : timeOf(push)), element("i", { class: "sensors" }, isLocked ? glyph("lock", 13) : null),
  element("span", { class: "icons" }, glyph("signal"), glyph("wifi"), glyph("battery", 13)))

/** The Lock Screen: the date above the clock, `widgets` below it, and `content` at the bottom. */
export const lockScreen = (push, content, { above = null, widgets = null } = {}) => [
  statusBar(push, true),
  element("div", { class: "face" }, above ?? element("div", { class: "date" }, dayOf(push)), element("div", { class: "clock" }, timeOf(push)), widgets),
  element("div", { class: "list" }, content),
  element("div", { class: "shortcuts", "aria-hidden": "true" },
    element("i", { class: "glass" }, glyph("torch", 24)), element("i", { class: "glass" }, glyph("camera", 20))),
  homeIndicator(),
]

export const homeIndicator = () => element("i", { class: "indicator", "aria-hidden": "true" })

/** The hues of apps' icons, on which white letters can be read. */
const hues = [214, 262, 330, 355, 18, 160, 190]
const hue = (name) => hues[[...name].reduce((sum, character) => (sum * 31 + character.codePointAt(0)) % 997, 0) % hues.length]
const lastName = (push) => app(push).split(".").pop()
/** The name of an app, which only its bundle identifier tells. */
export const appName = (push) => lastName(push).slice(0, 1).toUpperCase() + lastName(push).slice(1, 40)

/** The app's icon: the first letter of its name. */
export function icon(push, style = "icon") {
  const made = element("div", { class: style, "aria-hidden": "true" }, lastName(push).slice(0, 1).toUpperCase())
  made.style.setProperty("--hue", hue(app(push)))
  return made
}

/** A text with a maximum number of lines, whose direction is that of its first letter; null for no text. */
export const part = (style, name, text, lines = 1) =>
  (text === undefined || text === "" ? null
    : element("div", { class: style, "data-name": name, "data-lines": lines || null, dir: "auto" }, String(text)))

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

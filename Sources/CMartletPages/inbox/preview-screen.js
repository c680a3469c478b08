// SPDX-License-Identifier: Apache-2.0

// The devices of previews, and their screens: shadow trees with a style sheet of their own, whose texts are text nodes.

import { element, serverURL } from "./dom.js"

/** The devices, with Apple's sizes in points; preview.css has the rules of each. */
export const devices = {
  "393x852": { name: "393 × 852", width: 393, height: 852, hasIsland: true },
  "430x932": { name: "430 × 932", width: 430, height: 932, hasIsland: true },
  "375x667": { name: "375 × 667", width: 375, height: 667, hasIsland: false },
}

/** The style sheet of all screens. It is loaded once and shared, so a new screen has its layout at once. */
const sheet = new CSSStyleSheet()
/** Resolves when the style sheet is loaded. */
export const ready = fetch(serverURL("/page/preview.css")).then((response) => response.text())
  .then((text) => sheet.replaceSync(text)).catch(() => {})

/** The average widths of a character of San Francisco at 15 points in ems, regular and semibold, for English text. */
const characterWidths = { "": [400, 0.445], "-bold": [600, 0.462] }
const sampleText = "Your table for seven is ready, please come to the counter to collect the order."

/**
 * Scales the previews' font to the width of San Francisco where that font is missing, so that lines end where the phone ends them.
 *
 * The sizes stay those of the phone: only the glyphs are scaled, relative to the height of the font's x.
 */
function adjustFont() {
  const pen = document.createElement("canvas").getContext("2d")
  const width = (font) => {
    pen.font = font
    return pen.measureText(sampleText).width
  }
  const { fontFamily } = getComputedStyle(document.body)
  if (width(`100px -apple-system, BlinkMacSystemFont, "SF Pro Text", monospace`) !== width("100px monospace")) return
  for (const [name, [weight, expected]] of Object.entries(characterWidths)) {
    const probe = element("div", { class: "measuring" })
    Object.assign(probe.style, { width: "1ex", font: `${weight} 100px ${fontFamily}` })
    document.body.append(probe)
    const height = parseFloat(getComputedStyle(probe).width) / 100
    probe.remove()
    const factor = (expected * sampleText.length * 100) / width(`${weight} 100px ${fontFamily}`)
    document.documentElement.style.setProperty(`--adjusted${name}`, (height * factor).toFixed(4))
  }
}
adjustFont()

/** An invisible place of the page, in which a screen is laid out to measure which text does not fit. */
const measuring = element("div", { class: "measuring", "aria-hidden": "true" })
document.body.append(measuring)

/** Splits text into user-perceived characters. */
const characters = new Intl.Segmenter(undefined, { granularity: "grapheme" })
/** The maximum number of characters that are laid out; no surface shows more. */
const maximumCharacters = 4000
/** The scale of a landscape screen relative to portrait ones. */
const landscapeScale = 0.75
/** The least scale and height in points of a complete phone in a low window. */
const [leastPhoneScale, leastPhoneHeight] = [0.8, 560]

/**
 * A figure of a screen, with the truncated text listed below it.
 *
 * `kind` has the classes of the screen, such as `lock` or `standby`; `settings` become attributes for preview.css. Elements
 * of the content with `data-lines` are truncated to that number of lines.
 */
function figure(title, kind, settings, content, notes) {
  const device = element("div", {
    class: "device", "data-device": settings.device, "data-scheme": settings.scheme, "data-text": settings.text, dir: settings.direction,
  }, element("div", { class: `screen ${kind}${/^(lock|home|control)/.test(kind) ? " framed" : ""}` }, content))
  const host = element("div", { class: "preview", role: "group", "aria-label": title })
  const root = host.attachShadow({ mode: "open" })
  root.adoptedStyleSheets = [sheet]
  root.append(device)
  const limit = kind.includes("phone") ? Math.min(settings.limit, shorten(device, settings)) : settings.limit
  measuring.replaceChildren(host)
  const truncated = [...device.querySelectorAll("[data-lines]")].map(truncate).filter((each) => each?.name)
  const overflowing = [...device.querySelectorAll("[data-overflow]")].filter((part) => part.scrollHeight > part.clientHeight + 1)
  fit(host, device, settings, limit)
  const cutOff = (...text) => element("p", { class: "cut-off" }, element("span", { "aria-hidden": "true" }, "✂ "), ...text)
  return element("figure", { class: "shown" },
    element("figcaption", {}, title), host,
    truncated.map(({ name, rest }) => cutOff(`${name} is truncated. Not shown: `, element("q", { dir: "auto" }, rest))),
    overflowing.map((part) => cutOff(part.dataset.overflow)),
    notes.filter(Boolean).map((note) => element("p", { class: "note-below" }, note)))
}

/**
 * A surface that shows a push, with a function that makes its figure; `label` is a short title.
 *
 * `content` and `notes` are functions. `needsContext` marks a surface that shows other pushes.
 */
export const surface = (title, kind, content, { label, notes = () => [], needsContext } = {}) =>
  ({ title, label, needsContext, make: (settings) => figure(title, kind, settings, content(), notes()) })

/** Leaves out the middle of a complete phone where the window is lower; returns the scale of the phone. */
function shorten(device, { device: name, tall = Infinity }) {
  const { height } = devices[name]
  const scale = Math.min(1, Math.max(leastPhoneScale, tall / height))
  device.style.setProperty("--tall", `${Math.min(height, Math.max(leastPhoneHeight, tall / scale))}px`)
  return scale
}

/** Scales a device to the available width. */
function fit(host, device, { room }, limit) {
  const { width, height } = device.getBoundingClientRect()
  const scale = Math.min(1, width > 600 ? limit * landscapeScale : limit, room / width)
  host.style.width = `${Math.ceil(width * scale)}px`
  host.style.height = `${Math.ceil(height * scale)}px`
  if (scale !== 1) device.style.transform = `scale(${scale})`
}

/** Truncates the text of an element to its lines and marks the end; returns undefined if all of it fits. */
function truncate(part) {
  const whole = part.textContent
  const limit = Number(part.dataset.lines) * parseFloat(getComputedStyle(part).lineHeight) + 1
  if (whole.length <= maximumCharacters && part.offsetHeight <= limit) return undefined
  const parts = [...characters.segment(whole)].map(({ segment }) => segment)
  const mark = element("span", { class: "cut" }, "…")
  const fits = (count) => {
    part.replaceChildren(parts.slice(0, count).join("").trimEnd(), mark)
    return part.offsetHeight <= limit
  }
  let [low, high] = [0, Math.min(parts.length, maximumCharacters)]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (fits(middle)) low = middle
    else high = middle - 1
  }
  fits(low)
  return { name: part.dataset.name, rest: parts.slice(low, low + maximumCharacters).join("").trim() }
}

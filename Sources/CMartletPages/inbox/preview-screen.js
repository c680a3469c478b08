// SPDX-License-Identifier: Apache-2.0

// The devices of previews, and their screens: shadow trees with a style sheet of their own, whose texts are text nodes.

import { element, serverURL } from "./dom.js"
import { layOut } from "./preview-text.js"

/**
 * The phones, with Apple's sizes in points; preview.css has the rules of each.
 *
 * The two phones without a Dynamic Island have a notch, and a Home button.
 */
export const devices = {
  "402x874": { name: "iPhone 17, 17 Pro, 16 Pro", width: 402, height: 874, hasIsland: true },
  "440x956": { name: "iPhone 17 Pro Max, 16 Pro Max", width: 440, height: 956, hasIsland: true },
  "420x912": { name: "iPhone Air", width: 420, height: 912, hasIsland: true },
  "393x852": { name: "iPhone 16, 15, 14 Pro", width: 393, height: 852, hasIsland: true },
  "430x932": { name: "iPhone 16 Plus, 15 Plus, 14 Pro Max", width: 430, height: 932, hasIsland: true },
  "390x844": { name: "iPhone 16e, 14, 13", width: 390, height: 844, hasIsland: false },
  "375x667": { name: "iPhone SE", width: 375, height: 667, hasIsland: false },
}

/** The style sheet of all screens. It is loaded once and shared, so a new screen has its layout at once. */
const sheet = new CSSStyleSheet()
/** Resolves when the style sheet is loaded. */
export const ready = fetch(serverURL("/page/preview.css")).then((response) => response.text())
  .then((text) => sheet.replaceSync(text)).catch(() => {})

/** An invisible place of the page, in which a screen is laid out to measure which text does not fit. */
const measuring = element("div", { class: "measuring", "aria-hidden": "true" })
document.body.append(measuring)

/** The scale of a landscape screen relative to portrait ones. */
const landscapeScale = 0.75
/** The least scale and height in points of a complete phone in a low window. */
const [leastPhoneScale, leastPhoneHeight] = [0.8, 360]

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
  const truncated = layOut([...device.querySelectorAll("[data-lines]")])
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
 * `content` and `notes` are functions; `content` receives a function that draws the figure again after a click in it, and
 * keeps the focus on its button. `needsContext` marks a surface that shows other pushes.
 */
export function surface(title, kind, content, { label, notes = () => [], needsContext } = {}) {
  const make = (settings) => {
    const made = figure(title, kind, settings, content(() => {
      const next = make(settings)
      made.replaceWith(next)
      next.querySelector(".preview").shadowRoot.querySelector("button")?.focus()
    }), notes())
    return made
  }
  return { title, label, needsContext, make }
}

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

// SPDX-License-Identifier: Apache-2.0

// The devices of previews, and their screens: sandboxed frames that run no scripts and load only a style sheet.

import { element } from "./dom.js"

/** The devices, with Apple's sizes in points; preview.css has the rules of each. */
export const devices = {
  "393x852": { name: "393 × 852", width: 393, height: 852, hasIsland: true },
  "430x932": { name: "430 × 932", width: 430, height: 932, hasIsland: true },
  "375x667": { name: "375 × 667", width: 375, height: 667, hasIsland: false },
}

/** A screen of a kind, such as `lock` or `standby`, with the settings as attributes for preview.css. */
function screen(settings, kind, content) {
  return element("div", {
    class: `screen ${kind}`, "data-device": settings.device, "data-scheme": settings.scheme, "data-text": settings.text,
  }, content)
}

/** An invisible copy of the screen, laid out to measure which text does not fit. */
const measuringHost = element("div", { class: "measuring", "aria-hidden": "true" })
const measuringRoot = measuringHost.attachShadow({ mode: "open" })
const styles = element("link", { rel: "stylesheet", href: "/page/preview.css" })
const ready = new Promise((resolve) => { styles.onload = styles.onerror = resolve })
const measured = element("div")
measuringRoot.append(styles, measured)
document.body.append(measuringHost)

/** Splits text into user-perceived characters. */
const characters = new Intl.Segmenter(undefined, { granularity: "grapheme" })
/** The maximum number of characters that are laid out; no surface shows more. */
const maximumCharacters = 4000

/**
 * A figure of a screen, with the truncated text listed below it.
 *
 * Elements of the content with `data-lines` are truncated to that number of lines.
 */
export async function figure(title, kind, settings, content, notes = []) {
  await ready
  const made = screen(settings, kind, content)
  measured.replaceChildren(made)
  const truncated = [...made.querySelectorAll("[data-lines]")].map(truncate).filter((each) => each?.name)
  const { width, height } = made.getBoundingClientRect()
  // A landscape screen is scaled to about the width of a portrait one, and every screen to the available width.
  const scale = Math.min(kind === "standby" ? 0.46 : 1, settings.room / width)
  const overflowing = [...made.querySelectorAll("[data-overflow]")].filter((part) => part.scrollHeight > part.clientHeight + 1)
  measured.replaceChildren()
  return element("figure", { class: "shown" },
    element("figcaption", {}, title),
    frame(title, made, Math.ceil(width), Math.ceil(height), scale),
    truncated.map(({ name, rest }) => element("p", { class: "cut-off" },
      element("span", { class: "scissors", "aria-hidden": "true" }, "✂"), ` ${name} is truncated. Not shown: `,
      element("q", {}, rest))),
    overflowing.map((part) => element("p", { class: "cut-off" },
      element("span", { class: "scissors", "aria-hidden": "true" }, "✂"), ` ${part.dataset.overflow}`)),
    notes.map((note) => element("p", { class: "note-below" }, note)))
}

function frame(title, made, width, height, scale) {
  const page = document.implementation.createHTMLDocument(title)
  const style = page.createElement("link")
  style.rel = "stylesheet"
  style.href = new URL("/page/preview.css", location.href).href
  page.head.append(style)
  page.body.append(page.adoptNode(made))
  const shown = element("iframe", {
    class: "preview", sandbox: "", title, srcdoc: `<!doctype html>${page.documentElement.outerHTML}`, width, height,
  })
  if (scale === 1) return shown
  shown.style.transform = `scale(${scale})`
  const box = element("div", { class: "scaled" }, shown)
  box.style.width = `${width * scale}px`
  box.style.height = `${height * scale}px`
  return box
}

/** Truncates the text of an element to its lines and marks the end; returns undefined if all of it fits. */
function truncate(part) {
  const whole = part.textContent
  const parts = [...characters.segment(whole)].map(({ segment }) => segment)
  const limit = Number(part.dataset.lines) * parseFloat(getComputedStyle(part).lineHeight) + 1
  const mark = element("span", { class: "cut" }, "…")
  const fits = (count) => {
    part.replaceChildren(parts.slice(0, count).join("").trimEnd(), mark)
    return part.offsetHeight <= limit
  }
  if (parts.length <= maximumCharacters && part.offsetHeight <= limit) return undefined
  let [low, high] = [0, Math.min(parts.length, maximumCharacters)]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (fits(middle)) low = middle
    else high = middle - 1
  }
  fits(low)
  return { name: part.dataset.name, rest: parts.slice(low, low + maximumCharacters).join("").trim() }
}

// Phones to preview on, and screens of theirs: frames that run no scripts and ask for nothing.

import { element } from "./dom.js"

/** Apple's sizes in points; each has its rules in preview.css. */
export const devices = {
  "393x852": { name: "393 × 852", width: 393, height: 852, hasIsland: true },
  "430x932": { name: "430 × 932", width: 430, height: 932, hasIsland: true },
  "375x667": { name: "375 × 667", width: 375, height: 667, hasIsland: false },
}

/** What a screen's looks are chosen by. */
function screen(settings, place, content) {
  return element("div", {
    class: `screen ${place}`, "data-device": settings.device, "data-scheme": settings.scheme, "data-text": settings.text,
  }, content)
}

/** The screen once more, laid out out of sight, to see what the phone would cut. */
const workshop = element("div", { class: "workshop", "aria-hidden": "true" })
const bench = workshop.attachShadow({ mode: "open" })
const styles = element("link", { rel: "stylesheet", href: "/page/preview.css" })
const ready = new Promise((resolve) => { styles.onload = styles.onerror = resolve })
const table = element("div")
bench.append(styles, table)
document.body.append(workshop)

/** A piece of a text that is no less than a letter. */
const letters = new Intl.Segmenter(undefined, { granularity: "grapheme" })
/** Letters that are laid out; no surface has room for more. */
const mostLetters = 4000

/**
 * A figure of a screen, with what the phone cuts off told below it.
 *
 * Elements of the content with `data-lines` are cut to so many lines.
 */
export async function figure(title, place, settings, content, notes = []) {
  await ready
  const made = screen(settings, place, content)
  table.replaceChildren(made)
  const cuts = [...made.querySelectorAll("[data-lines]")].map(cut).filter((each) => each?.name)
  const { width, height } = made.getBoundingClientRect()
  // A phone on its side is as wide as others are upright; none is wider than there is room.
  const scale = Math.min(place === "standby" ? 0.46 : 1, settings.room / width)
  const crowded = [...made.querySelectorAll("[data-crowds]")].filter((part) => part.scrollHeight > part.clientHeight + 1)
  table.replaceChildren()
  return element("figure", { class: "shown" },
    element("figcaption", {}, title),
    frame(title, made, Math.ceil(width), Math.ceil(height), scale),
    cuts.map(({ name, rest }) => element("p", { class: "cut-off" },
      element("span", { class: "scissors", "aria-hidden": "true" }, "✂"), ` ${name} is cut, not seen: `,
      element("q", {}, rest))),
    crowded.map((part) => element("p", { class: "cut-off" },
      element("span", { class: "scissors", "aria-hidden": "true" }, "✂"), ` ${part.dataset.crowds}`)),
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

/** Cuts an element's text to its lines as the phone does, with a mark; undefined when there is nothing to cut. */
function cut(part) {
  const whole = part.textContent
  const parts = [...letters.segment(whole)].map(({ segment }) => segment)
  const limit = Number(part.dataset.lines) * parseFloat(getComputedStyle(part).lineHeight) + 1
  const mark = element("span", { class: "cut" }, "…")
  const fits = (count) => {
    part.replaceChildren(parts.slice(0, count).join("").trimEnd(), mark)
    return part.offsetHeight <= limit
  }
  if (parts.length <= mostLetters && part.offsetHeight <= limit) return undefined
  let [low, high] = [0, Math.min(parts.length, mostLetters)]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (fits(middle)) low = middle
    else high = middle - 1
  }
  fits(low)
  return { name: part.dataset.name, rest: parts.slice(low, low + mostLetters).join("").trim() }
}

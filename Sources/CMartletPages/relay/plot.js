// SPDX-License-Identifier: Apache-2.0

// Plots of the last hour: a line for each lane, axes with times and values, marks of events, a legend, and a read-out that
// follows the pointer and the arrow keys in all plots at once.

import { element, svgElement } from "./dom.js"
import { rate } from "./figures.js"
import { grouped, shortTime } from "./texts.js"

const height = 180
const margin = { top: 16, right: 8, bottom: 22, left: 44 }
/** Half the width of a letter in a label, at most. */
const halfLetter = 3.5
/** The number of lines of a plot, and of the colours of lanes. Of more lanes, the least important ones have one line. */
const lineLimit = 6
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 })
const clock = new Intl.DateTimeFormat([], { hour: "2-digit", minute: "2-digit" })
const tones = {
  "outage-began": "bad", "storage-failed": "bad", "reload-rejected": "bad", "relay-left": "warning", paused: "warning",
  draining: "warning", "clock-jumped": "warning", "outage-ended": "good", "storage-recovered": "good", resumed: "good",
}
/** The tone of an event's mark. */
export const eventTone = (kind) => tones[kind] ?? ""
/** The meanings of the tones of marks. */
const meanings = {
  bad: "outage or failure", warning: "pause, shutdown, missing relay or clock jump", good: "end of an outage or a pause",
  "": "start, reload or change of the fleet",
}
/** The tones of the marks of events, each with its meaning. */
export const markMeanings = (events) => Object.entries(meanings).filter(([tone]) => events.some(({ kind }) => eventTone(kind) === tone))

/**
 * The names of the lanes that have lines of their own in all plots, in the order of the relay.
 *
 * A lane is as important as its largest share of the peak of a figure, so that each plot has the line of its highest lane.
 */
export function ownLanes({ lanes, samples }, figures) {
  if (lanes.length <= lineLimit) return lanes
  const peak = (figure, lane) => Math.max(0, ...samples.map((sample) => sample.lanes[lane]?.[figure] ?? 0))
  const importance = lanes.map(() => 0)
  for (const figure of figures) {
    const peaks = lanes.map((_, lane) => peak(figure, lane))
    const highest = Math.max(Number.MIN_VALUE, ...peaks)
    peaks.forEach((value, lane) => { importance[lane] = Math.max(importance[lane], value / highest) })
  }
  const order = lanes.map((_, lane) => lane).sort((first, second) => importance[second] - importance[first])
  const own = new Set(order.slice(0, lineLimit - 1))
  return lanes.filter((_, lane) => own.has(lane))
}

/** The colours of lanes, as numbers by name: a lane keeps the one that it had before, and others have those that are free. */
export function laneColours(own, before = new Map()) {
  const kept = new Map(own.filter((name) => before.has(name)).map((name) => [name, before.get(name)]))
  const taken = new Set(kept.values())
  const free = Array.from({ length: lineLimit }, (_, colour) => colour).filter((colour) => !taken.has(colour))
  return new Map(own.map((name) => [name, kept.get(name) ?? free.shift()]))
}

/**
 * The lines of a figure, {name, values}: those of the lanes with an own one, and one for all others.
 *
 * That is the sum of their values, or the highest one if `isMaximum`.
 */
export function lines({ lanes, samples }, own, figure, isMaximum) {
  const all = lanes.map((name, lane) => ({ name, values: samples.map((sample) => sample.lanes[lane]?.[figure]) }))
  const rest = all.filter(({ name }) => !own.includes(name))
  if (rest.length === 0) return all
  const together = samples.map((_, index) => {
    // A lane that was added later has no values before.
    const known = rest.map(({ values }) => values[index]).filter((value) => value !== undefined)
    if (known.length === 0) return undefined
    return isMaximum ? Math.max(...known) : known.reduce((sum, value) => sum + value)
  })
  const name = `${isMaximum ? "highest of " : ""}${rest.length} others`
  return [...all.filter((line) => own.includes(line.name)), { name, values: together }]
}

/** The next round number: 1, 2 or 5 with zeros, at least 1. */
export function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)))
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value) ?? value
}

/** The plots of a page, which share the position of the read-out. */
export class Plots {
  constructor(container, figures) {
    this.container = container
    this.plots = figures.map((figure) => new Plot(figure, (time) => this.point(time)))
    container.replaceChildren(...this.plots.map((plot) => plot.root))
    new ResizeObserver(() => this.draw()).observe(container)
  }

  /** Shows a history, {lanes, samples}, and events, {time, kind, text}. */
  show(history, events) {
    this.history = history
    this.events = events
    this.colours = laneColours(ownLanes(history, this.plots.map(({ figure }) => figure)), this.colours)
    this.draw()
  }

  draw() {
    if (!this.history) return
    for (const plot of this.plots) plot.draw(this.history, this.events, this.colours)
  }

  point(time) {
    for (const plot of this.plots) plot.point(time)
  }
}

class Plot {
  constructor({ title, figure, unit, isRate, isMaximum = false }, moved) {
    Object.assign(this, { title, figure, unit, isRate, isMaximum, text: isRate ? rate : grouped, moved, time: null })
    this.readOut = element("output", { class: "read-out" })
    this.picture = svgElement("svg", { tabindex: 0, role: "slider", "aria-label": title, "aria-orientation": "horizontal", height })
    this.picture.addEventListener("pointermove", (event) => moved(this.timeAt(event.offsetX)))
    this.picture.addEventListener("pointerleave", () => moved(null))
    this.picture.addEventListener("focus", () => this.time === null && moved(this.samples.at(-1)?.time ?? null))
    this.picture.addEventListener("blur", () => moved(null))
    this.picture.addEventListener("keydown", (event) => this.key(event))
    this.legend = element("p", { class: "legend" })
    this.root = element("figure", { class: "card plot" }, element("figcaption", {}, element("h3", {}, title), this.readOut), this.picture, this.legend)
  }

  key(event) {
    const index = this.samples.findIndex(({ time }) => time === this.time)
    const last = this.samples.length - 1
    const target = { ArrowLeft: index - 1, ArrowRight: index + 1, ArrowDown: index - 1, ArrowUp: index + 1, PageDown: index - 6, PageUp: index + 6, Home: 0, End: last }[event.key]
    if (event.key === "Escape") this.moved(null)
    if (target === undefined || last < 0) return
    event.preventDefault()
    this.moved(this.samples[Math.max(0, Math.min(last, target))].time)
  }

  get samples() { return this.history?.samples ?? [] }

  x(time) {
    const [first, last] = this.span
    return margin.left + (time - first) / Math.max(1, last - first) * (this.width - margin.left - margin.right)
  }

  y(value) { return height - margin.bottom - value / this.top * (height - margin.top - margin.bottom) }

  /** The time of the sample at a position. */
  timeAt(position) {
    if (this.samples.length === 0) return null
    const distance = ({ time }) => Math.abs(this.x(time) - position)
    return this.samples.reduce((best, sample) => (distance(sample) < distance(best) ? sample : best)).time
  }

  /** Draws a history; `colours` has the colours of the lanes with an own line. */
  draw(history, events, colours) {
    this.history = history
    this.lines = lines(history, [...colours.keys()], this.figure, this.isMaximum)
      .map((line) => ({ ...line, colour: colours.get(line.name) ?? "others" }))
    this.width = Math.max(200, this.picture.clientWidth)
    const last = this.samples.at(-1)?.time ?? Date.now()
    // At least five minutes, so that the first samples are not drawn over the whole width.
    this.span = [Math.min(this.samples[0]?.time ?? last, last - 300_000), last]
    this.events = (events ?? []).filter(({ time }) => time >= this.span[0] && time <= last + 10_000)
    this.top = roundUp(Math.max(0, ...this.lines.flatMap(({ values }) => values.map((value) => value ?? 0))))
    this.picture.setAttribute("viewBox", `0 0 ${this.width} ${height}`)
    this.picture.setAttribute("aria-valuemin", 0)
    this.picture.setAttribute("aria-valuemax", Math.max(0, this.samples.length - 1))
    this.legend.replaceChildren(element("span", {}, `Lines: ${this.unit}, by lane`), ...markMeanings(this.events).map(([tone, meaning]) =>
      element("span", {}, element("span", { class: "dot", "data-tone": tone }), meaning)))
    this.cursor = svgElement("g", { class: "cursor" })
    this.picture.replaceChildren(...this.grid(), ...this.marks(), ...this.lines.map((each) => this.line(each)), this.cursor)
    this.point(this.samples.some(({ time }) => time === this.time) ? this.time : null)
  }

  grid() {
    const made = []
    for (const share of [0, 0.5, 1]) {
      // Half a push is no value.
      if (!this.isRate && !Number.isInteger(this.top * share)) continue
      const y = this.y(this.top * share)
      made.push(svgElement("line", { class: "grid", x1: margin.left, x2: this.width - margin.right, y1: y, y2: y }))
      made.push(label(compact.format(this.top * share), margin.left - 6, y + 4, "end"))
    }
    const [first, last] = this.span
    const step = [60, 120, 300, 600, 900, 1200].map((seconds) => seconds * 1000).find((each) => (last - first) / each <= this.width / 70) ?? 1_800_000
    for (let time = Math.ceil(first / step) * step; time <= last; time += step) {
      const x = this.x(time)
      if (x > this.width - 20) continue
      const text = clock.format(time)
      // A label at the right end would be cut, as with a clock of twelve hours.
      const center = Math.min(x, this.width - text.length * halfLetter)
      made.push(svgElement("line", { class: "tick", x1: x, x2: x, y1: height - margin.bottom, y2: height - margin.bottom + 4 }))
      made.push(label(text, center, height - 5, "middle"))
    }
    return made
  }

  marks() {
    return this.events.map(({ time, kind, text }) => {
      const x = Math.min(this.x(time), this.width - margin.right)
      const mark = svgElement("g", { class: "mark", "data-tone": eventTone(kind), "data-kind": kind })
      const title = svgElement("title", {})
      title.textContent = `${shortTime(time)} ${text}`
      mark.append(title, svgElement("line", { x1: x, x2: x, y1: margin.top - 4, y2: height - margin.bottom }), svgElement("circle", { cx: x, cy: margin.top - 8, r: 4 }))
      return mark
    })
  }

  /** A line with gaps where the value is not known. */
  line({ values, colour }) {
    let path = ""
    let isOpen = false
    values.forEach((value, sample) => {
      if (value === undefined) { isOpen = false; return }
      path += `${isOpen ? "L" : "M"}${this.x(this.samples[sample].time).toFixed(1)},${this.y(value).toFixed(1)}`
      isOpen = true
    })
    return svgElement("path", { d: path || "M0,0", class: "line", "data-line": colour })
  }

  /** Shows the values at the time of a sample; null for the latest ones, without a cursor. */
  point(time) {
    this.time = time
    const index = time === null ? this.samples.length - 1 : this.samples.findIndex((sample) => sample.time === time)
    const sample = this.samples[index]
    if (!sample) {
      this.readOut.replaceChildren("no samples yet")
      return
    }
    const values = this.lines.map(({ name, colour, values: all }) => ({ name, colour, value: all[index] }))
    const near = time === null ? [] : this.events.filter((event) => Math.abs(event.time - time) <= 5000).map(({ text }) => text)
    const shown = values.map(({ name, colour, value }) => element("span", { "data-line": colour },
      element("span", { class: "name", title: name }, name), " ", value === undefined ? "unknown" : this.text(value)))
    const when = time === null ? `latest, ${shortTime(sample.time)}` : shortTime(time)
    this.readOut.replaceChildren(element("span", { class: "faint" }, when), ...shown, ...near.map((text) => element("strong", {}, text)))
    this.picture.setAttribute("aria-valuenow", index)
    this.picture.setAttribute("aria-valuetext", [when, ...values.map(({ name, value }) => `${name} ${value === undefined ? "unknown" : this.text(value)} ${this.unit}`), ...near].join(", "))
    const x = this.x(sample.time)
    this.cursor.replaceChildren(...(time === null ? [] : [
      svgElement("line", { x1: x, x2: x, y1: margin.top - 4, y2: height - margin.bottom }),
      ...values.flatMap(({ value, colour }) => (value === undefined ? [] : [svgElement("circle", { cx: x, cy: this.y(value), r: 3.5, "data-line": colour })])),
    ]))
  }
}

function label(text, x, y, anchor) {
  const made = svgElement("text", { x, y, "text-anchor": anchor })
  made.textContent = text
  return made
}

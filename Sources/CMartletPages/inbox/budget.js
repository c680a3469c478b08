// SPDX-License-Identifier: Apache-2.0

// A chart of the pushes to a Live Activity per hour: those that count toward Apple's budget, and the others.

import { element, svgElement } from "./dom.js"

const hour = 3600
const hoursShown = 24
/** The height of the bars, and the margins for the labels of the axes, in pixels. */
const [height, left, bottom, top] = [140, 36, 24, 8]
const width = 26
const rule = "https://developer.apple.com/documentation/activitykit/starting-and-updating-live-activities-with-activitykit-push-notifications"

export function budget(pushes) {
  const hours = perHour(pushes)
  const most = Math.max(...hours.map(({ high, low }) => high + low), 0)
  const high = hours.reduce((sum, each) => sum + each.high, 0)
  const low = hours.reduce((sum, each) => sum + each.low, 0)
  const summary = `${high} with priority 10, ${low} with priority 5, up to ${most} in one hour`
  const readOut = element("output", { class: "faint" }, `${summary}.`)
  return [
    element("h3", {}, "Pushes per hour"),
    element("div", { class: "legend" }, element("span", {}, swatch("high"), "priority 10 counts toward the budget"),
      element("span", {}, swatch("low"), "priority 5 does not")),
    chart(hours, Math.max(most, 1), summary, (text) => { readOut.textContent = text ?? `${summary}.` }),
    readOut,
    element("p", { class: "faint" }, `Apple limits the Live Activity pushes of each app per hour, and throttles updates that exceed the
      budget. Pushes with priority 10 or without a priority count. Apps that declare NSSupportsLiveActivitiesFrequentUpdates have a
      higher budget. `, element("a", { href: rule, rel: "noreferrer", target: "_blank" }, "Apple’s rule")),
  ]
}

/** The accepted pushes per hour, without gaps, for at most the last `hoursShown` hours. */
export function perHour(pushes) {
  const counts = new Map()
  for (const { time, headers, status } of pushes) {
    if (status !== 200) continue
    const start = Math.floor(time / hour) * hour
    const count = counts.get(start) ?? { start, high: 0, low: 0 }
    if (headers["apns-priority"] === "5") count.low += 1
    else count.high += 1
    counts.set(start, count)
  }
  if (counts.size === 0) return []
  const last = Math.max(...counts.keys())
  const first = Math.max(Math.min(...counts.keys()), last - (hoursShown - 1) * hour)
  const hours = []
  for (let start = first; start <= last; start += hour) hours.push(counts.get(start) ?? { start, high: 0, low: 0 })
  return hours
}

/** The values at which the axis has lines: at most five, as whole numbers. */
export function axisValues(most) {
  const step = [1, 2, 5].flatMap((digit) => Array.from({ length: 7 }, (_, power) => digit * 10 ** power))
    .sort((one, other) => one - other).find((step) => most / step <= 4)
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, index) => index * step)
}

function chart(hours, most, summary, read) {
  const values = axisValues(most)
  const scale = (count) => (count / values.at(-1)) * height
  const total = left + Math.max(hours.length, 12) * width
  const svg = svgElement("svg", {
    class: "budget", role: "img", "aria-label": summary, viewBox: `0 0 ${total} ${top + height + bottom}`, width: total, height: top + height + bottom,
  })
  for (const value of values) {
    const y = top + height - scale(value)
    svg.append(svgElement("line", { x1: left, x2: total, y1: y, y2: y }), label(value, { x: left - 6, y: y + 4, "text-anchor": "end" }))
  }
  for (const [index, each] of hours.entries()) svg.append(bar(each, left + index * width, scale, read, hours.length < 13 || index % 3 === 0))
  svg.addEventListener("pointerleave", () => read(null))
  return readByKeys(svg, [...svg.querySelectorAll(".bar-group")], read)
}

/** A container of the chart in which the arrow keys select a bar, as the pointer does. */
function readByKeys(svg, bars, read) {
  let index = bars.length
  const select = (position) => {
    index = position
    for (const [other, each] of bars.entries()) each.classList.toggle("selected", other === index)
    read(bars[index]?.dataset.text ?? null)
  }
  return element("div", {
    class: "chart-host", tabindex: 0, role: "group", "aria-label": "Pushes per hour: arrow keys read the hours",
    onblur: () => select(bars.length),
    onkeydown: (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
      if (!step) return
      event.preventDefault()
      select(Math.min(Math.max(index + step, 0), bars.length - 1))
    },
  }, svg)
}

function bar({ start, high, low }, x, scale, read, hasLabel) {
  const date = new Date(start * 1000)
  const text = `${date.toLocaleDateString([], { day: "numeric", month: "short" })}, ${clock(date)} to ${clock(new Date((start + hour) * 1000))}: `
    + `${high} with priority 10, ${low} with priority 5`
  const group = svgElement("g", { class: "bar-group", "data-text": text })
  group.append(svgElement("rect", { class: "target", x, y: top, width, height }),
    svgElement("rect", { class: "high", x: x + 3, y: top + height - scale(high), width: width - 6, height: scale(high), rx: 2 }),
    svgElement("rect", { class: "low", x: x + 3, y: top + height - scale(high + low), width: width - 6, height: scale(low), rx: 2 }))
  if (hasLabel) group.append(label(String(date.getHours()).padStart(2, "0"), { x: x + width / 2, y: top + height + 16, "text-anchor": "middle" }))
  group.addEventListener("pointerenter", () => read(text))
  return group
}

const clock = (date) => date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })

function label(text, attributes) {
  const made = svgElement("text", attributes)
  made.textContent = text
  return made
}

const swatch = (name) => element("span", { class: `swatch ${name}` })

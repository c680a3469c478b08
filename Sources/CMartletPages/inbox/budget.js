// SPDX-License-Identifier: Apache-2.0

// A chart of the pushes to a Live Activity per hour: those that count toward Apple's budget, and the others.

import { element, svgElement } from "./dom.js"

const hour = 3600
const hoursShown = 24
const height = 72
const width = 24

export function budget(pushes) {
  const hours = perHour(pushes)
  const most = Math.max(...hours.map(({ high, low }) => high + low), 1)
  const high = hours.reduce((sum, each) => sum + each.high, 0)
  const low = hours.reduce((sum, each) => sum + each.low, 0)
  const summary = `${high} with priority 10, ${low} with priority 5, up to ${most} in one hour`
  return [
    element("h3", {}, "Pushes per hour"),
    chart(hours, most, summary),
    element("p", {}, swatch("high"), " priority 10 ", swatch("low"), ` priority 5: ${summary}.`),
    element("p", { class: "faint" }, `Apple limits the Live Activity pushes of each app per hour. Pushes with priority 10
      and pushes without a priority count toward this budget; pushes with priority 5 do not. Apple throttles updates that
      exceed the budget. Apps that declare NSSupportsLiveActivitiesFrequentUpdates have a higher budget.`),
  ]
}

/** The accepted pushes per hour, without gaps, for at most the last `hoursShown` hours. */
function perHour(pushes) {
  const counts = new Map()
  for (const { time, headers, status } of pushes) {
    if (status !== 200) continue
    const start = Math.floor(time / hour) * hour
    const count = counts.get(start) ?? { start, high: 0, low: 0 }
    if (headers["apns-priority"] === "5") count.low += 1
    else count.high += 1
    counts.set(start, count)
  }
  const last = Math.max(...counts.keys(), 0)
  const first = Math.max(Math.min(...counts.keys(), last), last - (hoursShown - 1) * hour)
  const hours = []
  for (let start = first; start <= last; start += hour) hours.push(counts.get(start) ?? { start, high: 0, low: 0 })
  return hours
}

function chart(hours, most, summary) {
  const svg = svgElement("svg", {
    class: "budget", role: "img", "aria-label": summary, viewBox: `0 0 ${hours.length * width + 4} ${height + 18}`,
    width: hours.length * width + 4, height: height + 18,
  })
  for (const [index, { start, high, low }] of hours.entries()) {
    const x = index * width + 2
    const scale = (count) => (count / most) * height
    svg.append(
      svgElement("rect", { class: "high", x, y: height - scale(high), width: width - 4, height: scale(high) }),
      svgElement("rect", { class: "low", x, y: height - scale(high + low), width: width - 4, height: scale(low) }))
    const label = svgElement("text", { x: x + (width - 4) / 2, y: height + 14, "text-anchor": "middle" })
    label.textContent = String(new Date(start * 1000).getHours())
    svg.append(label)
  }
  svg.append(svgElement("line", { x1: 0, x2: hours.length * width + 4, y1: height, y2: height }))
  return svg
}

const swatch = (name) => element("span", { class: `swatch ${name}` })

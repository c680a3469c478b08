// How many pushes an activity gets each hour, of those that count towards Apple's budget and of those that do not.

import { element } from "./dom.js"

const hour = 3600
const hoursShown = 24
const height = 72
const width = 24

export function budget(pushes) {
  const hours = perHour(pushes)
  const most = Math.max(...hours.map(({ high, low }) => high + low), 1)
  const high = hours.reduce((sum, each) => sum + each.high, 0)
  const low = hours.reduce((sum, each) => sum + each.low, 0)
  const words = `${high} of priority 10 and ${low} of priority 5, at most ${most} in one hour`
  return [
    element("h3", {}, "Pushes per hour"),
    chart(hours, most, words),
    element("p", {}, swatch("high"), " priority 10 ", swatch("low"), ` priority 5: ${words}.`),
    element("p", { class: "faint" }, `Apple gives each app a budget of Live Activity pushes per hour. Pushes of priority 10
      count, and so do those that name none; pushes of priority 5 do not. Over the budget, updates are throttled; an app
      that declares NSSupportsLiveActivitiesFrequentUpdates gets more.`),
  ]
}

/** Accepted pushes by the hour, the last hours at most, with the hours between. */
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

function chart(hours, most, words) {
  const svg = drawn("svg", {
    class: "budget", role: "img", "aria-label": words, viewBox: `0 0 ${hours.length * width + 4} ${height + 18}`,
    width: hours.length * width + 4, height: height + 18,
  })
  for (const [index, { start, high, low }] of hours.entries()) {
    const x = index * width + 2
    const scale = (count) => (count / most) * height
    svg.append(
      drawn("rect", { class: "high", x, y: height - scale(high), width: width - 4, height: scale(high) }),
      drawn("rect", { class: "low", x, y: height - scale(high + low), width: width - 4, height: scale(low) }))
    const label = drawn("text", { x: x + (width - 4) / 2, y: height + 14, "text-anchor": "middle" })
    label.textContent = String(new Date(start * 1000).getHours())
    svg.append(label)
  }
  svg.append(drawn("line", { x1: 0, x2: hours.length * width + 4, y1: height, y2: height }))
  return svg
}

const swatch = (name) => element("span", { class: `swatch ${name}` })

function drawn(name, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  return made
}

// SPDX-License-Identifier: Apache-2.0

// A plot of one figure over time, with a line for each lane.

import { element, svgElement } from "./dom.js"

const width = 360
const height = 120
const number = new Intl.NumberFormat("en", { notation: "compact" })

/** A plot of a figure of every lane; `history` is {lanes: [name], samples: [{time, lanes: [{figure}]}]}. */
export function plot(title, history, figure) {
  const { lanes, samples } = history
  const value = (sample, lane) => sample.lanes[lane]?.[figure]
  const maximum = Math.max(1, ...samples.flatMap((sample) => lanes.map((_, lane) => value(sample, lane) ?? 0)))
  const first = samples[0]?.time ?? 0
  const span = Math.max(1, (samples.at(-1)?.time ?? 1) - first)
  const label = summary(title, maximum, samples)
  const picture = svgElement("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label })
  picture.append(svgElement("line", { x1: 0, x2: width, y1: height - 1, y2: height - 1, class: "axis" }))
  lanes.forEach((_, lane) => {
    const known = samples.filter((sample) => value(sample, lane) !== undefined)
    const points = known.map((sample) => {
      const x = (sample.time - first) / span * width
      const y = height - 2 - value(sample, lane) / maximum * (height - 12)
      return `${x.toFixed(1)},${y.toFixed(1)}`
    })
    picture.append(svgElement("polyline", { points: points.join(" "), class: "line", "data-lane": lane % 6 }))
  })
  return element("figure", {},
    element("figcaption", {}, element("strong", {}, title), ` up to ${number.format(maximum)}`), picture,
    element("ul", { class: "legend" }, lanes.map((name, lane) => element("li", { "data-lane": lane % 6 }, name))))
}

const summary = (title, maximum, samples) =>
  samples.length ? `${title}: up to ${number.format(maximum)} in ${samples.length} samples` : `${title}: no samples yet`

// SPDX-License-Identifier: Apache-2.0

// The payload as a tree, with findings beside the values they refer to.

import { element } from "./dom.js"

/** The tree of a value; `findings` is a list of {place, severity, message} from the simulator. */
export function payloadTree(value, findings) {
  return element("div", { class: "tree" }, branch(null, value, "", findings))
}

function branch(name, value, pointer, findings) {
  const own = findings.filter((finding) => finding.place === `payload${pointer}`)
  const notes = own.map((finding) => element("span", { class: "note", "data-severity": finding.severity }, finding.message))
  const label = name === null ? [] : [element("span", { class: "name" }, name), ": "]
  if (value === null || typeof value !== "object") {
    const type = value === null ? "null" : typeof value
    return element("div", { class: "leaf", "data-found": own.length > 0 }, label,
      element("span", { class: `value ${type}` }, JSON.stringify(value)), notes)
  }
  const entries = Array.isArray(value) ? value.map((item, index) => [String(index), item]) : Object.entries(value)
  const brackets = Array.isArray(value) ? "[ ]" : "{ }"
  return element("details", { open: true, "data-found": own.length > 0 },
    element("summary", {}, label, brackets, notes),
    entries.map(([key, item]) =>
      branch(key, item, `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`, findings)))
}

/** The findings as a list, with links to Apple's documentation. */
export function findingsList(findings) {
  if (findings.length === 0) return element("p", {}, "No findings.")
  return element("ul", { class: "findings" }, findings.map((finding) =>
    element("li", { "data-severity": finding.severity },
      element("strong", {}, `${finding.severity}: ${finding.place}`), element("p", {}, finding.message),
      element("a", { href: finding.page, rel: "noreferrer", target: "_blank" }, `${finding.rule}: Apple documentation`))))
}

/** The size of a payload relative to its limit. */
export function sizeBar(byteCount, limit) {
  return element("label", { class: "size" }, `${byteCount} of ${limit} bytes `,
    element("meter", { min: 0, max: limit, high: limit * 0.9, value: byteCount }))
}

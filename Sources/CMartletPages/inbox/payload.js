// The payload as a tree, with what the rules say at the places they say it of.

import { element } from "./dom.js"

/** The tree of a value; findings is a list of {place, severity, message} as the simulator gives them. */
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
  const signs = Array.isArray(value) ? "[ ]" : "{ }"
  return element("details", { open: true, "data-found": own.length > 0 },
    element("summary", {}, label, signs, notes),
    entries.map(([key, item]) =>
      branch(key, item, `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`, findings)))
}

/** What the rules say, as a list with Apple's pages. */
export function findingsList(findings) {
  if (findings.length === 0) return element("p", {}, "The rules have nothing to say.")
  return element("ul", { class: "findings" }, findings.map((finding) =>
    element("li", { "data-severity": finding.severity },
      element("strong", {}, `${finding.severity}: ${finding.place}`), element("p", {}, finding.message),
      element("a", { href: finding.page, rel: "noreferrer", target: "_blank" }, `${finding.rule}: Apple's page`))))
}

/** How much of the room a payload takes. */
export function sizeBar(byteCount, limit) {
  return element("label", { class: "size" }, `${byteCount} of ${limit} bytes `,
    element("meter", { min: 0, max: limit, high: limit * 0.9, value: byteCount }))
}

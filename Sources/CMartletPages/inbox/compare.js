// SPDX-License-Identifier: Apache-2.0

// Two pushes side by side, with the differences of their headers and payloads.

import { payload, request } from "./api.js"
import { absoluteTime, chip, emptyState, iconButton, relativeTime, tabs } from "./components.js"
import { answerChip } from "./detail-header.js"
import { element, loadStyle } from "./dom.js"
import { parse } from "./json-text.js"
import { previews } from "./preview.js"
import { headline } from "./push.js"
import { exactTerm } from "./query.js"
import { verdictLine, verdictText } from "./verdict.js"

const fields = {
  device: (push) => ["device", push["device-token"]], channel: (push) => ["channel", push.channel],
  thread: (push) => ["thread", push.payload.aps["thread-id"]], collapse: (push) => ["collapse", push.headers["apns-collapse-id"]],
}

/** The number of the previous push with the same device, channel, thread or collapse ID; null if there is none. */
export async function previous(push, name) {
  const [field, value] = fields[name](push)
  const query = exactTerm(field, value)
  if (query === null) throw new Error("Pushes with a quotation mark in this value cannot be searched for.")
  const { pushes } = await request(`/api/v1/pushes?${new URLSearchParams({ query, limit: 1, before: push.number })}`)
  return pushes[0]?.number ?? null
}

/**
 * The differences of two JSON texts, in the order of the texts: {path, was, is, kind}, in which `kind` is same, added,
 * removed or changed. Numbers and strings are compared as they are written.
 */
export function differences(one, other) {
  const [before, after] = [values(one), values(other)]
  const rows = []
  const order = [...after.keys()]
  // A value that only the second text has follows the value before it in that text.
  const addFrom = (index) => {
    for (let at = index; at < order.length && !before.has(order[at]); at += 1) rows.push({ path: order[at], is: after.get(order[at]), kind: "added" })
  }
  addFrom(0)
  for (const [path, was] of before) {
    const is = after.get(path)
    rows.push({ path, was, is, kind: is === undefined ? "removed" : was === is ? "same" : "changed" })
    if (is !== undefined) addFrom(order.indexOf(path) + 1)
  }
  return rows
}

/** The scalar values and empty containers of a text, by their paths; the whole text if it is not JSON. */
function values(text) {
  const found = new Map()
  const visit = (node, path) => {
    if (!node.children?.length) found.set(path, text.slice(node.start, node.end))
    else for (const child of node.children) visit(child, node.type === "array" ? `${path}[${child.key}]` : path ? `${path}.${child.key}` : child.key)
  }
  try {
    visit(parse(text), "")
  } catch {
    found.set("", text)
  }
  return found
}

export function open(container, [one, other]) {
  const requests = new AbortController()
  show(container, [one, other], requests.signal).catch((error) => {
    if (!requests.signal.aborted) container.replaceChildren(emptyState("info", "The pushes cannot be compared", error.message))
  })
  return () => requests.abort()
}

async function show(container, numbers, signal) {
  document.title = `Push ${numbers[0]} and push ${numbers[1]} – Martlet`
  const pushes = await Promise.all(numbers.map((number) => request(`/api/v1/pushes/${number}`, "GET", undefined, signal)))
  const texts = await Promise.all(pushes.map(({ number }) => payload(number, signal)))
  await loadStyle("compare")
  const sections = {
    Delivery: differences(...pushes.map((push) => JSON.stringify(delivery(push)))),
    // The identifiers of two pushes always differ.
    Headers: differences(...pushes.map(({ headers: { "apns-id": _, ...headers } }) => JSON.stringify(headers))),
    Payload: differences(...texts),
  }
  const count = Object.values(sections).flat().filter(({ kind }) => kind !== "same").length
  const tables = element("div", { class: "compare", "data-only": "differences", role: "tabpanel", "aria-label": "Comparison" },
    element("div", { class: "compare-heads" }, heads(pushes)),
    Object.entries(sections).map(([name, rows]) => section(name, rows)),
    element("div", { class: "compare-heads" }, pushes.map((push) => element("section", { class: "card", "aria-label": `Preview of push ${push.number}` }, previews(push, signal)))))
  const choice = tabs("Shown values", { differences: `Differences ${count}`, all: "All values" }, "differences", (value) => { tables.dataset.only = value })
  container.replaceChildren(element("div", { class: "page" },
    element("div", { class: "compare-title" }, element("h2", {}, "Compare two pushes"),
      iconButton("replaced", "Swap the sides", () => { location.hash = `#/compare/${numbers[1]}/${numbers[0]}` })),
    choice, tables))
}

const delivery = (push) => ({
  status: push.status, reason: push.reason, verdict: push.verdict && verdictText(push.verdict), "device-token": push["device-token"], channel: push.channel, app: push.app,
})

const heads = (pushes) => pushes.map((push) => element("section", { class: "card", "aria-label": `Push ${push.number}` },
  element("h3", {}, element("a", { href: `#/push/${push.number}` }, headline(push))),
  element("div", { class: "chips" }, chip(`push ${push.number}`), answerChip(push), relativeTime(push["time-ms"])),
  verdictLine(push)))

const words = { added: "added", removed: "removed", changed: "changed", same: "" }

function section(name, rows) {
  const changed = rows.filter(({ kind }) => kind !== "same").length
  return element("section", { "data-same": changed === 0 },
    element("h3", {}, name, " ", chip(changed ? String(changed) : "equal", changed ? "accent" : "")),
    element("table", { class: "differences", "aria-label": `Differences of ${name.toLowerCase()}` },
      element("colgroup", {}, element("col"), element("col"), element("col")), element("thead", { class: "visually-hidden" }, element("tr", {}, ["Value", "First push", "Second push"].map((text) => element("th", { scope: "col" }, text)))),
      element("tbody", {}, rows.map(({ path, was, is, kind }) => element("tr", { "data-kind": kind },
        element("th", { scope: "row" }, path || "(all)", words[kind] ? element("small", {}, words[kind]) : null),
        element("td", {}, was === undefined ? null : marked(was, is, "del"), timeOf(path, was)),
        element("td", {}, is === undefined ? null : marked(is, was, "ins"), timeOf(path, is)))))))
}

/** The time of a value in seconds since 1970; null for other values. */
function timeOf(path, text) {
  const isTime = /(^|\.)(timestamp|stale-date|dismissal-date|apns-expiration)$/.test(path)
  const seconds = isTime ? Number(text?.replaceAll('"', "")) : 0
  return seconds > 0 ? element("small", {}, " ", absoluteTime(seconds * 1000)) : null
}

/** A value, in which the part that differs from the other value is marked. */
function marked(text, other, tag) {
  if (other === undefined) return element(tag, {}, text)
  if (text === other) return text
  let start = 0
  while (start < text.length && text[start] === other[start]) start += 1
  let end = 0
  while (end < Math.min(text.length, other.length) - start && text.at(-1 - end) === other.at(-1 - end)) end += 1
  return [text.slice(0, start), element(tag, {}, text.slice(start, text.length - end)), text.slice(text.length - end)].filter((part) => part !== "")
}

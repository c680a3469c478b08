// SPDX-License-Identifier: Apache-2.0

// The filters beside the list. Each adds terms to the query, or removes them.

import { element } from "./dom.js"
import { app, kind } from "./push.js"
import { contains, exactTerm, toggled } from "./query.js"

/** The number of filters that a section shows collapsed, and expanded. */
const collapsedCount = 5
const expandedCount = 100

const isSilent = (push) => push.payload?.aps?.["content-available"] !== undefined && push.payload.aps.alert === undefined
const type = (push) => push.headers["apns-push-type"]
const has = (severity) => (push) => push.findings.some((finding) => finding.severity === severity)
const short = (text) => (text.length > 20 ? `${text.slice(0, 8)}…${text.slice(-4)}` : text)

/** The fixed filters, each with its query and the pushes that it counts. */
const kinds = {
  Alerts: ["type:alert -is:silent", (push) => type(push) === "alert" && !isSilent(push)],
  Silent: ["is:silent", isSilent],
  Activities: ["type:liveactivity", (push) => type(push) === "liveactivity"],
  Broadcasts: ["is:broadcast", (push) => push.channel !== undefined],
}
const responses = {
  Accepted: ["is:accepted", (push) => push.status === 200],
  Refused: ["is:refused", (push) => push.status !== 200 && push.status !== 0],
  Errors: ["has:error", has("error")],
  Warnings: ["has:warning", has("warning")],
}

/** The filters for values that occur in the pushes. */
const found = {
  Type: { of: (push) => (["alert", "background", "liveactivity"].includes(type(push)) ? undefined : type(push)), term: "type" },
  Reason: { of: (push) => push.reason, term: "reason" },
  App: { of: (push) => app(push), term: "app" },
  Device: { of: (push) => push["device-token"], term: "device", label: short },
  Activity: { of: (push) => (kind(push) === "activity" ? push["device-token"] : undefined), term: "device", label: short,
    more: "type:liveactivity" },
  Channel: { of: (push) => push.channel, term: "channel" },
  Thread: { of: (push) => push.payload?.aps?.["thread-id"], term: "thread" },
  Collapse: { of: (push) => push.headers["apns-collapse-id"], term: "collapse" },
}
const sections = {
  Kind: [kinds, found.Type], Response: [responses, found.Reason], Apps: [{}, found.App], Devices: [{}, found.Device],
  "Live Activities": [{}, found.Activity], Channels: [{}, found.Channel], Threads: [{}, found.Thread],
  "Collapse IDs": [{}, found.Collapse],
}
const collapsedSections = ["Collapse IDs"]

export class Sidebar {
  #container
  #inbox
  #search
  #sections
  #timer = 0
  #expanded = new Set()

  /** `search` is called with the new query. */
  constructor(container, inbox, search) {
    this.#container = container
    this.#inbox = inbox
    this.#search = search
    this.#sections = Object.fromEntries(Object.keys(sections).map((name) => [name,
      element("details", { open: !collapsedSections.includes(name), hidden: true }, element("summary", {}, name), element("div"))]))
    container.replaceChildren(element("div"), ...Object.values(this.#sections))
    inbox.addEventListener("change", () => { this.#timer ||= setTimeout(() => this.show(), 200) })
    this.show()
  }

  show() {
    clearTimeout(this.#timer)
    this.#timer = 0
    const { all, query } = this.#inbox
    const focused = this.#container.contains(document.activeElement) ? document.activeElement.dataset.key : undefined
    this.#container.firstElementChild.replaceChildren(this.#button("All", "All", all.length, query === "", ""))
    for (const [name, section] of Object.entries(this.#sections)) this.#fill(section, name, all, query)
    if (focused) [...this.#container.querySelectorAll("[data-key]")].find((button) => button.dataset.key === focused)?.focus()
  }

  #fill(section, name, all, query) {
    const filters = filtersOf(sections[name], all)
    const wanted = filters.map((filter) => filter.query)
    const isExpanded = this.#expanded.has(name)
    const shown = filters.filter((filter, index) =>
      filter.isFixed || (isExpanded ? index < expandedCount : index < collapsedCount + filters.filter((one) => one.isFixed).length)
      || contains(query, filter.query))
    const buttons = shown.map((filter) => this.#button(`${name} ${filter.key}`, filter.label, filter.count,
      contains(query, filter.query), toggled(query, filter.query, wanted), filter.key))
    const rest = filters.length - shown.length
    if (rest > 0 || isExpanded) buttons.push(this.#moreButton(name, isExpanded, rest))
    section.hidden = filters.length === 0
    section.lastElementChild.replaceChildren(...buttons)
  }

  #button(key, label, count, isPressed, query, title) {
    return element("button", {
      type: "button", "data-key": key, "aria-pressed": String(isPressed), "aria-label": label,
      "aria-description": `${count} pushes`, title, onclick: () => this.#search(query),
    }, element("span", { class: "label" }, label), " ", element("span", { class: "number" }, count))
  }

  #moreButton(name, isExpanded, rest) {
    return element("button", {
      type: "button", class: "more", "data-key": `${name} more`,
      onclick: () => {
        if (!this.#expanded.delete(name)) this.#expanded.add(name)
        this.show()
      },
    }, isExpanded ? "Show fewer" : `Show ${rest} more`)
  }
}

/** The filters of a section: the fixed ones, then the others by frequency. */
function filtersOf([fixed, { of, term: name, label = (text) => text, more = "" }], all) {
  const counts = new Map()
  const fixedFilters = Object.entries(fixed).map(([key, [query]]) => ({ key, label: key, query, count: 0, isFixed: true }))
  const tests = Object.values(fixed).map(([, test]) => test)
  for (const push of all) {
    tests.forEach((test, index) => { if (test(push)) fixedFilters[index].count += 1 })
    const value = of(push)
    if (typeof value === "string" && value) counts.set(value, (counts.get(value) ?? 0) + 1)
  }
  const others = [...counts].sort(([, one], [, other]) => other - one).flatMap(([key, count]) => {
    const valueTerm = exactTerm(name, key)
    return valueTerm ? [{ key, label: label(key), query: [more, valueTerm].filter(Boolean).join(" "), count }] : []
  })
  return [...fixedFilters, ...others]
}

// The filters beside the list: each is a few words of the query, put there and taken away with a click.

import { element } from "./dom.js"
import { app, kind } from "./inbox.js"
import { holds, toggled, word } from "./words.js"

/** Filters that a section shows at first, and at most. */
const few = 5
const many = 100

const isSilent = (push) => push.payload?.aps?.["content-available"] !== undefined && push.payload.aps.alert === undefined
const type = (push) => push.headers["apns-push-type"]
const has = (severity) => (push) => push.findings.some((finding) => finding.severity === severity)
const short = (text) => (text.length > 20 ? `${text.slice(0, 8)}…${text.slice(-4)}` : text)

/** Filters that are always there, with what they count. */
const kinds = {
  Alerts: ["type:alert -is:silent", (push) => type(push) === "alert" && !isSilent(push)],
  Silent: ["is:silent", isSilent],
  Activities: ["type:liveactivity", (push) => type(push) === "liveactivity"],
  Broadcasts: ["is:broadcast", (push) => push.channel !== undefined],
}
const answers = {
  Accepted: ["is:accepted", (push) => push.status === 200],
  Refused: ["is:refused", (push) => push.status !== 200 && push.status !== 0],
  Errors: ["has:error", has("error")],
  Warnings: ["has:warning", has("warning")],
}

/** Filters for what is found among the pushes. */
const found = {
  Type: { of: (push) => (["alert", "background", "liveactivity"].includes(type(push)) ? undefined : type(push)), word: "type" },
  Reason: { of: (push) => push.reason, word: "reason" },
  App: { of: (push) => app(push), word: "app" },
  Device: { of: (push) => push["device-token"], word: "device", label: short },
  Activity: { of: (push) => (kind(push) === "activity" ? push["device-token"] : undefined), word: "device", label: short,
    more: "type:liveactivity" },
  Channel: { of: (push) => push.channel, word: "channel" },
  Thread: { of: (push) => push.payload?.aps?.["thread-id"], word: "thread" },
  Collapse: { of: (push) => push.headers["apns-collapse-id"], word: "collapse" },
}
const sections = {
  Kind: [kinds, found.Type], Answer: [answers, found.Reason], Apps: [{}, found.App], Devices: [{}, found.Device],
  "Live Activities": [{}, found.Activity], Channels: [{}, found.Channel], Threads: [{}, found.Thread],
  "Collapse IDs": [{}, found.Collapse],
}
const closedAtFirst = ["Collapse IDs"]

export class Sidebar {
  #place
  #inbox
  #search
  #sections
  #timer = 0
  #open = new Set()

  /** `search` is called with the query that a click makes. */
  constructor(place, inbox, search) {
    this.#place = place
    this.#inbox = inbox
    this.#search = search
    this.#sections = Object.fromEntries(Object.keys(sections).map((name) => [name,
      element("details", { open: !closedAtFirst.includes(name), hidden: true }, element("summary", {}, name), element("div"))]))
    place.replaceChildren(element("div"), ...Object.values(this.#sections))
    inbox.addEventListener("change", () => { this.#timer ||= setTimeout(() => this.show(), 200) })
    this.show()
  }

  show() {
    clearTimeout(this.#timer)
    this.#timer = 0
    const { all, query } = this.#inbox
    const focused = this.#place.contains(document.activeElement) ? document.activeElement.dataset.key : undefined
    this.#place.firstElementChild.replaceChildren(this.#button("All", "All", all.length, query === "", ""))
    for (const [name, section] of Object.entries(this.#sections)) this.#fill(section, name, all, query)
    if (focused) [...this.#place.querySelectorAll("[data-key]")].find((button) => button.dataset.key === focused)?.focus()
  }

  #fill(section, name, all, query) {
    const filters = filtersOf(sections[name], all)
    const wanted = filters.map((filter) => filter.query)
    const isOpen = this.#open.has(name)
    const shown = filters.filter((filter, index) =>
      filter.isFixed || (isOpen ? index < many : index < few + filters.filter((one) => one.isFixed).length)
      || holds(query, filter.query))
    const buttons = shown.map((filter) => this.#button(`${name} ${filter.key}`, filter.label, filter.count,
      holds(query, filter.query), toggled(query, filter.query, wanted), filter.key))
    const rest = filters.length - shown.length
    if (rest > 0 || isOpen) buttons.push(this.#moreButton(name, isOpen, rest))
    section.hidden = filters.length === 0
    section.lastElementChild.replaceChildren(...buttons)
  }

  #button(key, label, count, isPressed, query, title) {
    return element("button", {
      type: "button", "data-key": key, "aria-pressed": String(isPressed), "aria-label": label,
      "aria-description": `${count} pushes`, title, onclick: () => this.#search(query),
    }, element("span", { class: "label" }, label), " ", element("span", { class: "number" }, count))
  }

  #moreButton(name, isOpen, rest) {
    return element("button", {
      type: "button", class: "more", "data-key": `${name} more`,
      onclick: () => {
        if (!this.#open.delete(name)) this.#open.add(name)
        this.show()
      },
    }, isOpen ? "fewer" : `${rest} more`)
  }
}

/** The filters of a section, those that are always there first, then the most frequent. */
function filtersOf([fixed, { of, word: name, label = (text) => text, more = "" }], all) {
  const counts = new Map()
  const always = Object.entries(fixed).map(([key, [query]]) => ({ key, label: key, query, count: 0, isFixed: true }))
  const tests = Object.values(fixed).map(([, test]) => test)
  for (const push of all) {
    tests.forEach((test, index) => { if (test(push)) always[index].count += 1 })
    const value = of(push)
    if (typeof value === "string" && value) counts.set(value, (counts.get(value) ?? 0) + 1)
  }
  const others = [...counts].sort(([, one], [, other]) => other - one).flatMap(([key, count]) => {
    const own = word(name, key)
    return own ? [{ key, label: label(key), query: [more, own].filter(Boolean).join(" "), count }] : []
  })
  return [...always, ...others]
}

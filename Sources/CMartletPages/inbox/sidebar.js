// SPDX-License-Identifier: Apache-2.0

// The filters beside the list. Each adds terms to the query, or removes them. They are one stop of the Tab key.

import { mostFrequent, pinned, sections } from "./counts.js"
import { afterPress, element } from "./dom.js"
import { icon } from "./icons.js"
import { contains, exactTerm, toggled } from "./query.js"
import { counted, grouped } from "./texts.js"

/** The number of values that a section shows collapsed, and expanded. */
const collapsedCount = 5
const expandedCount = 100
/** The sections that are closed until the user opens them. */
const initiallyClosed = ["Collapse IDs", "Connections"]
/** The minimum time between two updates, in milliseconds. */
const delay = 200

export class Sidebar {
  #container
  #inbox
  #search
  #timer = 0
  #expanded = new Set()
  #closed = new Set(initiallyClosed)
  /** The key of the button that the Tab key reaches. */
  #focusKey = "All"
  /** The filters that the document shows, as text. */
  #shown = ""

  /** `search` is called with a function that returns the new query for the current one. */
  constructor(container, inbox, search) {
    this.#container = container
    this.#inbox = inbox
    this.#search = search
    container.addEventListener("keydown", (event) => this.#press(event))
    container.addEventListener("focusin", ({ target }) => this.#setFocusKey(target.dataset.key))
    for (const event of ["change", "error"]) {
      inbox.addEventListener(event, () => { this.#timer ||= setTimeout(() => afterPress(() => this.show()), delay) })
    }
    this.show()
  }

  show() {
    clearTimeout(this.#timer)
    this.#timer = 0
    const { all, error } = this.#inbox
    const query = error ? this.#inbox.matchedQuery : this.#inbox.query
    const groups = Object.keys(sections).map((name) => this.#group(name, query)).filter(({ filters }) => filters.length)
    const shown = JSON.stringify([all.length, query, error, groups, [...this.#closed]])
    if (shown === this.#shown) return
    this.#shown = shown
    const focused = this.#container.contains(document.activeElement) ? document.activeElement.dataset.key : undefined
    const list = this.#container.querySelector(".sections") ?? this.#container.appendChild(element("div", { class: "sections" }))
    const { scrollTop } = this.#container
    list.replaceChildren(this.#button({ key: "All", label: "All", count: all.length, isPressed: !error && query.trim() === "", change: () => "" }),
      ...groups.map((group) => this.#section(group)))
    this.#container.scrollTop = scrollTop
    const buttons = this.#buttons
    this.#setFocusKey(buttons.some(({ dataset }) => dataset.key === this.#focusKey) ? this.#focusKey : "All")
    if (focused) buttons.find(({ dataset }) => dataset.key === focused)?.focus()
  }

  /** The filters of a section: the fixed ones, then its values by frequency, and those of the query in any case. */
  #group(name, query) {
    const { fixed = {}, of, term, label, always, hasFixedValues } = sections[name]
    const { counts } = this.#inbox
    const filters = Object.entries(fixed).map(([key, { query, within }]) =>
      ({ key, label: key, terms: query(), count: within ? this.#countWithin(within()) : counts.fixed(name, key) }))
    const isExpanded = this.#expanded.has(name)
    const values = of ? counts.values(name) : new Map()
    const others = mostFrequent(values, expandedCount).flatMap(([value, count]) => {
      const own = value === pinned ? "is:pinned" : hasFixedValues ? `${term}:${value}` : exactTerm(term, value)
      const text = value === pinned ? "Pinned" : label ? label(value) : term === "device" ? counts.deviceName(value) : value
      return own ? [{ key: value, label: text, terms: [always, own].filter(Boolean).join(" "), count }] : []
    })
    const limit = hasFixedValues ? others.length : isExpanded ? expandedCount : collapsedCount
    const shown = others.filter((filter, index) => index < limit || contains(query, filter.terms))
    const wanted = [...filters, ...others].map((filter) => filter.terms)
    // The fixed filters appear with the first push.
    const isEmpty = this.#inbox.all.length === 0 && query === ""
    return {
      name, isExpanded, rest: Math.max(values.size - shown.length, 0),
      filters: isEmpty ? [] : [...filters, ...shown].map((filter) => ({
        ...filter, key: `${name} ${filter.key}`, isPressed: contains(query, filter.terms),
        change: (current) => toggled(current, filter.terms, wanted),
      })),
    }
  }

  /** The number of pushes that were received within a number of milliseconds. */
  #countWithin(duration) {
    const { all } = this.#inbox
    const since = Date.now() - duration
    let [low, high] = [0, all.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (all[middle]["time-ms"] >= since) low = middle + 1
      else high = middle
    }
    return low
  }

  #section({ name, filters, rest, isExpanded }) {
    const isOpen = !this.#closed.has(name)
    const id = `filters-${name.replaceAll(" ", "-")}`
    return element("section", { role: "group", "aria-label": name },
      element("button", {
        type: "button", class: "section", "data-key": name, "aria-expanded": String(isOpen), "aria-controls": id, onclick: () => this.#toggle(name),
      }, icon(isOpen ? "down" : "right", 12), name),
      element("div", { id, hidden: !isOpen }, filters.map((filter) => this.#button(filter)),
        rest > 0 || isExpanded ? this.#moreButton(name, isExpanded, rest) : null))
  }

  #button({ key, label, count, isPressed, change }) {
    return element("button", {
      type: "button", "data-key": key, "aria-pressed": String(isPressed), "aria-label": label,
      "aria-description": counted(count, "push"), title: key.includes(" ") ? key.slice(key.indexOf(" ") + 1) : null,
      onclick: () => this.#search(change),
    }, element("span", { class: "label" }, label), " ", element("span", { class: "number" }, grouped(count)))
  }

  #moreButton(name, isExpanded, rest) {
    return element("button", {
      type: "button", class: "more", "data-key": `${name} more`,
      onclick: () => {
        if (!this.#expanded.delete(name)) this.#expanded.add(name)
        this.show()
      },
    }, isExpanded ? "Show fewer" : `Show ${grouped(rest)} more`)
  }

  #toggle(name) {
    if (!this.#closed.delete(name)) this.#closed.add(name)
    this.show()
  }

  // Keyboard.

  /** The buttons that are not in a closed section. */
  get #buttons() { return [...this.#container.querySelectorAll(".sections button")].filter((button) => !button.closest("[hidden]")) }

  #setFocusKey(key) {
    if (key === undefined) return
    this.#focusKey = key
    for (const button of this.#container.querySelectorAll(".sections button")) button.tabIndex = button.dataset.key === key ? 0 : -1
  }

  #press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const buttons = this.#buttons
    const index = buttons.indexOf(document.activeElement)
    if (index < 0) return
    const name = buttons[index].closest("section")?.getAttribute("aria-label")
    const isOpen = !this.#closed.has(name)
    const target = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: buttons.length - 1 }[event.key]
    if (target !== undefined) {
      buttons[Math.min(Math.max(target, 0), buttons.length - 1)].focus()
    } else if (name && ((event.key === "ArrowLeft" && isOpen) || (event.key === "ArrowRight" && !isOpen))) {
      this.#toggle(name)
      this.#container.querySelector(`[data-key="${name}"]`).focus()
    } else {
      return
    }
    event.preventDefault()
    event.stopPropagation()
  }
}

// SPDX-License-Identifier: Apache-2.0

// The toolbar above the list: the number of pushes, the grouping, and actions on the marked pushes.

import { exported, removePushes } from "./api.js"
import { element } from "./dom.js"
import { groupings } from "./lines.js"
import { queries } from "./numbers.js"

const storageKey = "martlet.grouping"

export class Tools {
  #inbox
  #list
  #count = element("span", { class: "shown" })
  #marked = element("strong", { role: "status" })
  #normalBar
  #actionBar

  constructor(bar, inbox, list) {
    this.#inbox = inbox
    this.#list = list
    this.#normalBar = element("div", {},
      element("button", {
        type: "button", class: "filters", "aria-controls": "filters", "aria-expanded": "false",
        onclick: ({ target }) =>
          target.setAttribute("aria-expanded", String(document.body.toggleAttribute("data-filters"))),
      }, "Filters"),
      this.#count, this.#groupingChoice())
    this.#actionBar = element("div", { hidden: true, role: "toolbar", "aria-label": "Selected pushes" },
      this.#marked,
      button("Select all", "a", () => list.markAll()), button("Mark read", "r", () => this.markRead()),
      button("Export", "e", () => this.export()), button("Delete", "Delete", () => this.remove()),
      element("button", { type: "button", "aria-label": "Clear selection", title: "Clear selection (Escape)", onclick: () => inbox.mark([]) }, "✕"))
    bar.append(this.#normalBar, this.#actionBar)
    inbox.addEventListener("change", () => this.#show())
  }

  #groupingChoice() {
    const choice = element("select", { id: "grouping", onchange: ({ target }) => this.#group(target.value) },
      element("option", { value: "" }, "none"),
      Object.entries(groupings).map(([value, { name }]) => element("option", { value }, name.toLowerCase())))
    choice.value = storedGrouping()
    this.#list.grouping = choice.value
    return element("label", {}, "Group by ", choice)
  }

  #group(name) {
    this.#list.grouping = name
    try {
      localStorage.setItem(storageKey, name)
    } catch { /* Storage is not available. */ }
  }

  #show() {
    const { all, pushes, marked } = this.#inbox
    this.#normalBar.hidden = marked.size > 0
    this.#actionBar.hidden = marked.size === 0
    this.#marked.textContent = marked.size ? `${marked.size} selected` : ""
    const noun = all.length === 1 ? "push" : "pushes"
    this.#count.textContent = pushes.length === all.length ? `${all.length} ${noun}` : `${pushes.length} of ${all.length} ${noun}`
  }

  markRead() {
    this.#inbox.markRead(this.#inbox.chosen)
    this.#inbox.mark([])
  }

  async remove() {
    const { chosen, marked, selected } = this.#inbox
    // Select the next push, so that repeated deletions go through the list.
    if (marked.size === 0 && selected) {
      this.#list.move(1)
      if (this.#inbox.selected === selected) this.#list.move(-1)
    }
    for (const query of queries(chosen)) await removePushes(query, (number) => chosen.includes(number))
  }

  /** Downloads a file with one line of JSON for each push. */
  async export() {
    const { chosen } = this.#inbox
    if (chosen.length === 0) return
    const lines = []
    for (const query of queries(chosen)) lines.push(await exported(query))
    const url = URL.createObjectURL(new Blob(lines, { type: "application/jsonl" }))
    element("a", { href: url, download: "pushes.jsonl" }).click()
    setTimeout(() => URL.revokeObjectURL(url), 10_000)
  }
}

const button = (name, key, onclick) =>
  element("button", { type: "button", title: `${name} (${key})`, "aria-keyshortcuts": key, onclick }, name)

function storedGrouping() {
  try {
    return localStorage.getItem(storageKey) ?? ""
  } catch {
    return ""
  }
}

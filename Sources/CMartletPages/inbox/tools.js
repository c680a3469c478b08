// The line above the list: how many there are, what they are grouped by, and what is done with those that are marked.

import { exported, removePushes } from "./api.js"
import { element } from "./dom.js"
import { groupings } from "./lines.js"
import { queries } from "./numbers.js"

const place = "martlet.grouping"

export class Tools {
  #inbox
  #list
  #count = element("span", { class: "shown" })
  #marked = element("strong", { role: "status" })
  #usual
  #doings

  constructor(bar, inbox, list) {
    this.#inbox = inbox
    this.#list = list
    this.#usual = element("div", {},
      element("button", {
        type: "button", class: "filters", "aria-controls": "filters", "aria-expanded": "false",
        onclick: ({ target }) =>
          target.setAttribute("aria-expanded", String(document.body.toggleAttribute("data-filters"))),
      }, "Filters"),
      this.#count, this.#groupingChoice())
    this.#doings = element("div", { hidden: true, role: "toolbar", "aria-label": "Marked pushes" },
      this.#marked,
      button("All", "a", () => list.markAll()), button("Read", "r", () => this.markRead()),
      button("Export", "e", () => this.export()), button("Delete", "Delete", () => this.remove()),
      element("button", { type: "button", "aria-label": "Mark none", title: "Mark none (Escape)", onclick: () => inbox.mark([]) }, "✕"))
    bar.append(this.#usual, this.#doings)
    inbox.addEventListener("change", () => this.#show())
  }

  #groupingChoice() {
    const choice = element("select", { id: "grouping", onchange: ({ target }) => this.#group(target.value) },
      element("option", { value: "" }, "nothing"),
      Object.entries(groupings).map(([value, { name }]) => element("option", { value }, name.toLowerCase())))
    choice.value = remembered()
    this.#list.grouping = choice.value
    return element("label", {}, "Group by ", choice)
  }

  #group(name) {
    this.#list.grouping = name
    try {
      localStorage.setItem(place, name)
    } catch { /* A browser that remembers nothing does without. */ }
  }

  #show() {
    const { all, pushes, marked } = this.#inbox
    this.#usual.hidden = marked.size > 0
    this.#doings.hidden = marked.size === 0
    this.#marked.textContent = marked.size ? `${marked.size} marked` : ""
    const noun = all.length === 1 ? "push" : "pushes"
    this.#count.textContent = pushes.length === all.length ? `${all.length} ${noun}` : `${pushes.length} of ${all.length} ${noun}`
  }

  markRead() {
    this.#inbox.markRead(this.#inbox.chosen)
    this.#inbox.mark([])
  }

  async remove() {
    const { chosen, marked, selected } = this.#inbox
    // Who deletes one after the other goes on to the next.
    if (marked.size === 0 && selected) {
      this.#list.move(1)
      if (this.#inbox.selected === selected) this.#list.move(-1)
    }
    for (const query of queries(chosen)) await removePushes(query, (number) => chosen.includes(number))
  }

  /** Has the browser keep a file with a line for each. */
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

function remembered() {
  try {
    return localStorage.getItem(place) ?? ""
  } catch {
    return ""
  }
}

// SPDX-License-Identifier: Apache-2.0

// The toolbar above the list: the number of pushes, the grouping, and actions on the marked pushes.

import { SimulatorError, exported, importPushes } from "./api.js"
import { button, iconButton, toast } from "./components.js"
import { element } from "./dom.js"
import { groupings } from "./lines.js"
import { queries } from "./numbers.js"
import { counted, grouped } from "./texts.js"

const storageKey = "martlet.grouping"

export class Tools {
  #inbox
  #list
  #deletions
  #count = element("span", { class: "shown" })
  #marked = element("strong", { role: "status" })
  #normalBar
  #actionBar

  constructor(bar, inbox, list, deletions) {
    this.#inbox = inbox
    this.#list = list
    this.#deletions = deletions
    this.#normalBar = element("div", {}, this.#count, this.#groupingChoice())
    this.#actionBar = element("div", { hidden: true, role: "toolbar", "aria-label": "Selected pushes" },
      this.#marked,
      action("Select all", "a", () => list.markAll()), action("Mark read", "r", () => this.markRead()),
      action("Export", "e", () => this.export()), action("Delete", "Delete", () => this.remove(), { class: "small quiet danger" }),
      iconButton("close", "Clear selection", () => inbox.mark([]), { key: "Escape", class: "small" }))
    bar.append(this.#normalBar, this.#actionBar)
    for (const event of ["change", "error"]) inbox.addEventListener(event, () => this.#show())
  }

  #groupingChoice() {
    const choice = element("select", { id: "grouping", class: "small", onchange: ({ target }) => this.#group(target.value) },
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
    const { all, pushes, marked, error } = this.#inbox
    const count = pushes.length === all.length ? counted(all.length, "push") : `${grouped(pushes.length)} of ${counted(all.length, "push")}`
    this.#normalBar.hidden = marked.size > 0
    this.#actionBar.hidden = marked.size === 0
    const texts = [
      [this.#marked, marked.size ? `${grouped(marked.size)} selected` : ""],
      [this.#count, error ? `${count}, without this search` : count],
    ]
    for (const [part, text] of texts) if (part.textContent !== text) part.textContent = text
  }

  markRead(numbers = this.#inbox.chosen) {
    this.#inbox.markRead(numbers)
    this.#inbox.mark([])
  }

  /** Deletes the marked or the selected pushes. */
  remove() {
    const { chosen } = this.#inbox
    if (chosen.length) this.#deletions.remove(chosen)
  }

  /** The items of the menu for all pushes that match; they apply to the pushes that are listed when the menu opens. */
  menuItems() {
    const { all, pushes, error, matchedQuery, unread } = this.#inbox
    const listed = pushes.filter((push) => !push.pinned).map((push) => push.number)
    const found = matchedQuery.trim() ? "matching push" : "push"
    const read = pushes.flatMap(({ number }) => (unread.has(number) ? [number] : []))
    const importing = { name: "Import pushes…", icon: "upload", action: () => this.#import() }
    if (error) return [{ name: "Delete matching pushes", icon: "trash", isDanger: true, action: () => toast(`Nothing deleted. ${error}`) }, importing]
    return [
      read.length ? { name: `Mark ${counted(read.length, found)} as read`, icon: "check", action: () => this.markRead(read) } : null,
      pushes.length ? {
        name: `Export ${counted(pushes.length, found)}`, icon: "download", action: () => this.export(pushes.map(({ number }) => number)),
      } : null,
      importing,
      listed.length ? { name: `Delete ${counted(listed.length, found)}`, icon: "trash", isDanger: true, action: () => this.#deletions.remove(listed) } : null,
      all.length && !listed.length ? { name: "Nothing to delete", icon: "trash", action: () => {} } : null,
    ].filter(Boolean)
  }

  /** Downloads a file with one line of JSON for each push. */
  async export(numbers = this.#inbox.chosen) {
    if (numbers.length === 0) return
    const lines = []
    for (const query of queries(numbers)) lines.push(await exported(query))
    const url = URL.createObjectURL(new Blob(lines, { type: "application/jsonl" }))
    element("a", { href: url, download: "pushes.jsonl" }).click()
    setTimeout(() => URL.revokeObjectURL(url), 10_000)
  }

  /** Asks for an export file, and adds its pushes. */
  #import() {
    element("input", {
      type: "file", accept: ".martletpush,.jsonl,.json", onchange: async ({ target }) => {
        try {
          const count = await importPushes(target.files[0])
          toast(`${counted(count, "push")} imported`)
        } catch (error) {
          if (!(error instanceof SimulatorError)) throw error
          toast(`Nothing imported: ${error.message}`)
        }
      },
    }).click()
  }
}

const action = (name, key, onclick, more = {}) =>
  button(name, onclick, { class: "small quiet", title: `${name} (${key})`, "aria-keyshortcuts": key, ...more })

function storedGrouping() {
  try {
    return localStorage.getItem(storageKey) ?? ""
  } catch {
    return ""
  }
}

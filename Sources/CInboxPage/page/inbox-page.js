// The page with the pushes: search, filters, list and one push, kept in step with the address.

import { ask, removePushes } from "./api.js"
import { Address } from "./address.js"
import { Detail } from "./detail.js"
import { element } from "./dom.js"
import { Inbox } from "./inbox.js"
import { List } from "./list.js"

const byID = (id) => document.getElementById(id)
const filters = {
  All: "", Alerts: "type:alert -is:silent", Silent: "is:silent", Activities: "type:liveactivity",
  Broadcasts: "is:broadcast", Refused: "is:refused", Errors: "has:error", Warnings: "has:warning",
}
const keys = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1, PageDown: 10, PageUp: -10 }

/** Tells of `state` as the simulator comes and goes. */
export class InboxPage extends EventTarget {
  #inbox = new Inbox()
  #search = byID("search")
  #typing = 0
  #isSearching = false

  constructor() {
    super()
    new List(byID("list"), this.#inbox)
    new Detail(byID("detail"), this.#inbox)
    byID("filters").append(...Object.entries(filters).map(([name, query]) =>
      element("button", { type: "button", "data-query": query, onclick: () => this.#look(query) }, name)))
    this.#search.addEventListener("input", () => {
      clearTimeout(this.#typing)
      this.#typing = setTimeout(() => this.#look(this.#search.value), 200)
    })
    this.#search.form.addEventListener("submit", (event) => event.preventDefault())
    byID("clear").addEventListener("click", () => removePushes(this.#inbox.query))
    this.#inbox.addEventListener("state", ({ detail }) => this.dispatchEvent(new CustomEvent("state", { detail })))
    this.#inbox.addEventListener("mistake", ({ detail }) => { byID("mistake").textContent = detail })
    this.#inbox.addEventListener("change", () => this.#title())
    this.#inbox.addEventListener("select", ({ detail }) => this.#note(detail))
  }

  /** Shows what an address asks for: `#/`, or `#/push/42`, either with a query. */
  async show(address) {
    const query = address.query
    if (!this.#isSearching || query !== this.#inbox.query) await this.#look(query)
    const number = address.parts[0] === "push" ? Number(address.parts[1]) : null
    if (number === (this.#inbox.selected?.number ?? null)) return
    const known = this.#inbox.pushes.find((push) => push.number === number)
    const push = number === null ? null : known ?? await ask(`/api/v1/pushes/${number}`).catch(() => null)
    if (Address.current.text === address.text) this.#inbox.select(push)
  }

  /** Does what a key is for; false when it is for nothing here. */
  press(key) {
    if (key === "/") this.#search.focus()
    else if (key === "Escape") this.#inbox.select(null)
    else if (keys[key]) this.#inbox.move(keys[key])
    else return false
    return true
  }

  async #look(query) {
    this.#isSearching = true
    if (this.#search.value !== query) this.#search.value = query
    for (const button of byID("filters").children) {
      button.setAttribute("aria-pressed", String(button.dataset.query === query))
    }
    this.#inbox.pushes = []
    this.#inbox.query = query
    // Where the address asks for a push with this query, that one is selected next.
    if (Address.current.query !== query) this.#inbox.select(null)
    await this.#inbox.search(query)
  }

  #note(push) {
    if (byID("inbox").hidden) return
    const wasPush = Address.current.parts[0] === "push"
    new Address(push ? ["push", String(push.number)] : [""], this.#inbox.query).note(Boolean(push) !== wasPush)
  }

  #title() {
    const count = this.#inbox.unread.size
    if (!byID("inbox").hidden) document.title = count ? `(${count}) Martlet inbox` : "Martlet inbox"
  }
}

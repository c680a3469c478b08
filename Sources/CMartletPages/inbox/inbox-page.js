// SPDX-License-Identifier: Apache-2.0

// The inbox: search, filters, list and selected push, synchronized with the URL.

import { request, removePushes } from "./api.js"
import { Address } from "./address.js"
import { Detail } from "./detail.js"
import { Inbox } from "./inbox.js"
import { List } from "./list.js"
import { Sidebar } from "./sidebar.js"
import { Tools } from "./tools.js"

const byID = (id) => document.getElementById(id)
const steps = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1, PageDown: 10, PageUp: -10 }

/** Dispatches `state` when the connection to the simulator is established or lost. */
export class InboxPage extends EventTarget {
  #inbox = new Inbox()
  #search = byID("search")
  #searchTimer = 0
  #isSearching = false
  #list
  #tools
  #sidebar
  #keys

  constructor() {
    super()
    const inbox = this.#inbox
    const list = this.#list = new List(byID("list"), inbox)
    const tools = this.#tools = new Tools(byID("tools"), inbox, list)
    this.#sidebar = new Sidebar(byID("filters"), inbox, (query) => this.#searchFor(query))
    new Detail(byID("detail"), inbox, (start) => this.#compose(start))
    byID("compose").addEventListener("click", () => this.#compose())
    this.#keys = {
      "/": () => this.#search.focus(), x: () => list.toggleMark(), J: () => list.extend(1), K: () => list.extend(-1),
      a: () => list.markAll(), r: () => tools.markRead(), e: () => tools.export(), c: () => this.#compose(), Delete: () => tools.remove(),
      Escape: () => (inbox.marked.size ? inbox.mark([]) : inbox.select(null)),
    }
    this.#search.addEventListener("input", () => {
      clearTimeout(this.#searchTimer)
      this.#searchTimer = setTimeout(() => this.#searchFor(this.#search.value), 200)
    })
    this.#search.form.addEventListener("submit", (event) => event.preventDefault())
    byID("clear").addEventListener("click", () => removePushes(this.#inbox.query))
    this.#inbox.addEventListener("state", ({ detail }) => this.dispatchEvent(new CustomEvent("state", { detail })))
    this.#inbox.addEventListener("error", ({ detail }) => { byID("search-error").textContent = detail })
    this.#inbox.addEventListener("change", () => this.#updateTitle())
    this.#inbox.addEventListener("select", ({ detail }) => this.#updateURL(detail))
  }

  /** Shows an address: `#/` or `#/push/42`, with or without a query. */
  async show(address) {
    const query = address.query
    if (!this.#isSearching || query !== this.#inbox.query) await this.#searchFor(query)
    const number = address.parts[0] === "push" ? Number(address.parts[1]) : null
    if (number === (this.#inbox.selected?.number ?? null)) return
    const known = this.#inbox.all.find((push) => push.number === number)
    const push = number === null ? null : known ?? await request(`/api/v1/pushes/${number}`).catch(() => null)
    if (Address.current.text === address.text) this.#inbox.select(push)
  }

  /** Handles a key; returns false if the key has no meaning here. */
  press(key) {
    if (Object.hasOwn(steps, key)) this.#list.move(steps[key])
    else if (Object.hasOwn(this.#keys, key)) this.#keys[key]()
    else return false
    return true
  }

  async #searchFor(query) {
    this.#isSearching = true
    if (this.#search.value !== query) this.#search.value = query
    this.#inbox.query = query
    this.#sidebar.show()
    // If the address names a push and this query, `show` selects the push next.
    if (Address.current.query !== query) this.#inbox.select(null)
    await this.#inbox.search(query)
  }

  async #compose(start) {
    const { compose } = await import("./compose.js")
    compose(this.#inbox.all, start)
  }

  #updateURL(push) {
    if (byID("inbox").hidden) return
    const wasPush = Address.current.parts[0] === "push"
    new Address(push ? ["push", String(push.number)] : [""], this.#inbox.query).replaceURL(Boolean(push) !== wasPush)
  }

  #updateTitle() {
    const count = this.#inbox.unread.size
    if (!byID("inbox").hidden) document.title = count ? `(${count}) Martlet inbox` : "Martlet inbox"
  }
}

// SPDX-License-Identifier: Apache-2.0

// The inbox: search, filters, list and selected push, synchronized with the URL.

import { pushes as fetchPushes } from "./api.js"
import { Address } from "./address.js"
import { banner, button, iconButton, menu } from "./components.js"
import { Deletions } from "./deletions.js"
import { Detail } from "./detail.js"
import { element } from "./dom.js"
import { showFacets } from "./facets.js"
import { Inbox } from "./inbox.js"
import { List } from "./list.js"
import { SearchField } from "./search.js"
import { Sidebar } from "./sidebar.js"
import { splitter } from "./splitter.js"
import { Tools } from "./tools.js"
import { showWelcome } from "./welcome.js"

const byID = (id) => document.getElementById(id)
const steps = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1, PageDown: 10, PageUp: -10 }
const narrow = matchMedia("(max-width: 760px)")

/** Dispatches `state` when the connection to the simulator is established or lost. */
export class InboxPage extends EventTarget {
  #inbox = new Inbox()
  #search
  #list
  #tools
  #deletions
  #detail
  #keys
  #isStarted = false
  /** The number or apns-id of the push that the address names, although it is not stored; null otherwise. */
  #missing = null

  constructor() {
    super()
    const inbox = this.#inbox
    const list = this.#list = new List(byID("list"), inbox)
    const deletions = this.#deletions = new Deletions(inbox, list)
    const tools = this.#tools = new Tools(byID("tools"), inbox, list, deletions)
    this.#search = new SearchField(byID("search-form"), inbox, (query) => this.#searchFor(query),
      () => list.enter(!narrow.matches))
    new Sidebar(byID("filters"), inbox, (change) => this.#filter(change))
    showFacets(byID("facets"), inbox, this.#search, (change) => this.#filter(change))
    this.#detail = new Detail(byID("detail"), inbox, (start) => this.#compose(start))
    splitter(byID("splitter"), byID("inbox"))
    this.#keys = {
      "/": () => this.#search.focus(), x: () => list.toggleMark(), J: () => list.extend(1), K: () => list.extend(-1),
      a: () => list.markAll(), r: () => tools.markRead(), e: () => tools.export(), c: () => this.#compose(), Delete: () => tools.remove(),
      z: () => deletions.undo(), Escape: () => (inbox.marked.size ? inbox.mark([]) : this.#closePush()),
    }
    this.#addControls()
    inbox.addEventListener("state", ({ detail }) => this.dispatchEvent(new CustomEvent("state", { detail })))
    inbox.addEventListener("change", () => this.#update())
    inbox.addEventListener("select", ({ detail }) => this.#selected(detail))
    inbox.addEventListener("gone", ({ detail }) => this.#showNotice(`Push ${detail} is no longer stored. It stays here until you leave it.`))
  }

  #addControls() {
    const filters = byID("filters")
    const filterButton = iconButton("filter", "Filters", () => filters.showPopover(), { class: "filters-button", "aria-haspopup": "dialog" })
    filters.prepend(element("div", { class: "sheet-head" }, element("h2", {}, "Filters"), button("Done", () => filters.hidePopover(), { class: "primary small" })))
    // On a narrow screen the filters are a sheet.
    const adapt = () => (narrow.matches ? filters.setAttribute("popover", "auto") : filters.removeAttribute("popover"))
    narrow.addEventListener("change", adapt)
    adapt()
    byID("search-help-button").append(...this.#search.helpButton())
    byID("search-tools").append(filterButton,
      button("Compose", () => this.#compose(), { id: "compose", class: "primary", icon: "compose", "aria-keyshortcuts": "c", title: "Compose a push (c)" }),
      menu("More", async () => {
        await this.#search.flush()
        return this.#tools.menuItems()
      }))
  }

  /** Shows an address: `#/`, or `#/push/` with the number or the apns-id of a push; with or without a query. */
  async show(address) {
    const { query } = address
    this.#inbox.start()
    if (!this.#isStarted || query !== this.#search.text) {
      this.#isStarted = true
      await this.#search.run(query)
    }
    const name = address.parts[0] === "push" ? address.parts[1] : null
    const { selected } = this.#inbox
    if (name === null ? !selected && this.#missing === null : isNamed(selected, name)) return
    const push = name === null ? null : await this.#find(name)
    if (Address.current.text !== address.text) return
    if (name === null || push) this.#inbox.select(push)
  }

  /** Returns the push with a number or an apns-id. If there is none, reports that and returns null. */
  async #find(name) {
    const isNumber = /^\d+$/.test(name)
    const known = isNumber ? this.#inbox.find(Number(name)) : null
    if (known) return known
    try {
      // A list that may be empty is asked for, because the browser reports an answer 404 in its console.
      const forms = isNumber ? [`number:${name}`] : new Set([name, name.toUpperCase(), name.toLowerCase()].map((each) => `id:"${each.replaceAll('"', "")}"`))
      let cursor = 0
      for (const query of forms) {
        const found = await fetchPushes(query, 1)
        if (found.pushes.length) return found.pushes[0]
        cursor = found.cursor
      }
      const isFuture = isNumber && Number(name) > cursor
      this.#showMissing(name, isNumber ? `Push ${name} ${isFuture ? "has not been received" : "is no longer stored"}.`
        : `No stored push has the apns-id ${name}.`)
    } catch (error) {
      this.#showMissing(name, error.message)
    }
    return null
  }

  /** Shows a message in place of a push; the address stays. */
  #showMissing(name, message) {
    this.#missing = name
    if (this.#inbox.selected) this.#inbox.select(null)
    this.#detail.show(null, message)
    byID("inbox").dataset.pane = "push"
  }

  /** Handles a key; returns false if the key has no meaning here. */
  press(key) {
    if (Object.hasOwn(steps, key)) {
      this.#list.move(steps[key])
      if (!narrow.matches) this.#list.focus()
    } else if (Object.hasOwn(this.#keys, key)) {
      this.#keys[key]()
    } else {
      return false
    }
    return true
  }

  /** Searches for the current query, changed by a filter. */
  async #filter(change) {
    await this.#search.flush()
    await this.#search.run(change(this.#inbox.error ? this.#inbox.matchedQuery : this.#inbox.query))
  }

  async #searchFor(query) {
    await this.#inbox.search(query)
    const { parts } = Address.current
    if (!byID("inbox").hidden && ["", "push"].includes(parts[0])) new Address(parts, query).replaceURL(false)
  }

  async #compose(start) {
    const { compose } = await import("./compose.js")
    compose(this.#inbox.all, start)
  }

  #closePush() {
    this.#inbox.select(null)
    this.#list.focus()
  }

  #selected(push) {
    const wasOpen = byID("inbox").dataset.pane === "push"
    const isMissing = !push && this.#missing !== null && this.#missing === Address.current.parts[1]
    if (!isMissing) this.#missing = null
    byID("pane-notice").replaceChildren()
    byID("inbox").dataset.pane = push ? "push" : "list"
    if (!isMissing) this.#updateURL(push)
    // On a narrow screen the list and the push take turns.
    if (narrow.matches && Boolean(push) !== wasOpen) byID(push ? "detail" : "list").focus({ preventScroll: true })
  }

  #showNotice(message) {
    byID("pane-notice").replaceChildren(banner("warning", message))
  }

  #updateURL(push) {
    const { parts } = Address.current
    if (byID("inbox").hidden || (push && parts[0] === "push" && isNamed(push, parts[1]))) return
    const wasPush = parts[0] === "push"
    const address = new Address(push ? ["push", String(push.number)] : [""], this.#search.text)
    // The way back to the list from which a push was opened adds nothing to the browser's history.
    if (!push && wasPush && history.state?.previous === address.text) history.back()
    else address.replaceURL(Boolean(push) !== wasPush)
  }

  #update() {
    const { unread, all, isLoaded, query } = this.#inbox
    const title = unread.size ? `(${unread.size}) Martlet inbox` : "Martlet inbox"
    if (!byID("inbox").hidden && document.title !== title) document.title = title
    const isEmpty = isLoaded && all.length === 0 && !query && this.#missing === null
    const welcome = byID("welcome")
    if (welcome.hidden !== isEmpty) return
    welcome.hidden = !isEmpty
    byID("inbox").toggleAttribute("data-empty", isEmpty)
    if (isEmpty) showWelcome(welcome)
  }
}

/** Whether a push has this number or apns-id. */
const isNamed = (push, name) => Boolean(push) && (String(push.number) === name || push["apns-id"]?.toLowerCase() === name?.toLowerCase())

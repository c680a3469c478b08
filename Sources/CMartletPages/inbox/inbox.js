// SPDX-License-Identifier: Apache-2.0

// The received pushes, synchronized with the simulator, and their selection.

import { follow, numbers, pushes as fetchPushes, SimulatorAway, simulatorEvents, SimulatorError } from "./api.js"
import { afterPress } from "./dom.js"
import { queries } from "./numbers.js"
import { PushStore, limit } from "./store.js"
import { onStringsChange } from "./strings.js"
import { Unread } from "./unread.js"

/** The number of pushes in the first request, which fill the screen, and in each of the others. */
const firstPageSize = 200
const pageSize = 1000
/** The time within which changes of nicknames are handled by one load, in milliseconds. */
const nicknameDelay = 200
/** The time after which the pushes are loaded although the stream of events is not open, in milliseconds. */
const openLimit = 5000

/**
 * Dispatches `change`, `select`, `refresh` when the state of the selected push changes, `state` with the state `live`,
 * `delayed` when the pushes are loaded without the stream of events, or `lost`, which has a message if the simulator
 * refuses, `error` with a message about the query, and `gone` with the number of the selected push when the simulator no
 * longer stores it.
 */
export class Inbox extends EventTarget {
  /** The pushes that match the query, newest first. */
  pushes = []
  unread = new Unread()
  query = ""
  selected = null
  /** The numbers of the pushes that are marked for a common action. */
  marked = new Set()
  /** Whether the newest pushes have been loaded. */
  isLoaded = false
  /** A message about the query; empty if it is valid. */
  error = ""
  /** The query that `pushes` match: the last valid one. */
  matchedQuery = ""
  #store = new PushStore(() => this.#scheduleChange())
  /** The numbers of the pushes that match the query; null for all. */
  #matching = null
  #isFollowing = false
  /** Whether the stream of events is open. */
  #isOpen = false
  #isChangeScheduled = false
  /** The version of the store when `pushes` was last filtered. */
  #filteredVersion = -1
  /** The number of the latest load; earlier ones stop when they notice a later one. */
  #loadNumber = 0
  /** The events since the load began, which its answers may not contain yet; null while nothing is loaded. */
  #missed = null
  /** The numbers of the pushes for which the query has not been evaluated. */
  #unmatched = new Set()
  /** The number of evaluations of a query for all pushes that are in progress. */
  #evaluations = 0
  #nicknameTimer = 0

  constructor() {
    super()
    onStringsChange(() => this.#scheduleChange())
    // Each push has the nickname of its device.
    simulatorEvents.addEventListener("devices", () => {
      clearTimeout(this.#nicknameTimer)
      this.#nicknameTimer = setTimeout(() => this.#load(), nicknameDelay)
    })
  }

  /** All pushes in memory, newest first. */
  get all() { return this.#store.all }
  /** The number of pushes of each filter. */
  get counts() { return this.#store.counts }

  /**
   * Subscribes to the simulator's events. The pushes are loaded whenever the subscription begins.
   *
   * A proxy can hold back the events although it passes on other responses, so the pushes are also loaded without them.
   */
  start() {
    if (this.#isFollowing) return
    this.#isFollowing = true
    setTimeout(() => { if (!this.#isOpen) this.#load() }, openLimit)
    follow("", {
      open: () => {
        this.#isOpen = true
        this.#load()
      },
      lost: (message) => {
        this.#isOpen = false
        this.#notify("state", { state: "lost", message })
      },
      push: (push) => this.#handle({ push }),
      changed: (changed) => this.#handle({ changed }),
      forgotten: (forgotten) => this.#handle({ forgotten }),
    })
  }

  /** Sets the query; an invalid one leaves the list unchanged. */
  async search(query) {
    this.query = query
    this.start()
    // The first load evaluates the query.
    if (this.isLoaded && (query !== this.matchedQuery || this.error)) await this.#match()
  }

  /** Rejects the current query with a message that explains why. */
  reject(query, message) {
    this.query = query
    this.#setError(message)
  }

  async #load() {
    const loadNumber = ++this.#loadNumber
    const loaded = new PushStore(() => this.#scheduleChange(), this.#store.hidden.keys())
    // The first load shows each page as it arrives; a later one replaces the list at the end.
    if (!this.isLoaded) this.#store = loaded
    const missed = this.#missed = []
    try {
      let before
      do {
        const size = before === undefined ? firstPageSize : pageSize
        const { pushes, cursor } = await fetchPushes("", size, before)
        if (loadNumber !== this.#loadNumber) return
        if (before === undefined) await this.#begin(loaded, pushes, cursor)
        else loaded.append(pushes)
        this.unread.found(pushes)
        if (loaded === this.#store) this.#scheduleChange()
        before = pushes.length === size ? pushes.at(-1).number : undefined
      } while (before !== undefined && loaded.all.length < limit)
      if (loadNumber === this.#loadNumber) this.#finish(loaded, missed)
    } catch (error) {
      if (loadNumber !== this.#loadNumber) return
      const isRefused = error instanceof SimulatorError && !(error instanceof SimulatorAway)
      this.#notify("state", { state: "lost", message: isRefused ? error.message : "" })
      setTimeout(() => { if (loadNumber === this.#loadNumber) this.#load() }, isRefused ? openLimit : 1000)
    }
  }

  /** Handles the newest pushes of a load. */
  async #begin(loaded, pushes, cursor) {
    loaded.append(pushes)
    const newest = Math.max(cursor, ...this.#missed.map(({ push }) => push?.number ?? 0))
    this.unread.begin(pushes, newest)
    for (const { push } of this.#missed) if (push) this.unread.arrived(push)
    this.isLoaded = true
    // The list appears together with the matches, because the others would flash.
    if (this.query.trim()) await this.#match()
    this.#notify("state", { state: this.#isOpen ? "live" : "delayed" })
  }

  /** Completes a load: pushes that it did not return no longer exist. */
  #finish(loaded, missed) {
    for (const event of missed) this.#apply(loaded, event)
    this.#missed = null
    // The user may have deleted pushes, or undone that, since the load began.
    loaded.hideOnly([...this.#store.hidden.keys()])
    this.#store = loaded
    this.#filteredVersion = -1
    if (loaded.all.length < limit) this.#removeState((number) => !loaded.find(number))
    if (this.selected) this.#refreshSelected(loaded.find(this.selected.number))
    this.#scheduleChange()
  }

  /** Replaces the selected push by its state in a complete load; null if it is no longer stored. */
  #refreshSelected(push) {
    if (!push) this.#notify("gone", this.selected.number)
    else if (JSON.stringify(push) !== JSON.stringify(this.selected)) this.#refresh(push)
  }

  /** Requests the numbers of the pushes that match the query. */
  async #match() {
    const query = this.query
    this.#evaluations += 1
    try {
      const matching = query.trim() ? new Set(await numbers(query)) : null
      if (query !== this.query) return
      this.#matching = matching
      if (query !== this.matchedQuery) this.marked.clear()
      this.matchedQuery = query
      this.#filteredVersion = -1
      this.#setError("")
    } catch (error) {
      if (query === this.query) this.#setError(error.message)
    } finally {
      this.#evaluations -= 1
      // The answer may be older than the pushes that arrived since the request.
      this.#matchUnmatched()
    }
    // A caller that waits for the search, such as a deletion, uses the matches at once.
    this.#settle()
    this.#scheduleChange()
  }

  #setError(message) {
    this.error = message
    this.#notify("error", message)
  }

  /** Handles an event of the simulator. */
  #handle(event) {
    this.#missed?.push(event)
    const isKnown = this.#apply(this.#store, event)
    const { push, changed, forgotten } = event
    if (push && isKnown) this.unread.arrived(push)
    if (push || changed) this.#matchSoon((push ?? changed).number)
    if (changed && this.selected?.number === changed.number) this.#refresh(changed)
    if (forgotten) this.#forgot(forgotten)
    this.#scheduleChange()
  }

  /** Applies an event to a store; returns whether it changes the store. */
  #apply(store, { push, changed, forgotten }) {
    if (push) return store.arrived(push)
    if (changed) return store.change(changed)
    store.forget(forgotten.from, forgotten.through)
    return true
  }

  #forgot({ from, through }) {
    const number = this.selected?.number
    if (number >= from && number <= through) this.#notify("gone", number)
  }

  /** Evaluates the query for new and changed pushes, with one request for those of 50 ms. */
  #matchSoon(number) {
    if (!this.#matching && !this.#evaluations) return
    this.#unmatched.add(number)
    if (this.#unmatched.size === 1) setTimeout(() => this.#matchUnmatched(), 50)
  }

  /** Evaluates the query for the pushes that wait for it, unless it is being evaluated for all pushes. */
  async #matchUnmatched() {
    if (this.#evaluations || this.#unmatched.size === 0) return
    const [query, candidates] = [this.matchedQuery, [...this.#unmatched]]
    this.#unmatched.clear()
    if (!this.#matching) return
    const found = await Promise.all(queries(candidates).map((term) => numbers(`${query} ${term}`).catch(() => [])))
    if (query !== this.matchedQuery) return
    for (const number of candidates) this.#matching?.delete(number)
    for (const number of found.flat()) this.#matching?.add(number)
    this.#filteredVersion = -1
    this.#scheduleChange()
  }

  /** Removes the unread and marked state of deleted pushes. */
  #removeState(isDeleted) {
    for (const numbers of [this.unread, this.marked]) {
      for (const number of numbers) if (isDeleted(number)) numbers.delete(number)
    }
  }

  // Deletion.

  /** Takes pushes out of the list; `restore` puts them back. */
  hide(numbers) {
    this.#store.hide(numbers)
    for (const number of numbers) this.marked.delete(number)
    this.#scheduleChange()
  }

  restore(numbers) {
    this.#store.restore(numbers)
    this.#scheduleChange()
  }

  // Selection.

  /** The push with a number, if it is in memory. */
  find(number) { return this.#store.find(number) }

  select(push) {
    this.selected = push
    if (push) this.unread.delete(push.number)
    this.#notify("select", push)
    this.#scheduleChange()
  }

  /**
   * A query for the listed pushes, which leaves out those whose deletion can still be undone.
   *
   * The length of URLs is limited, so one term has to name them.
   */
  get listedQuery() {
    const hidden = queries(this.#store.hidden.keys()).slice(0, 1).map((term) => `-${term}`)
    return [this.matchedQuery, ...hidden].join(" ").trim()
  }

  /** Replaces the selected push by its current state. */
  #refresh(push) {
    this.selected = push
    this.#notify("refresh", push)
    this.#scheduleChange()
  }

  /** Marks these pushes and no others. */
  mark(numbers) {
    this.marked = new Set(numbers)
    this.#scheduleChange()
  }

  /** The numbers of the pushes that an action applies to: the marked ones, or the selected one if none is marked. */
  get chosen() {
    return this.marked.size ? [...this.marked] : this.selected ? [this.selected.number] : []
  }

  markRead(numbers) {
    for (const number of numbers) this.unread.delete(number)
    this.#scheduleChange()
  }

  /** Dispatches `change` at most once per frame, or a few times a second while the page is in the background. */
  #scheduleChange() {
    if (this.#isChangeScheduled) return
    this.#isChangeScheduled = true
    const change = () => {
      this.#isChangeScheduled = false
      this.#settle()
      this.#notify("change")
    }
    if (document.hidden) setTimeout(change, 300)
    else requestAnimationFrame(() => afterPress(change))
  }

  /** Applies the pending events, and filters the pushes if they or the query have changed. */
  #settle() {
    for (const { number } of this.#store.settle()) {
      this.unread.delete(number)
      this.marked.delete(number)
      this.#matching?.delete(number)
    }
    if (this.#filteredVersion === this.#store.version) return
    this.#filteredVersion = this.#store.version
    const matching = this.#matching
    this.pushes = matching ? this.all.filter((push) => matching.has(push.number)) : this.all
  }

  #notify(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }))
  }
}

// SPDX-License-Identifier: Apache-2.0

// The received pushes, synchronized with the simulator, and their selection.

import { follow, numbers, pushes as fetchPushes } from "./api.js"
import { onStringsChange } from "./strings.js"
import { Unread } from "./unread.js"

/** The number of pushes per request, and the maximum number of pushes in memory. */
const pageSize = 1000
const limit = 10_000

/** Dispatches `change`, `select`, `state` and `error`. */
export class Inbox extends EventTarget {
  /** All pushes, newest first. */
  all = []
  /** The pushes that match the query, newest first. */
  pushes = []
  unread = new Unread()
  query = ""
  selected = null
  /** The numbers of the pushes that are marked for a common action. */
  marked = new Set()
  /** The numbers of the pushes that match the query; null for all. */
  #matching = null
  #isFollowing = false
  #isChangeScheduled = false
  /** The number of the latest reload; earlier ones stop when they notice a later one. */
  #reloadNumber = 0
  /** The pushes that arrived since the latest reload began. */
  #arrivedDuringReload = []
  /** The lowest number of the arrived pushes that the query has not been evaluated for. */
  #firstUnmatched = Infinity

  constructor() {
    super()
    onStringsChange(() => this.#scheduleChange())
  }

  /** Sets the query, and subscribes to the simulator's events on the first call. */
  async search(query) {
    this.query = query
    this.marked.clear()
    if (!this.#isFollowing) {
      this.#isFollowing = true
      follow("", {
        open: () => this.#reload(),
        lost: () => this.#notify("state", "lost"),
        push: (push) => this.#arrived(push),
        changed: (push) => this.#changed(push),
        forgotten: ({ from, through }) => this.#forgotten(from, through),
      })
      await this.#reload()
    } else {
      await this.#match()
    }
  }

  async #reload() {
    const reloadNumber = ++this.#reloadNumber
    this.#arrivedDuringReload = []
    let before
    try {
      do {
        const { pushes, cursor } = await fetchPushes("", pageSize, before)
        if (reloadNumber !== this.#reloadNumber) return
        if (before === undefined) this.#begin(pushes, cursor)
        else this.all = [...this.all, ...pushes]
        this.unread.found(pushes)
        if (before === undefined) await this.#match()
        this.#scheduleChange()
        before = pushes.length === pageSize ? pushes.at(-1).number : undefined
      } while (before !== undefined && this.all.length < limit)
      // The reload is complete: pushes that it did not return no longer exist.
      this.#removeState((number) => this.#index(number) < 0)
    } catch (error) {
      this.#notify("error", error.message)
    }
  }

  /** Replaces all pushes with the newest ones. */
  #begin(pushes, cursor) {
    const newest = pushes[0]?.number ?? 0
    const arrived = this.#arrivedDuringReload.filter((push) => push.number > newest).reverse()
    this.all = [...arrived, ...pushes]
    // The answer may be older than pushes that arrived during the request.
    this.unread.begin(this.all, Math.max(cursor, arrived[0]?.number ?? 0))
    this.#notify("state", "live")
  }

  /** Requests the numbers of the pushes that match the query. */
  async #match() {
    const query = this.query
    try {
      const matching = query.trim() ? new Set(await numbers(query)) : null
      if (query !== this.query) return
      this.#matching = matching
      this.#notify("error", "")
    } catch (error) {
      if (query === this.query) this.#notify("error", error.message)
    }
    this.#filter()
    this.#notify("change")
  }

  /** Removes the unread, marked and selected state of deleted pushes. */
  #removeState(isDeleted) {
    for (const numbers of [this.unread, this.marked]) {
      for (const number of numbers) if (isDeleted(number)) numbers.delete(number)
    }
    if (this.selected && isDeleted(this.selected.number)) this.select(null)
    this.#scheduleChange()
  }

  #arrived(push) {
    if (this.all[0]?.number >= push.number) return
    this.all.unshift(push)
    this.#arrivedDuringReload.push(push)
    if (this.all.length > limit) this.all.pop()
    this.unread.arrived(push)
    if (this.#matching) this.#matchSoon(push.number)
    this.#scheduleChange()
  }

  /** Evaluates the query for arrived pushes, with one request for those of 50 ms. */
  #matchSoon(number) {
    const isScheduled = this.#firstUnmatched < Infinity
    this.#firstUnmatched = Math.min(this.#firstUnmatched, number)
    if (isScheduled) return
    setTimeout(async () => {
      const [query, first] = [this.query, this.#firstUnmatched]
      this.#firstUnmatched = Infinity
      const found = await numbers(`${query} number:${first}-`).catch(() => [])
      if (query !== this.query) return
      for (const number of found) this.#matching?.add(number)
      this.#scheduleChange()
    }, 50)
  }

  #changed(push) {
    const index = this.#index(push.number)
    if (index < 0) return
    this.all[index] = push
    if (this.selected?.number === push.number) this.select(push)
    this.#scheduleChange()
  }

  #forgotten(from, through) {
    const isDeleted = (number) => number >= from && number <= through
    this.all = this.all.filter((push) => !isDeleted(push.number))
    this.#removeState(isDeleted)
  }

  /** The index of the push with a number; -1 if there is none. */
  #index(number) {
    let [low, high] = [0, this.all.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.all[middle].number > number) low = middle + 1
      else high = middle
    }
    return this.all[low]?.number === number ? low : -1
  }

  select(push) {
    this.selected = push
    if (push) this.unread.delete(push.number)
    this.#notify("select", push)
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

  #filter() {
    this.pushes = this.#matching ? this.all.filter((push) => this.#matching.has(push.number)) : this.all
  }

  /** Dispatches `change` at most once per frame. */
  #scheduleChange() {
    if (this.#isChangeScheduled) return
    this.#isChangeScheduled = true
    requestAnimationFrame(() => {
      this.#isChangeScheduled = false
      this.#filter()
      this.#notify("change")
    })
  }

  #notify(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }))
  }
}

// SPDX-License-Identifier: Apache-2.0

// The unread pushes, stored by the browser between visits.

import { numbersIn, ranges } from "./numbers.js"

const storageKey = "martlet.unread"
/** The maximum number of stored ranges; with more, the oldest count as read. */
const limit = 500

export class Unread extends Set {
  /** The number and time of the newest push that the page has received; null on the first visit. */
  #newest = storedState()
  /** Pushes with a higher number arrived while the page was closed. */
  #since = Infinity
  #timer = 0

  constructor() {
    super()
    for (const number of numbersIn(this.#newest?.unread ?? [])) super.add(number)
    addEventListener("pagehide", () => this.#save())
  }

  /** Starts with the newest pushes. On the first visit none is unread; with another simulator all are. */
  begin(pushes, cursor) {
    const { number, time } = this.#newest ?? { number: Infinity }
    const same = pushes.find((push) => push.number === number)
    const isOther = this.#newest !== null && (cursor < number || (same && same.time !== time))
    if (isOther) this.clear()
    this.#since = isOther ? 0 : number
    this.#newest = { number: pushes[0]?.number ?? cursor, time: pushes[0]?.time }
    this.#saveSoon()
  }

  /** Marks those of the loaded pushes as unread that arrived while the page was closed. */
  found(pushes) {
    for (const { number } of pushes) if (number > this.#since) super.add(number)
  }

  /** Marks an arriving push as unread. */
  arrived({ number, time }) {
    this.#newest = { number, time }
    this.add(number)
    this.#saveSoon()
  }

  delete(number) {
    const was = super.delete(number)
    if (was) this.#saveSoon()
    return was
  }

  #saveSoon() {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#save(), 300)
  }

  #save() {
    if (!this.#newest) return
    const { number, time } = this.#newest
    try {
      localStorage.setItem(storageKey, JSON.stringify({ number, time, unread: ranges(this).slice(-limit) }))
    } catch { /* Storage is not available. */ }
  }
}

function storedState() {
  try {
    const value = JSON.parse(localStorage.getItem(storageKey))
    return Number.isInteger(value?.number) && Array.isArray(value.unread) ? value : null
  } catch {
    return null
  }
}

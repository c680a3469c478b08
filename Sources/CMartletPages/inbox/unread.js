// What nobody has looked at yet, remembered by the browser from one visit to the next.

import { numbersIn, stretches } from "./numbers.js"

const place = "martlet.unread"
/** Stretches of numbers that are remembered; of more the oldest are taken for read. */
const limit = 500

export class Unread extends Set {
  /** Number and time of the newest push that the page has known; null on a first visit. */
  #newest = remembered()
  /** What has a higher number came while nobody looked. */
  #since = Infinity
  #timer = 0

  constructor() {
    super()
    for (const number of numbersIn(this.#newest?.unread ?? [])) super.add(number)
    addEventListener("pagehide", () => this.#save())
  }

  /** Looks at the newest pushes anew: on a first visit nothing is unread, by another simulator everything. */
  begin(pushes, cursor) {
    const { number, time } = this.#newest ?? { number: Infinity }
    const same = pushes.find((push) => push.number === number)
    const isOther = this.#newest !== null && (cursor < number || (same && same.time !== time))
    if (isOther) this.clear()
    this.#since = isOther ? 0 : number
    this.#newest = { number: pushes[0]?.number ?? cursor, time: pushes[0]?.time }
    this.#saveSoon()
  }

  /** These are there; of them is unread what came while nobody looked. */
  found(pushes) {
    for (const { number } of pushes) if (number > this.#since) super.add(number)
  }

  /** A push comes in. */
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
      localStorage.setItem(place, JSON.stringify({ number, time, unread: stretches(this).slice(-limit) }))
    } catch { /* A browser that remembers nothing does without. */ }
  }
}

function remembered() {
  try {
    const value = JSON.parse(localStorage.getItem(place))
    return Number.isInteger(value?.number) && Array.isArray(value.unread) ? value : null
  } catch {
    return null
  }
}

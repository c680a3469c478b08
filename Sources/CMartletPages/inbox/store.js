// SPDX-License-Identifier: Apache-2.0

// The pushes in memory, with changes applied at most once per frame, so that bursts of events stay cheap.

import { Counts } from "./counts.js"

/** The maximum number of pushes in memory. */
export const limit = 50_000

/** The index of the first push whose number is at most `number`, in a list with the newest push first. */
export function indexAtMost(pushes, number) {
  let [low, high] = [0, pushes.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (pushes[middle].number > number) low = middle + 1
    else high = middle
  }
  return low
}

/** The index of the push with a number, in a list with the newest push first; -1 if there is none. */
export function indexOf(pushes, number) {
  const index = indexAtMost(pushes, number)
  return pushes[index]?.number === number ? index : -1
}

export class PushStore {
  /** The pushes, newest first, without the hidden ones. */
  all = []
  counts = new Counts()
  /** The hidden pushes by their numbers; a number without a push has not been loaded yet. */
  hidden
  /** The number of changes to `all`. */
  version = 0
  /** The pushes that arrived since the last `settle`, oldest first. */
  #arrived = []
  /** The ranges of numbers that were deleted since the last `settle`. */
  #forgotten = []

  /** `countsChanged` is called when the counts change later than the pushes. */
  constructor(countsChanged, hiddenNumbers = []) {
    this.counts.changed = countsChanged
    this.hidden = new Map(Array.from(hiddenNumbers, (number) => [number, null]))
  }

  /** Adds a push that has arrived; returns false if it is known. */
  arrived(push) {
    const newest = this.#arrived.at(-1) ?? this.all[0]
    if (newest?.number >= push.number) return false
    this.#arrived.push(push)
    return true
  }

  /** Adds older pushes, the newest of them first. */
  append(pushes) {
    this.settle()
    const last = this.all.at(-1)?.number ?? Infinity
    const added = pushes.filter((push) => push.number < last && !this.#hide(push))
    this.counts.add(added)
    this.all = this.all.length ? [...this.all, ...added] : added
    this.version += 1
  }

  /** Replaces a push by its current state; returns false if it is not in memory. */
  change(push) {
    this.settle()
    if (this.hidden.has(push.number)) this.hidden.set(push.number, push)
    const index = indexOf(this.all, push.number)
    if (index < 0) return false
    this.counts.remove([this.all[index]])
    this.counts.add([push])
    this.all[index] = push
    this.version += 1
    return true
  }

  forget(from, through) {
    this.#forgotten.push([from, through])
  }

  /** Returns the push with a number, hidden or not. */
  find(number) {
    this.settle()
    return this.hidden.get(number) ?? this.all[indexOf(this.all, number)] ?? null
  }

  /** Applies the pending changes, and returns the pushes that were removed. */
  settle() {
    let removed = []
    if (this.#arrived.length) {
      const newest = this.all[0]?.number ?? -1
      const added = this.#arrived.reverse().filter((push) => push.number > newest && !this.#hide(push))
      this.#arrived = []
      this.counts.add(added)
      this.all = [...added, ...this.all]
      this.version += 1
    }
    if (this.#forgotten.length) removed = this.#removeForgotten()
    if (this.all.length > limit) removed = removed.concat(this.all.splice(limit))
    if (removed.length) {
      this.counts.remove(removed)
      this.version += 1
    }
    return removed
  }

  #removeForgotten() {
    const ranges = this.#forgotten.sort(([one], [other]) => other - one)
    this.#forgotten = []
    for (const number of this.hidden.keys()) {
      if (ranges.some(([from, through]) => number >= from && number <= through)) this.hidden.delete(number)
    }
    // The limit of stored pushes removes the oldest ones, which needs no copy of the others.
    const oldest = this.all.at(-1)?.number ?? Infinity
    if (ranges.length === 1 && ranges[0][0] <= oldest) return this.all.splice(indexAtMost(this.all, ranges[0][1]))
    const removed = []
    let range = 0
    this.all = this.all.filter((push) => {
      while (range < ranges.length && ranges[range][0] > push.number) range += 1
      const isForgotten = range < ranges.length && push.number <= ranges[range][1]
      if (isForgotten) removed.push(push)
      return !isForgotten
    })
    return removed
  }

  /** Keeps a push out of `all` if its number is hidden. */
  #hide(push) {
    const isHidden = this.hidden.has(push.number)
    if (isHidden) this.hidden.set(push.number, push)
    return isHidden
  }

  /** Takes pushes out of `all` until `restore`. */
  hide(numbers) {
    this.settle()
    const wanted = new Set(numbers)
    const hidden = []
    this.all = this.all.filter((push) => {
      const isHidden = wanted.has(push.number)
      if (isHidden) hidden.push(push)
      return !isHidden
    })
    for (const push of hidden) this.hidden.set(push.number, push)
    this.counts.remove(hidden)
    this.version += 1
  }

  /** Puts hidden pushes back, unless they were deleted in the meantime. */
  restore(numbers) {
    this.settle()
    const pushes = numbers.map((number) => this.hidden.get(number)).filter(Boolean)
    for (const number of numbers) this.hidden.delete(number)
    this.counts.add(pushes)
    this.all = merged(this.all, pushes.sort((one, other) => other.number - one.number))
    this.version += 1
  }

  /** Hides these pushes and no others. */
  hideOnly(numbers) {
    const wanted = new Set(numbers)
    this.restore([...this.hidden.keys()].filter((number) => !wanted.has(number)))
    this.hide(numbers.filter((number) => !this.hidden.has(number)))
  }
}

/** Two lists, each with the newest push first, as one. */
function merged(pushes, others) {
  if (pushes.length === 0 || others.length === 0) return pushes.length ? pushes : others
  const found = new Array(pushes.length + others.length)
  let [one, other] = [0, 0]
  for (let index = 0; index < found.length; index += 1) {
    const isFirst = other === others.length || pushes[one]?.number > others[other].number
    found[index] = isFirst ? pushes[one++] : others[other++]
  }
  return found
}

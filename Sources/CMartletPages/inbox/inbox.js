// What the page knows of the pushes that came in: kept in step with the simulator, told to whoever shows it.

import { follow, numbers, pushes as fetchPushes } from "./api.js"
import { pushTypes } from "./push-types.js"
import { onWords, wording } from "./strings.js"
import { Unread } from "./unread.js"

/** Pushes that one look at the simulator brings, and that the page holds. */
const pageSize = 1000
const limit = 10_000

export class Inbox extends EventTarget {
  /** All pushes, newest first. */
  all = []
  /** Those that the query is true of, newest first. */
  pushes = []
  unread = new Unread()
  query = ""
  selected = null
  /** The numbers of those that something is to be done with at once. */
  marked = new Set()
  /** The numbers of those that the query is true of; null for all. */
  #matching = null
  #isFollowing = false
  #isDirty = false
  /** Grows with each look at everything, of which only the newest counts. */
  #round = 0
  /** What came in since the last such look began. */
  #early = []
  /** The lowest number of those that the simulator is still to be asked of. */
  #unasked = Infinity

  constructor() {
    super()
    onWords(() => this.#show())
  }

  /** Shows the pushes that a query is true of, from now on. */
  async search(query) {
    this.query = query
    this.marked.clear()
    if (!this.#isFollowing) {
      this.#isFollowing = true
      follow("", {
        open: () => this.#reload(),
        lost: () => this.#tell("state", "lost"),
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
    const round = ++this.#round
    this.#early = []
    let before
    try {
      do {
        const { pushes, cursor } = await fetchPushes("", pageSize, before)
        if (round !== this.#round) return
        if (before === undefined) this.#begin(pushes, cursor)
        else this.all = [...this.all, ...pushes]
        this.unread.found(pushes)
        if (before === undefined) await this.#match()
        this.#show()
        before = pushes.length === pageSize ? pushes.at(-1).number : undefined
      } while (before !== undefined && this.all.length < limit)
      // Everything has been looked at.
      this.#drop((number) => this.#place(number) < 0)
    } catch (error) {
      this.#tell("mistake", error.message)
    }
  }

  /** Begins anew with the newest pushes. */
  #begin(pushes, cursor) {
    this.unread.begin(pushes, cursor)
    // What came meanwhile is there already.
    const newest = pushes[0]?.number ?? 0
    this.all = [...this.#early.filter((push) => push.number > newest).reverse(), ...pushes]
    this.#tell("state", "live")
  }

  /** Asks which pushes the query is true of. */
  async #match() {
    const query = this.query
    try {
      const matching = query.trim() ? new Set(await numbers(query)) : null
      if (query !== this.query) return
      this.#matching = matching
      this.#tell("mistake", "")
    } catch (error) {
      if (query === this.query) this.#tell("mistake", error.message)
    }
    this.#filter()
    this.#tell("change")
  }

  /** Lets go of what is not there any more. */
  #drop(isGone) {
    for (const numbers of [this.unread, this.marked]) {
      for (const number of numbers) if (isGone(number)) numbers.delete(number)
    }
    if (this.selected && isGone(this.selected.number)) this.select(null)
    this.#show()
  }

  #arrived(push) {
    if (this.all[0]?.number >= push.number) return
    this.all.unshift(push)
    this.#early.push(push)
    if (this.all.length > limit) this.all.pop()
    this.unread.arrived(push)
    if (this.#matching) this.#askOf(push.number)
    this.#show()
  }

  /** Asks, soon and of many at once, whether the query is true of what came in. */
  #askOf(number) {
    const isAsking = this.#unasked < Infinity
    this.#unasked = Math.min(this.#unasked, number)
    if (isAsking) return
    setTimeout(async () => {
      const [query, first] = [this.query, this.#unasked]
      this.#unasked = Infinity
      const found = await numbers(`${query} number:${first}-`).catch(() => [])
      if (query !== this.query) return
      for (const number of found) this.#matching?.add(number)
      this.#show()
    }, 50)
  }

  #changed(push) {
    const place = this.#place(push.number)
    if (place < 0) return
    this.all[place] = push
    if (this.selected?.number === push.number) this.select(push)
    this.#show()
  }

  #forgotten(from, through) {
    const isGone = (number) => number >= from && number <= through
    this.all = this.all.filter((push) => !isGone(push.number))
    this.#drop(isGone)
  }

  /** Where the push of a number is among all; -1 when it is not there. */
  #place(number) {
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
    this.#tell("select", push)
    this.#show()
  }

  /** Has exactly these be marked. */
  mark(numbers) {
    this.marked = new Set(numbers)
    this.#show()
  }

  /** What is to be done is done with these: the marked ones, or else the one that is looked at. */
  get chosen() {
    return this.marked.size ? [...this.marked] : this.selected ? [this.selected.number] : []
  }

  markRead(numbers) {
    for (const number of numbers) this.unread.delete(number)
    this.#show()
  }

  #filter() {
    this.pushes = this.#matching ? this.all.filter((push) => this.#matching.has(push.number)) : this.all
  }

  /** Shows what is new once a frame, however much that is. */
  #show() {
    if (this.#isDirty) return
    this.#isDirty = true
    requestAnimationFrame(() => {
      this.#isDirty = false
      this.#filter()
      this.#tell("change")
    })
  }

  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }))
  }
}

/** What kind of push it is, in one word that people know. */
export function kind(push) {
  if (push.channel !== undefined) return "broadcast"
  const type = push.headers["apns-push-type"] ?? "alert"
  if (type === "liveactivity") return "activity"
  if (type !== "alert") return type
  return push.payload?.aps?.alert === undefined ? "silent" : "alert"
}

/** The line that a person would know the push by. */
export function headline(push) {
  const aps = push.payload?.aps
  const alert = aps?.alert
  if (typeof alert === "string" && alert) return alert
  const words = alert && typeof alert === "object" && (wording(alert, "title", app(push)) ?? wording(alert, "body", app(push)))
  if (words?.text) return words.missing ? `⟨${words.text}⟩` : words.text
  const snapshot = push.payload?.surfaceSnapshot
  const shown = snapshot?.[snapshot.kind]?.title ?? snapshot?.[snapshot.kind]?.label
  if (typeof shown === "string" && shown) return `${shown} (${snapshot.kind})`
  const state = aps?.["content-state"]
  const word = state && (state.headline ?? state.title ?? state.status)
  if (typeof word === "string" && word) return word
  if (typeof aps?.event === "string") return `${aps.event} ${push.payload.aps["attributes-type"] ?? "activity"}`
  return kind(push)
}

/** The suffixes of topics, the longest first. */
const suffixes = Object.values(pushTypes).map(({ topicSuffix }) => topicSuffix).filter(Boolean)
  .sort((left, right) => right.length - left.length)

/** The app's bundle identifier. */
export function app(push) {
  const topic = push.app ?? push.headers["apns-topic"] ?? "no topic"
  const suffix = suffixes.find((suffix) => topic.endsWith(suffix)) ?? ""
  return topic.slice(0, topic.length - suffix.length)
}

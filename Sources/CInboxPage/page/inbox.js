// What the page knows of the pushes that came in: kept in step with the simulator, told to whoever shows it.

import { follow, pushes as fetchPushes } from "./api.js"
import { onWords, wording } from "./strings.js"

/** Pushes that one look at the simulator brings. */
const limit = 1000

export class Inbox extends EventTarget {
  /** Newest first. */
  pushes = []
  unread = new Set()
  query = ""
  selected = null
  #stop = () => {}
  #isDirty = false

  constructor() {
    super()
    onWords(() => this.#show())
  }

  /** Shows the pushes that a query is true of, from now on. */
  search(query) {
    this.query = query
    this.#stop()
    this.#stop = follow(query, {
      open: () => this.#reload(query),
      lost: () => this.#tell("state", "lost"),
      push: (push) => this.#arrived(push),
      changed: (push) => this.#changed(push),
      forgotten: ({ from, through }) => this.#forgotten(from, through),
    })
    return this.#reload(query)
  }

  async #reload(query) {
    try {
      const { pushes } = await fetchPushes(query, limit)
      if (query !== this.query) return
      // What came meanwhile is there already.
      const newest = pushes[0]?.number ?? 0
      this.pushes = [...this.pushes.filter((push) => push.number > newest), ...pushes]
      if (this.selected && !this.pushes.some((push) => push.number === this.selected.number)) this.select(null)
      this.#tell("state", "live")
      this.#tell("mistake", "")
      this.#show()
    } catch (error) {
      this.#tell("mistake", error.message)
    }
  }

  #arrived(push) {
    if (this.pushes[0]?.number >= push.number) return
    this.pushes.unshift(push)
    this.unread.add(push.number)
    this.#show()
  }

  #changed(push) {
    const index = this.pushes.findIndex((other) => other.number === push.number)
    if (index < 0) return
    this.pushes[index] = push
    if (this.selected?.number === push.number) this.select(push)
    this.#show()
  }

  #forgotten(from, through) {
    this.pushes = this.pushes.filter((push) => push.number < from || push.number > through)
    if (this.selected && this.selected.number >= from && this.selected.number <= through) this.select(null)
    this.#show()
  }

  select(push) {
    this.selected = push
    if (push) this.unread.delete(push.number)
    this.#tell("select", push)
    this.#show()
  }

  /** Selects the one so many places further down. */
  move(places) {
    const index = this.pushes.findIndex((push) => push.number === this.selected?.number)
    const next = this.pushes[Math.min(Math.max(index + places, 0), this.pushes.length - 1)]
    if (next) this.select(next)
  }

  /** Shows what is new once a frame, however much that is. */
  #show() {
    if (this.#isDirty) return
    this.#isDirty = true
    requestAnimationFrame(() => {
      this.#isDirty = false
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
  const state = aps?.["content-state"]
  const word = state && (state.headline ?? state.title ?? state.status)
  if (typeof word === "string" && word) return word
  if (typeof aps?.event === "string") return `${aps.event} ${push.payload.aps["attributes-type"] ?? "activity"}`
  return kind(push)
}

/** The app's bundle identifier. */
export function app(push) {
  const topic = push.app ?? push.headers["apns-topic"] ?? "no topic"
  return topic.replace(/\.(push-type\.\w+|voip|voip-ptt|complication|pushkit\.fileprovider|location-query)$/, "")
}

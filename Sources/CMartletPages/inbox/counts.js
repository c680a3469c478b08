// SPDX-License-Identifier: Apache-2.0

// The number of pushes of each filter, counted as pushes come and go.

import { utcOffset } from "./api.js"
import { app, short, typeName } from "./push.js"
import { verdictKind, verdictLabel } from "./verdict.js"

const type = (push) => push.headers["apns-push-type"]
const isSilent = (push) => push.payload?.aps?.["content-available"] !== undefined && push.payload.aps.alert === undefined
const has = (severity) => (push) => push.findings.some((finding) => finding.severity === severity)
const sortedTypes = ["alert", "background", "liveactivity"]

/** The last midnight of this time zone, in milliseconds since 1970. */
const midnight = () => new Date().setHours(0, 0, 0, 0)

/**
 * The sections of filters.
 *
 * `fixed` filters are always shown: each has a query and a test of pushes, or a number of milliseconds within which
 * pushes were received. `of` returns the value or the values of a push, each of which is a filter with the name `term`;
 * `always` lists terms that are added to it, and `label` names a value. With `hasFixedValues` the query language has a
 * list of the values, which are all shown.
 */
export const sections = {
  Time: { fixed: {
    "Last 10 minutes": { query: () => "after:10m", within: () => 600_000 },
    "Last hour": { query: () => "after:1h", within: () => 3_600_000 },
    Today: { query: () => `after:${new Date(midnight() + 1000 * utcOffset()).toISOString().slice(0, 16)}`, within: () => Date.now() - midnight() },
  } },
  Kind: { fixed: {
    Alerts: { query: () => "type:alert -is:silent", test: (push) => type(push) === "alert" && !isSilent(push) },
    "Without sound": { query: () => "is:no-sound", test: (push) => push["no-sound"] === true },
    Silent: { query: () => "is:silent", test: isSilent },
    Activities: { query: () => "type:liveactivity", test: (push) => type(push) === "liveactivity" },
    Broadcasts: { query: () => "is:broadcast", test: (push) => push.channel !== undefined },
  }, of: (push) => (sortedTypes.includes(type(push)) ? undefined : type(push)), term: "type", label: typeName },
  // Refused pushes are a filter of the responses.
  Verdict: { of: (push) => (push.verdict && push.verdict.kind !== "refused" ? verdictKind(push) : undefined), term: "verdict", label: verdictLabel, hasFixedValues: true },
  Response: { fixed: {
    Accepted: { query: () => "is:accepted", test: (push) => push.status === 200 },
    Refused: { query: () => "is:refused", test: (push) => push.status !== 200 && push.status !== 0 },
  }, of: (push) => push.reason, term: "reason" },
  Findings: { fixed: {
    Errors: { query: () => "has:error", test: has("error") },
    Warnings: { query: () => "has:warning", test: has("warning") },
    Duplicates: { query: () => "is:duplicate", test: (push) => push.findings.some(({ rule }) => rule === "device-token-repeated") },
  }, of: (push) => [...new Set(push.findings.map(({ rule }) => rule))], term: "rule" },
  Size: { fixed: { "Over 3 KB": { query: () => "size:3073-", test: ({ size }) => size > 3072 } } },
  Tags: { of: (push) => [...(push.pinned ? [pinned] : []), ...(push.tags ?? [])], term: "tag" },
  Apps: { of: app, term: "app" },
  Connections: { of: ({ connection }) => (connection ? String(connection) : undefined), term: "connection", label: (number) => `Connection ${number}` },
  Devices: { of: (push) => (push["activity-token"] ? undefined : push["device-token"]), term: "device" },
  "Live Activities": {
    of: (push) => (push["activity-token"] ? push["device-token"] : undefined), term: "device", always: "type:liveactivity",
  },
  Channels: { of: (push) => push.channel, term: "channel" },
  Threads: { of: (push) => push.payload?.aps?.["thread-id"], term: "thread" },
  "Collapse IDs": { of: (push) => push.headers["apns-collapse-id"], term: "collapse" },
}

/** The value of pinned pushes among the tags; it cannot be a tag. */
export const pinned = "\0pinned"

/** The parts of the sections that count pushes, as pairs of a key and a function that returns its values for a push. */
const counted = Object.entries(sections).flatMap(([name, { fixed = {}, of }]) => [
  ...Object.entries(fixed).filter(([, { test }]) => test).map(([key, { test }]) => [`${name}/${key}`, (push) => (test(push) ? "" : undefined)]),
  ...(of ? [[name, of]] : []),
])

/** The number of pushes that are counted without a pause, so that no task takes long. */
const chunk = 500

export class Counts {
  /** Called when pushes have been counted later than they came or went. */
  changed = () => {}
  /** The count of each value, for each section and each fixed filter. */
  #counts = new Map(counted.map(([key]) => [key, new Map()]))
  /** The nicknames of devices. */
  #names = new Map()
  /** The pushes to count, as {pushes, difference, done}. */
  #waiting = []
  #isScheduled = false

  /** Counts pushes that came: the first of many at once, and the others soon. */
  add(pushes) { this.#count(pushes, 1) }

  /** Counts pushes that went. */
  remove(pushes) { this.#count(pushes, -1) }

  #count(pushes, difference) {
    // The caller may change its array before all of it has been counted.
    this.#waiting.push({ pushes: [...pushes], difference, done: 0 })
    if (!this.#isScheduled) this.#work()
  }

  #work() {
    let rest = chunk
    while (rest > 0 && this.#waiting.length) {
      const first = this.#waiting[0]
      const end = Math.min(first.pushes.length, first.done + rest)
      rest -= end - first.done
      for (; first.done < end; first.done += 1) this.#change(first.pushes[first.done], first.difference)
      if (end === first.pushes.length) this.#waiting.shift()
    }
    if (this.#waiting.length === 0) return
    this.#isScheduled = true
    setTimeout(() => {
      this.#isScheduled = false
      this.#work()
      this.changed()
    })
  }

  #change(push, difference) {
    if (push["device-name"]) this.#names.set(push["device-token"], push["device-name"])
    else if (difference > 0) this.#names.delete(push["device-token"])
    for (const [key, of] of counted) {
      const value = of(push)
      if (value === undefined) continue
      const counts = this.#counts.get(key)
      for (const each of Array.isArray(value) ? value : [value]) {
        if (typeof each !== "string") continue
        const count = (counts.get(each) ?? 0) + difference
        if (count > 0) counts.set(each, count)
        else counts.delete(each)
      }
    }
  }

  /** The count of a fixed filter that tests pushes. */
  fixed(section, key) { return this.#counts.get(`${section}/${key}`)?.get("") ?? 0 }

  /** The values of a section with their counts. */
  values(section) { return this.#counts.get(section) ?? new Map() }

  /** The values of a field of the query language that occur in the pushes, the most frequent first. */
  valuesOf(term, limit) {
    const found = Object.keys(sections).filter((name) => sections[name].term === term).flatMap((name) => [...this.values(name)])
    return mostFrequent(new Map(found), limit).map(([value]) => value).filter((value) => value !== pinned)
  }

  /** The nickname of a device, or its shortened token. */
  deviceName(token) { return this.#names.get(token) ?? short(token) }
}

/** The entries with the highest counts, in order; equal counts in the order of the map. */
export function mostFrequent(counts, limit) {
  let entries = [...counts]
  if (entries.length > 4 * limit) {
    // Sorting many thousand devices would take longer than finding the count that the last of the entries has.
    const threshold = Float64Array.from(counts.values()).sort().at(-limit)
    entries = entries.filter(([, count]) => count >= threshold)
  }
  return entries.sort(([, one], [, other]) => other - one).slice(0, limit)
}

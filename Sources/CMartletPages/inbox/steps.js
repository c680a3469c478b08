// SPDX-License-Identifier: Apache-2.0

// The effect of each push on a Live Activity, as the simulator reports it.

import { counted, grouped } from "./texts.js"
import { verdictText } from "./verdict.js"

/** The kinds of verdicts of pushes that the activity has applied; an end with a past dismissal is only delivered. */
const shownKinds = new Set(["shown", "replaced", "ended", "delivered"])
/** Whether the content of a push with this verdict was on the screen at some time. */
export const isShown = (verdict) => shownKinds.has(verdict.kind) || verdict["on-screen"] === true

/**
 * The pushes in the order of their numbers, each with `event`, `priority`, `timestamp`, `verdict`, the content state
 * `before` and `after` it, the push that is `shown` after it, and the latest one that the app surely decodes (`certain`).
 */
export function steps(pushes) {
  let state = undefined
  let shown = null
  let certain = null
  return pushes.toSorted((one, other) => one.number - other.number).map((push) => {
    const aps = push.payload?.aps ?? {}
    const { verdict } = push
    const before = state
    const wasShown = isShown(verdict)
    if (wasShown) {
      state = aps["content-state"] ?? state
      shown = push
      if (!verdict.uncertain) certain = push
    }
    return {
      push, verdict, wasShown, before, after: state, shown, certain, event: typeof aps.event === "string" ? aps.event : "no event",
      priority: push.headers["apns-priority"] ?? "10",
      timestamp: Number.isSafeInteger(aps.timestamp) ? aps.timestamp : null,
    }
  })
}

/** The number of reasons that the summary names. */
const namedReasons = 5

/**
 * The reasons that the simulator gives for pushes, most frequent first: {text, count, number} with the latest push of each.
 *
 * The reason is what a pattern finds in the text of the verdict. Numbers in it that differ are left out.
 */
function reasonsOf(steps, pattern) {
  const found = new Map()
  for (const { push, verdict } of steps) {
    const text = verdictText(verdict).match(pattern)?.[1]
    if (!text) continue
    const key = text.replace(/\d+(\.\d+)?/g, "…")
    const known = found.get(key) ?? { text, count: 0 }
    found.set(key, { text: known.text === text ? text : key, count: known.count + 1, number: push.number })
  }
  return [...found.values()].sort((one, other) => other.count - one.count)
}

/** The reasons of pushes, of which the most frequent ones have names; none if the simulator gives none. */
function causes(found, pattern) {
  const reasons = reasonsOf(found, pattern)
  const isOne = reasons.length === 1 && reasons[0].count === found.length
  const named = reasons.slice(0, namedReasons)
  const rest = reasons.slice(namedReasons).reduce((sum, { count }) => sum + count, 0)
  return [...named.map(({ text, count, number }) => ({ text: isOne ? text : `${grouped(count)} × ${text}`, isLast: count > 1, number })),
    ...rest ? [{ text: `${grouped(rest)} for other reasons` }] : []]
}

/**
 * The answer to the question why an activity does not show its pushes: {tone, facts}; each fact is {text, causes}.
 *
 * Each cause is {text, isLast, number}: the number of its push, which is the last one of several if `isLast`.
 */
export function summary(steps) {
  const total = steps.length
  const of = (kind) => steps.filter(({ verdict }) => verdict.kind === kind)
  const ignored = of("not-shown")
  const facts = []
  if (ignored.length) {
    const text = `${grouped(ignored.length)} of ${counted(total, "push")} ${ignored.length === 1 ? "was" : "were"} not shown`
    facts.push({ text, causes: causes(ignored, /^Not shown: (.*)/) })
  }
  const uncertain = steps.filter(({ verdict, wasShown }) => wasShown && verdict.uncertain)
  if (uncertain.length) {
    const text = `${counted(uncertain.length, "push")} may not be shown, as the app may not decode the content`
    facts.push({ text, causes: causes(uncertain, /the app may not decode it \((.*?)\)/) })
  }
  const counts = { stored: ["is", "are", "stored"], refused: ["was", "were", "refused", /^Refused: (.*)/],
    discarded: ["was", "were", "discarded", /^Discarded: (.*)/], unanswered: ["was", "were", "not answered"] }
  for (const [kind, [one, several, text, pattern]] of Object.entries(counts)) {
    const found = of(kind)
    if (found.length) facts.push({ text: `${counted(found.length, one, several)} ${text}`, causes: pattern ? causes(found, pattern) : [] })
  }
  if (facts.length) return { tone: ignored.length || of("refused").length ? "bad" : "warning", facts }
  return { tone: "good", facts: [{ text: total === 1 ? "The push was shown" : `All ${counted(total, "push")} were shown`, causes: [] }] }
}

/** The leaves of two values, each with its `path`, its JSON before (`was`) and after (`is`), and the kind of change. */
export function changes(before, after) {
  const old = new Map(leaves(before, ""))
  const fresh = new Map(leaves(after, ""))
  const rows = [...fresh].map(([path, is]) => {
    const was = old.get(path)
    return { path, is, was, kind: was === undefined ? "added" : was === is ? "same" : "changed" }
  })
  const removed = [...old].filter(([path]) => !fresh.has(path)).map(([path, was]) => ({ path, was, kind: "removed" }))
  return [...rows, ...removed]
}

function leaves(value, path) {
  if (value === undefined) return []
  const isLeaf = value === null || typeof value !== "object" || Object.keys(value).length === 0
  if (isLeaf) return [[path, JSON.stringify(value)]]
  return Object.entries(value).flatMap(([name, item]) => leaves(item, path ? `${path}.${name}` : name))
}

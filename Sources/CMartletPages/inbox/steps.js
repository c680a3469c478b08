// SPDX-License-Identifier: Apache-2.0

// The effect of each push on a Live Activity.

/**
 * The pushes in the order of their numbers, each with `event`, `priority`, `timestamp`, `outcome`, the content state
 * `before` and `after` it, and the push that is `shown` after it.
 */
export function steps(pushes, token) {
  let state = undefined
  let shown = null
  return pushes.toSorted((one, other) => one.number - other.number).map((push) => {
    const aps = push.payload?.aps ?? {}
    const outcome = outcomeOf(push, token)
    const before = state
    if (outcome.kind === "delivered") {
      state = aps["content-state"] ?? state
      shown = push
    }
    return {
      push, outcome, before, after: state, shown, event: typeof aps.event === "string" ? aps.event : "no event",
      priority: push.headers["apns-priority"] ?? "10",
      timestamp: Number.isSafeInteger(aps.timestamp) ? aps.timestamp : null,
    }
  })
}

/** The outcome of a push at the device with this token. */
function outcomeOf(push, token) {
  if (push.status !== 200 && !push.deliveries.length) {
    return { kind: "refused", label: push.status ? `refused: ${push.reason ?? push.status}` : "no response", note: null }
  }
  const prefix = `at ${token.slice(0, 8)}…`
  const isBroadcast = push.channel !== undefined
  const events = push.deliveries.filter(({ note }) => !isBroadcast || note?.startsWith(prefix))
  const last = events.at(-1)
  const note = last?.note?.replace(prefix, "").replace(/^: /, "") || null
  switch (last?.kind) {
    case "delivered": return { kind: "delivered", label: "delivered", note }
    case "delivered-from-storage": return { kind: "delivered", label: "delivered from storage", note }
    case "ignored": return { kind: "ignored", label: "ignored", note }
    case "stored-device-offline": return { kind: "waiting", label: "stored: device offline", note }
    case undefined: return { kind: "waiting", label: "not delivered", note }
    default: return { kind: "ignored", label: last.kind.replaceAll("-", " "), note }
  }
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

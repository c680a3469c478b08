// SPDX-License-Identifier: Apache-2.0

// The lines of the list: pushes, or groups followed by their pushes.

import { app, kind } from "./push.js"

/** The groupings: the value that the pushes of a group share, and the label of the pushes without one. */
export const groupings = {
  app: { name: "App", of: app, none: "no app" },
  device: { name: "Device", of: (push) => push["device-token"], none: "no device" },
  activity: {
    name: "Activity", of: (push) => (kind(push) === "activity" ? push["device-token"] : undefined), none: "no activity",
  },
  channel: { name: "Channel", of: (push) => push.channel, none: "no channel" },
  thread: { name: "Thread", of: (push) => push.payload?.aps?.["thread-id"], none: "no thread" },
  collapse: { name: "Collapse ID", of: (push) => push.headers["apns-collapse-id"], none: "no collapse ID" },
}

/** The height of a line, in pixels. */
export const height = (line) => (line.push ? 60 : 36)

/** The lines in order. Groups are ordered by their newest push; the pushes without a value are last. */
export function lines(pushes, grouping, collapsed) {
  const { of, none } = groupings[grouping] ?? {}
  if (!of) return pushes.map((push, index) => ({ push, position: index + 1, count: pushes.length }))
  const groups = new Map()
  for (const push of pushes) {
    const value = of(push)
    const key = typeof value === "string" ? value : ""
    if (!groups.has(key)) groups.set(key, [])
    groups.get(key).push(push)
  }
  const rest = groups.get("")
  groups.delete("")
  if (rest) groups.set("", rest)
  let position = 0
  return [...groups].flatMap(([key, members]) => {
    const group = { key, label: key || none, pushes: members, isOpen: !collapsed.has(key), position: ++position, count: groups.size }
    const shown = group.isOpen ? members : []
    return [{ group }, ...shown.map((push, index) => ({ push, of: group, position: index + 1, count: members.length }))]
  })
}

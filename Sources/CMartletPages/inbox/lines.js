// SPDX-License-Identifier: Apache-2.0

// The lines of the list: pushes, or groups followed by their pushes.
//
// Lines are computed from their index, so that a list of fifty thousand needs no object for each.

import { app, kind } from "./push.js"
import { indexOf } from "./store.js"

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

/** The heights of the row of a push and of a group, in pixels. */
const rowHeight = 52
const groupHeight = 36

export class Lines {
  /** The number of lines. */
  count = 0
  /** The height of all lines, in pixels. */
  height = 0
  #pushes
  /** The groups, with the index and the top of their first line; null without a grouping. */
  #groups = null
  #valueOf

  /** Groups are ordered by their newest push; the pushes without a value are last. */
  constructor(pushes, grouping, collapsed) {
    this.#pushes = pushes
    const { of, none } = groupings[grouping] ?? {}
    this.#valueOf = (push) => {
      const value = of(push)
      return typeof value === "string" ? value : ""
    }
    if (of) this.#addGroups(none, collapsed)
    else [this.count, this.height] = [pushes.length, pushes.length * rowHeight]
  }

  #addGroups(none, collapsed) {
    const members = new Map()
    for (const push of this.#pushes) {
      const key = this.#valueOf(push)
      const group = members.get(key)
      if (group) group.push(push)
      else members.set(key, [push])
    }
    const rest = members.get("")
    members.delete("")
    if (rest) members.set("", rest)
    this.#groups = [...members].map(([key, pushes], index) => {
      const group = {
        key, label: key || none, pushes, isOpen: !collapsed.has(key), position: index + 1, count: members.size, first: this.count, top: this.height,
      }
      const shown = group.isOpen ? pushes.length : 0
      this.count += 1 + shown
      this.height += groupHeight + shown * rowHeight
      return group
    })
  }

  /** The last group for which a property is at most `value`. */
  #groupAt(property, value) {
    let [low, high] = [0, this.#groups.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#groups[middle][property] <= value) low = middle + 1
      else high = middle
    }
    return this.#groups[low - 1]
  }

  /** The line with an index: {push, position, count, of}, in which `of` is the push's group, or {group}. */
  at(index) {
    if (index < 0 || index >= this.count) return undefined
    if (!this.#groups) return { push: this.#pushes[index], position: index + 1, count: this.count }
    const group = this.#groupAt("first", index)
    const position = index - group.first
    return position === 0 ? { group } : { push: group.pushes[position - 1], of: group, position, count: group.pushes.length }
  }

  /** The distance of a line from the top of the list, in pixels. */
  top(index) {
    if (!this.#groups) return index * rowHeight
    if (index >= this.count) return this.height
    const group = this.#groupAt("first", index)
    return index === group.first ? group.top : group.top + groupHeight + (index - group.first - 1) * rowHeight
  }

  /** The index of the line at a distance from the top of the list. */
  indexAt(top) {
    if (this.count === 0) return 0
    if (!this.#groups) return Math.min(Math.floor(top / rowHeight), this.count)
    if (top >= this.height) return this.count
    const group = this.#groupAt("top", Math.max(0, top))
    return top < group.top + groupHeight ? group.first : group.first + 1 + Math.floor((top - group.top - groupHeight) / rowHeight)
  }

  /** The index of the line of a push; -1 if it is not in the list or its group is collapsed. */
  indexOfPush(push) {
    if (!this.#groups) return indexOf(this.#pushes, push.number)
    const group = this.group(this.#valueOf(push))
    const index = group?.isOpen ? indexOf(group.pushes, push.number) : -1
    return index < 0 ? -1 : group.first + 1 + index
  }

  /** The group with a key; undefined if there is none. */
  group(key) { return this.#groups?.find((group) => group.key === key) }
}

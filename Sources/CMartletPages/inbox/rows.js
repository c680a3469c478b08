// SPDX-License-Identifier: Apache-2.0

// The rows of the list, as elements.

import { element, time } from "./dom.js"
import { app, headline, kind } from "./push.js"

const glyphs = { alert: "●", silent: "○", background: "○", activity: "◉", broadcast: "◎" }

/** The row of a line; `state` has the selected, marked and unread pushes. */
export function row(line, top, state, handlers) {
  const made = line.push ? pushRow(line, state, handlers) : groupRow(line.group, state, handlers)
  made.style.top = `${top}px`
  return made
}

/** The identifier of a line's row. */
export const rowID = (line) => (line.push ? `push-${line.push.number}` : `group-${line.group.position}`)

function pushRow(line, state, handlers) {
  const { push } = line
  const isAccepted = push.status === 200
  return element("div", {
    id: rowID(line), class: "row", "data-number": push.number, "data-unread": state.unread.has(push.number),
    "data-current": state.isCurrent(line), "data-marked": state.marked.has(push.number), ...roles(line, state, Boolean(line.of)),
    "aria-selected": String(state.isSelected(push)), onclick: (event) => handlers.click(event, line),
  },
    element("span", { class: "mark", "data-glyph": glyphs[kind(push)] ?? "◇", title: kind(push) }),
    element("span", { class: "headline" }, headline(push)),
    push.connection === 0 ? element("span", { class: "composed", title: "sent from this page" }, "composed") : null,
    element("span", { class: "time" }, time(push.time)),
    element("span", { class: "app" }, app(push)),
    element("span", { class: "result", "data-accepted": isAccepted },
      isAccepted ? "200" : `${push.status || "no response"} ${push.reason ?? ""}`),
    push.findings.length ? element("span", { class: "count", title: "findings" }, push.findings.length) : null)
}

function groupRow(group, state, handlers) {
  const line = { group }
  const unread = group.pushes.filter((push) => state.unread.has(push.number)).length
  const isMarked = group.pushes.every((push) => state.marked.has(push.number))
  return element("div", {
    id: rowID(line), class: "group", "data-current": state.isCurrent(line), "data-marked": isMarked,
    ...roles(group, state, false), "aria-expanded": String(group.isOpen), "aria-selected": String(isMarked),
    onclick: (event) => handlers.click(event, line),
  },
    element("span", { class: "mark", "data-glyph": group.isOpen ? "▾" : "▸" }),
    element("span", { class: "headline", title: group.key }, group.label),
    unread ? element("span", { class: "unread" }, `${unread} new`) : null,
    element("span", { class: "total" }, group.pushes.length))
}

/** The accessibility role and position of a row. */
function roles({ position, count }, { isTree }, isInGroup) {
  const role = isTree ? { role: "treeitem", "aria-level": isInGroup ? 2 : 1 } : { role: "option" }
  return { ...role, "aria-posinset": position, "aria-setsize": count }
}

// SPDX-License-Identifier: Apache-2.0

// The rows of the list, as elements.

import { chip } from "./components.js"
import { element } from "./dom.js"
import { icon, kindIcon } from "./icons.js"
import { app, appColour, destination, excerpt, headline, kind, severity, typeName } from "./push.js"
import { completeTime, grouped, shortTime } from "./texts.js"
import { verdictKind, verdictLabel, verdictText, verdictTone } from "./verdict.js"

/** The verdicts that need no attention, and the refusal, whose chip shows status and reason. */
const quietOutcomes = new Set([null, "shown", "delivered", "refused", "unanswered"])
/** The number of tags in a row. */
const tagCount = 2

/** The identifier of a line's row. */
export const rowID = (line) => (line.push ? `push-${line.push.number}` : `group-${line.group.position}`)

/** The row of a line; `state` has the selected, marked and unread pushes. */
export const row = (line, state, click) => (line.push ? pushRow(line, state, click) : groupRow(line.group, state, click))

/** The values on which the row of a line depends, apart from the push, as text. The strings of an app change its headlines. */
export function rowState(line, state) {
  const { push, group } = line
  const flags = push
    ? [state.unread.has(push.number), state.marked.has(push.number), state.isSelected(push), headline(push), excerpt(push)]
    : groupFlags(group, state)
  return [state.isTree, state.hasSeveralApps, state.isCurrent(line), (group ?? line).position, (group ?? line).count, ...flags].join(" ")
}

function pushRow(line, state, click) {
  const { push } = line
  return element("div", {
    id: rowID(line), class: "row", "data-number": push.number, "data-unread": state.unread.has(push.number),
    "data-current": state.isCurrent(line), "data-marked": state.marked.has(push.number), ...roles(line, state, Boolean(line.of)),
    "aria-selected": String(state.isSelected(push)), "aria-label": description(push, state), onclick: (event) => click(event, line),
  },
    element("span", { class: "unread-dot" }),
    mark(push),
    element("span", { class: "first-line" },
      element("span", { class: "headline", dir: "auto", title: headline(push) }, headline(push)),
      element("span", { class: "time", title: completeTime(push["time-ms"]) }, shortTime(push["time-ms"], true))),
    element("span", { class: "second-line" }, detail(push, state), element("span", { class: "badges" }, badges(push))))
}

/** The verdicts whose reason is more useful than the text of the push. */
const explained = new Set(["not-shown", "discarded", "stored", "unanswered"])

/** The second line: the destination, the reason why the push is not shown or the start of its text, and the app if there are several. */
function detail(push, { hasSeveralApps }) {
  const { verdict } = push
  const reason = verdict && explained.has(verdict.kind) ? verdictText(verdict).replace(/^(not shown|discarded|stored)\s*[:·]\s*/i, "") : ""
  const text = reason ? reason[0].toUpperCase() + reason.slice(1) : excerpt(push)
  return element("span", { class: "app", title: `${destination(push)} · ${app(push)}` }, element("span", { class: "destination" }, destination(push)),
    ...(text ? [" · ", element("span", { class: "excerpt", dir: "auto" }, text)] : []), ...(hasSeveralApps ? [" · ", element("span", {}, app(push))] : []))
}

/** The icon of the push in the colour of its app; hovering shows a check box in its place. */
function mark(push) {
  const made = element("span", { class: "mark", title: typeName(kind(push)) }, icon(kindIcon(kind(push))), icon("check"))
  made.style.setProperty("--app", appColour(app(push)))
  return made
}

/** The text of a row for screen readers; its position in the list follows from other attributes. */
function description(push, state) {
  const { verdict, status, reason } = push
  const kindOfOutcome = verdictKind(push)
  const result = kindOfOutcome === "refused" ? `refused ${reason ?? status}` : kindOfOutcome && verdictLabel(kindOfOutcome).toLowerCase()
  const found = severity(push)
  return [
    headline(push), excerpt(push), typeName(kind(push)), app(push), destination(push), result ?? (verdict ? verdictText(verdict) : "accepted"),
    state.unread.has(push.number) ? "unread" : "", found && `${found}s found`, push.pinned ? "pinned" : "",
    push.tags?.length ? `tagged ${push.tags.join(", ")}` : "",
  ].filter(Boolean).join(", ")
}

/** The answer if it is not 200, a verdict that needs attention, the severity of findings, the pin and the tags. */
function badges(push) {
  const found = severity(push)
  const kindOfOutcome = verdictKind(push)
  const { status, reason, verdict, tags = [] } = push
  return [
    ...tags.slice(0, tagCount).map((tag) => chip(tag, "accent", { class: "chip tag" })),
    tags.length > tagCount ? chip(`+${tags.length - tagCount}`, "accent", { title: tags.join(", ") }) : null,
    status === 200 ? null : chip(status ? `${status} ${reason ?? ""}`.trim() : "No answer", "bad", { class: "chip result" }),
    quietOutcomes.has(kindOfOutcome) ? null
      : chip(verdictLabel(kindOfOutcome), verdictTone(kindOfOutcome), { class: "chip outcome", title: verdictText(verdict) }),
    found ? element("span", { class: "dot severity", "data-tone": found === "error" ? "bad" : "warning", title: `Has ${found}s` }) : null,
    push.pinned ? element("span", { class: "pin", title: "Pinned" }, icon("pin", 14)) : null,
  ].filter(Boolean)
}

/** The number of unread pushes of a group, and whether all are marked; computed once per layout. */
function groupFlags(group, state) {
  group.flags ??= [
    group.pushes.reduce((count, push) => count + (state.unread.has(push.number) ? 1 : 0), 0),
    state.marked.size > 0 && group.pushes.every((push) => state.marked.has(push.number)), group.pushes.length, group.isOpen, group.label,
  ]
  return group.flags
}

function groupRow(group, state, click) {
  const line = { group }
  const [unread, isMarked] = groupFlags(group, state)
  return element("div", {
    id: rowID(line), class: "group", "data-current": state.isCurrent(line), "data-marked": isMarked,
    ...roles(group, state, false), "aria-expanded": String(group.isOpen), "aria-selected": String(isMarked),
    onclick: (event) => click(event, line),
  },
    icon(group.isOpen ? "down" : "right", 14),
    isMarked ? icon("check", 14) : null,
    element("span", { class: "headline", title: group.key }, group.label),
    unread ? element("span", { class: "unread" }, `${grouped(unread)} new`) : null,
    element("span", { class: "total" }, grouped(group.pushes.length)))
}

/** The accessibility role and position of a row. */
function roles({ position, count }, { isTree }, isInGroup) {
  const role = isTree ? { role: "treeitem", "aria-level": isInGroup ? 2 : 1 } : { role: "option" }
  return { ...role, "aria-posinset": position, "aria-setsize": count }
}

// SPDX-License-Identifier: Apache-2.0

// Previews of notifications: on the Lock Screen, as a banner, expanded, and in Notification Center.

import { element } from "./dom.js"
import { app } from "./push.js"
import { clock, icon, statusBar } from "./preview-parts.js"
import { figure } from "./preview-screen.js"
import { localizedText } from "./strings.js"

/** The maximum number of notifications of a thread that are shown individually. */
const maximumCards = 4

/** The previews of an alert; `thread` has the other notifications of its thread. */
export function notificationFigures(push, settings, thread) {
  return [
    ...missingStrings(push),
    figure("Lock Screen", "lock", settings, [clock(), card(push, 4)]),
    bannerFigure(push, settings),
    figure("Expanded", "in-app", settings, [statusBar(), card(push, 0, "expanded"), actions(push)]),
    center(push, settings, thread),
  ]
}

/** A banner; devices without a Dynamic Island also show one for Live Activity updates with an alert. */
export const bannerFigure = (push, settings) =>
  figure("Banner", "in-app", settings, [statusBar(), card(push, 2, "banner")])

/** A group in Notification Center: collapsed, with the newest on top and two behind it, then expanded. */
function center(push, settings, thread) {
  const all = [push, ...thread].sort((one, other) => other.number - one.number)
  const behind = all.slice(1, 3).map((_, index) => element("div", { class: `behind behind-${index + 1}` }))
  const isAlone = all.length === 1
  const stack = element("div", { class: "stack" }, card(all[0], 4, "", isAlone), behind)
  const more = !isAlone ? element("div", { class: "more" }, `${all.length} notifications`) : null
  const cards = isAlone ? [] : excerpt(all, push).map((each) =>
    element("div", { class: each === push ? "one this" : "one" }, card(each, 4, "", each === push)))
  const rest = all.length > maximumCards ? element("div", { class: "more" }, `and ${all.length - maximumCards} more`) : null
  const name = push.payload.aps["thread-id"]
  return figure("Notification Center", "center", settings, [
    element("div", { class: "heading" }, "Notification Center"), stack, more,
    isAlone ? null : element("div", { class: "open" }, element("div", { class: "heading opened" }, "Expanded"), cards, rest),
  ], [isAlone ? "No other stored push to this device has this app and thread."
    : `${all.length} notifications of ${app(push)} ${name ? `in thread ${name}` : "without a thread"} on this device.`])
}

/** The newest notifications of a thread, with this one among them. */
function excerpt(all, push) {
  const first = all.slice(0, maximumCards)
  return first.includes(push) ? first : [...first.slice(0, -1), push]
}

/** A notification whose body has at most `lines` lines, 0 for no limit; `isReported` lists truncated text below. */
function card(push, lines, style = "", isReported = true) {
  const { title, subtitle, body, badge } = texts(push)
  return element("div", { class: `notification ${style}` },
    icon(push),
    element("div", { class: "text" },
      line("title", title ?? { text: app(push) }, lines && 1, isReported),
      line("subtitle", subtitle, lines && 1, isReported), line("body", body, lines, isReported)),
    element("div", { class: "when" }, "now"),
    badge === undefined ? null : element("div", { class: "badge" }, badge))
}

/** The texts and the badge of a notification. */
function texts(push) {
  const aps = push.payload?.aps ?? {}
  const badge = Number.isInteger(aps.badge) && aps.badge > 0 ? String(aps.badge) : undefined
  if (typeof aps.alert === "string") return { body: { text: aps.alert }, badge }
  const alert = aps.alert && typeof aps.alert === "object" ? aps.alert : {}
  const [title, subtitle, body] = ["title", "subtitle", "body"].map((name) => localizedText(alert, name, app(push)))
  return { title, subtitle, body, badge }
}

/** Messages about localization keys without a string, and about missing arguments. */
function missingStrings(push) {
  const { title, subtitle, body } = texts(push)
  return [title, subtitle, body].filter((each) => each?.missing)
    .map((each) => element("p", { class: "missing-string" }, each.missing))
}

function line(style, content, lines, isReported) {
  if (!content?.text) return null
  return element("div", {
    class: content.missing ? `${style} unresolved` : style, "data-name": isReported ? `${style[0].toUpperCase()}${style.slice(1)}` : null,
    "data-lines": lines || null,
  }, content.text)
}

function actions(push) {
  const category = push.payload?.aps?.category
  return typeof category === "string" && category
    ? element("div", { class: "actions" }, element("div", {}, `Actions of ${category}`)) : null
}

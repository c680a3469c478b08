// Notifications: on the Lock Screen, as a banner, expanded, and among others in Notification Center.

import { element } from "./dom.js"
import { app } from "./inbox.js"
import { clock, icon, statusBar } from "./preview-parts.js"
import { figure } from "./preview-screen.js"
import { wording } from "./strings.js"

/** Cards of a thread that are told one by one. */
const mostCards = 4

/** The previews of an alert; `thread` are the notifications beside it. */
export function notificationFigures(push, settings, thread) {
  return [
    ...missing(push),
    figure("Lock Screen", "lock", settings, [clock(), card(push, 4)]),
    bannerFigure(push, settings),
    figure("Expanded", "in-app", settings, [statusBar(), card(push, 0, "expanded"), actions(push)]),
    center(push, settings, thread),
  ]
}

/** A banner, which an update of a Live Activity that alerts is too on phones without an Island. */
export const bannerFigure = (push, settings) =>
  figure("Banner", "in-app", settings, [statusBar(), card(push, 2, "banner")])

/** How a group is in Notification Center: its newest on top, the next two behind it, then each by itself. */
function center(push, settings, thread) {
  const all = [push, ...thread].sort((one, other) => other.number - one.number)
  const behind = all.slice(1, 3).map((_, index) => element("div", { class: `behind behind-${index + 1}` }))
  const isAlone = all.length === 1
  const stack = element("div", { class: "stack" }, card(all[0], 4, "", isAlone), behind)
  const more = !isAlone ? element("div", { class: "more" }, `${all.length} notifications`) : null
  const cards = isAlone ? [] : near(all, push).map((each) =>
    element("div", { class: each === push ? "one this" : "one" }, card(each, 4, "", each === push)))
  const rest = all.length > mostCards ? element("div", { class: "more" }, `and ${all.length - mostCards} more`) : null
  const name = push.payload.aps["thread-id"]
  return figure("Notification Center", "center", settings, [
    element("div", { class: "heading" }, "Notification Center"), stack, more,
    isAlone ? null : element("div", { class: "open" }, element("div", { class: "heading opened" }, "Opened"), cards, rest),
  ], [isAlone ? "Alone: no other push of this app and thread is kept for this device."
    : `${all.length} of ${app(push)} ${name ? `in the thread ${name}` : "without a thread"} on this device.`])
}

/** A few notifications of a thread, among them this one. */
function near(all, push) {
  const first = all.slice(0, mostCards)
  return first.includes(push) ? first : [...first.slice(0, -1), push]
}

/** A notification with its body in so many lines, 0 for all of it; what is cut is told where it is asked for. */
function card(push, lines, style = "", isTold = true) {
  const { title, subtitle, body, badge } = words(push)
  return element("div", { class: `notification ${style}` },
    icon(push),
    element("div", { class: "text" },
      line("title", title ?? { text: app(push) }, lines && 1, isTold),
      line("subtitle", subtitle, lines && 1, isTold), line("body", body, lines, isTold)),
    element("div", { class: "when" }, "now"),
    badge === undefined ? null : element("div", { class: "badge" }, badge))
}

function words(push) {
  const aps = push.payload?.aps ?? {}
  const badge = Number.isInteger(aps.badge) && aps.badge > 0 ? String(aps.badge) : undefined
  if (typeof aps.alert === "string") return { body: { text: aps.alert }, badge }
  const alert = aps.alert && typeof aps.alert === "object" ? aps.alert : {}
  const [title, subtitle, body] = ["title", "subtitle", "body"].map((name) => wording(alert, name, app(push)))
  return { title, subtitle, body, badge }
}

/** What cannot be told in words. */
function missing(push) {
  const { title, subtitle, body } = words(push)
  return [title, subtitle, body].filter((each) => each?.missing).map((each) => element("p", { class: "no-words" },
    `No words for ${each.missing}: give the app's strings to PUT /api/v1/strings/${app(push)}/LANGUAGE.`))
}

function line(style, wording, lines, isTold) {
  if (!wording?.text) return null
  return element("div", {
    class: wording.missing ? `${style} unresolved` : style, "data-name": isTold ? `The ${style}` : null,
    "data-lines": lines || null,
  }, wording.text)
}

function actions(push) {
  const category = push.payload?.aps?.category
  return typeof category === "string" && category
    ? element("div", { class: "actions" }, element("div", {}, `Actions of ${category}`)) : null
}

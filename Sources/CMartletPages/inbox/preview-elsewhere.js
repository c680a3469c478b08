// SPDX-License-Identifier: Apache-2.0

// Previews of notifications beyond the phone's list: the Home Screen's badge, the summary, Apple Watch, CarPlay and Mac.

import { element } from "./dom.js"
import { app } from "./push.js"
import { card } from "./preview-card.js"
import { category } from "./preview-categories.js"
import { notification } from "./preview-notification.js"
import { appName, dayOf, glyph, homeIndicator, icon, lockScreen, part, statusBar, timeOf } from "./preview-parts.js"
import { figure } from "./preview-screen.js"

/** The other surfaces that show an alert. */
export const otherSurfaces = (push, settings, { thread = [] }) => [
  { title: "Home Screen", make: () => home(push, settings) },
  { title: "Summary", needsContext: true, make: () => summary(push, settings, thread) },
  { title: "Apple Watch", label: "Watch", make: () => watch(push, settings) },
  { title: "CarPlay", make: () => carPlay(push, settings) },
  { title: "Mac", make: () => mac(push, settings) },
]

/** Icons of a Home Screen, with the app's as the first; `badge` is the text of its badge. */
export function homeScreen(push, badge, rows) {
  const others = Array.from({ length: rows * 4 - 1 }, (_, index) =>
    element("div", { class: "cell", "aria-hidden": "true" }, element("div", { class: `icon other other-${index % 7}` }), element("i")))
  return element("div", { class: "grid" }, element("div", { class: "cell own" },
    icon(push), badge ? element("div", { class: "badge" }, badge) : null, element("span", {}, appName(push))), others)
}

function home(push, settings) {
  const { badge, facts } = notification(push)
  const dock = element("div", { class: "dock glass", "aria-hidden": "true" },
    [1, 4, 2, 6].map((index) => element("div", { class: `icon other other-${index}` })))
  return figure("Home Screen", "home phone", settings, [statusBar(push), homeScreen(push, badge, 4), dock, homeIndicator()], [`Badge: ${facts.Badge}.`])
}

/** The scheduled summary: the most relevant notification with its text, the others as lines. */
function summary(push, settings, thread) {
  const { level, relevance } = notification(push)
  const isImmediate = level === "time-sensitive" || level === "critical"
  const others = thread.slice(0, 3).map((each) => element("div", { class: "digest-row" }, icon(each),
    part("title", null, notification(each).title?.text ?? appName(each)), part("foot", null, notification(each).body?.text)))
  const digest = isImmediate ? card(push, 4) : element("div", { class: "digest glass" },
    element("div", { class: "digest-head" }, element("strong", {}, "Your Evening Summary"),
      element("span", {}, `${thread.length + 1} notification${thread.length ? "s" : ""}`)),
    card(push, 2, "featured"), others)
  return figure("Summary", "lock phone", settings, lockScreen(push, digest), [
    isImmediate ? `Not in the summary: ${level} notifications are delivered immediately.`
      : "Only if the user has put the app's notifications into a scheduled summary.",
    isImmediate ? null : relevance === undefined ? "aps.relevance-score is missing: the system alone decides which notification is on top."
      : `aps.relevance-score ${relevance}: the notification with the highest score of the app is on top.`,
  ])
}

/** Apple Watch: the short look, then the long look with the actions. */
function watch(push, settings) {
  const { title, subtitle, body, category: id, label, level } = notification(push)
  const known = id ? category(app(push), id) : undefined
  const head = title?.text ?? appName(push)
  return figure("Apple Watch", "watches", settings, [
    element("div", { class: "watch short" }, icon(push), part("title", "Title", head, 2), element("div", { class: "app" }, appName(push))),
    element("div", { class: "watch long" },
      element("div", { class: "sash" }, icon(push), element("span", { class: "app" }, appName(push)), element("span", {}, timeOf(push))),
      label ? element("div", { class: `label ${level}` }, label) : null,
      part("title", null, title?.text, 0), part("subtitle", null, subtitle?.text, 0), part("body", null, body?.text, 0),
      known?.actions.map((action) => element("div", { class: action.isDestructive ? "key destructive" : "key", dir: "auto" }, action.title)),
      element("div", { class: "key" }, "Dismiss")),
  ], ["Short look and long look, which scrolls. The notification goes to the watch only while the phone is locked and the watch is worn and unlocked."])
}

function carPlay(push, settings) {
  const { title, subtitle, body, category: id } = notification(push)
  const isAllowed = id && category(app(push), id)?.isInCarPlay
  const banner = element("div", { class: "car-banner" }, icon(push), element("div", { class: "text" },
    part("title", "Title", title?.text ?? appName(push)), part("subtitle", "Subtitle", subtitle?.text ?? (title ? undefined : body?.text))))
  const side = element("div", { class: "side", "aria-hidden": "true" }, element("span", {}, timeOf(push)), [3, 5, 0].map((index) =>
    element("div", { class: `icon other other-${index}` })))
  return figure("CarPlay", "car", settings, [side, element("div", { class: "map" }), isAllowed ? banner : null], [isAllowed
    ? "CarPlay also needs an app that Apple has approved for it."
    : `Not shown in CarPlay, unless the app allows it for the category${id ? ` ${id}` : "; aps.category is missing"}.`])
}

function mac(push, settings) {
  const bar = element("div", { class: "menu-bar", "aria-hidden": "true" }, element("span", {}, "Finder"), element("span", {}, "File"), element("span", {}, "Edit"),
    element("i"), glyph("wifi", 11), glyph("battery", 11), element("span", {}, `${dayOf(push)}  ${timeOf(push)}`))
  const isPassive = notification(push).level === "passive"
  return figure("Mac", "mac", settings, [bar, isPassive ? null : card(push, 4, "mac-banner")],
    [isPassive ? "No banner: the interruption level is passive." : "If the app also runs on the Mac, or the user shows the phone's notifications there."])
}

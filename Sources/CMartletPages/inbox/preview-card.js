// SPDX-License-Identifier: Apache-2.0

// Previews of notifications on iPhone: on the Lock Screen, as a banner, expanded, and in Notification Center.

import { element } from "./dom.js"
import { app } from "./push.js"
import { category } from "./preview-categories.js"
import { homeScreen } from "./preview-elsewhere.js"
import { notification } from "./preview-notification.js"
import { appName, glyph, homeIndicator, icon, lockScreen, part, statusBar } from "./preview-parts.js"
import { figure } from "./preview-screen.js"

/** The maximum number of notifications of a thread that are shown individually. */
const maximumCards = 4

/** The surfaces of iPhone that show an alert. `needsContext` marks those that show other pushes. */
export const phoneSurfaces = (push, settings, { thread = [] }) => [
  { title: "Lock Screen", make: () => figure("Lock Screen", "lock phone", settings, lockScreen(push, card(push, 4)), lockNotes(push)) },
  bannerSurface(push, settings),
  { title: "Expanded", make: () => expanded(push, settings) },
  { title: "Notification Center", label: "Center", needsContext: true, make: () => center(push, settings, thread) },
]

const lockNotes = (push) => (notification(push).level === "passive"
  ? ["The screen stays dark. The notification is there when the phone is next woken."] : [])

/** A banner; devices without a Dynamic Island also show one for Live Activity updates with an alert. */
export const bannerSurface = (push, settings) => ({
  title: "Banner",
  make: () => {
    const isPassive = notification(push).level === "passive"
    return figure("Banner", "home top", settings, [statusBar(push), isPassive ? null : card(push, 2, "banner"), homeScreen(push, null, 2)], [isPassive
      ? "No banner: the interruption level is passive. The notification is only added to the list."
      : "While the app itself is open, it decides whether a banner appears."])
  },
})

function expanded(push, settings) {
  const { category: id, attachments, isMutable } = notification(push)
  const known = id ? category(app(push), id) : undefined
  const shown = known?.actions.slice(0, maximumCards) ?? []
  return figure("Expanded", "lock focused", settings, [
    element("div", { class: "backdrop" }), statusBar(push, true), card(push, 0, "expanded"),
    id ? element("div", { class: "actions glass" }, known
      ? shown.map(({ title, isDestructive }) => element("div", { class: isDestructive ? "destructive" : null, dir: "auto" }, title))
      : element("div", { class: "unknown" }, `Actions of ${id}`)) : null,
    homeIndicator(),
  ], [
    id && !known ? `The app names the actions of ${id}.` : null,
    known && known.actions.length === 0 ? `The category ${id} has no actions.` : null,
    known && known.actions.length > maximumCards ? `iOS shows the first ${maximumCards} of ${known.actions.length} actions.` : null,
    id ? "If the app has a notification content extension for this category, the app draws its own interface here." : null,
    attachments.length && !isMutable ? "Without aps.mutable-content the app cannot attach files." : null,
  ])
}

/** A group in Notification Center: collapsed, with the newest on top and two behind it, then expanded. */
function center(push, settings, thread) {
  const all = [push, ...thread].sort((one, other) => other.number - one.number)
  const behind = all.slice(1, 3).map((_, index) => element("div", { class: `behind behind-${index + 1}` }))
  const isAlone = all.length === 1
  const stack = element("div", { class: "stack" }, card(all[0], 4, "", isAlone), behind)
  const cards = isAlone ? [] : excerpt(all, push).map((each) =>
    element("div", { class: each === push ? "one this" : "one" }, card(each, 4, "", each === push)))
  const rest = all.length > maximumCards ? element("div", { class: "more" }, `and ${all.length - maximumCards} more`) : null
  const name = notification(push).thread
  return figure("Notification Center", "lock center", settings, [
    statusBar(push),
    element("div", { class: "heading" }, "Notification Center"), stack,
    isAlone ? null : element("div", { class: "open" }, element("div", { class: "heading opened" }, appName(push)), cards, rest),
    homeIndicator(),
  ], [isAlone ? "No other stored push to this device has this app and thread."
    : `${all.length} notifications of ${app(push)} ${name ? `in thread ${name}` : "without a thread"} on this device.`])
}

/** The newest notifications of a thread, with this one among them. */
function excerpt(all, push) {
  const first = all.slice(0, maximumCards)
  return first.includes(push) ? first : [...first.slice(0, -1), push]
}

/** A notification whose body has at most `lines` lines, 0 for no limit; `isReported` lists truncated text below. */
export function card(push, lines, style = "", isReported = true) {
  const { title, subtitle, body, label, level, attachments, sender, isMutable } = notification(push)
  const file = isMutable ? attachments[0] : undefined
  const isMessage = isMutable && sender
  const large = lines === 0 && file
  return element("div", { class: `notification glass ${style}` },
    isMessage ? element("div", { class: "sender" }, element("div", { class: "avatar" }, initials(sender.name)), icon(push)) : icon(push),
    element("div", { class: "text" },
      label ? element("div", { class: `label ${level}` }, level === "critical" ? glyph("critical", 11) : null, label) : null,
      text("title", isMessage ? { ...title, text: sender.name } : title ?? { text: appName(push) }, lines && 1, isReported),
      text("subtitle", isMessage ? title : subtitle, lines && 1, isReported), text("body", body, lines, isReported)),
    element("div", { class: "when" }, "now"),
    file && !large ? element("div", { class: `thumbnail ${file.type}` }, glyph(file.type, 14)) : null,
    large ? element("div", { class: `attachment ${file.type}` }, glyph(file.type, 34), element("span", { dir: "auto" }, file.name)) : null)
}

const initials = (name) => [...new Intl.Segmenter(undefined, { granularity: "word" }).segment(name)].filter(({ isWordLike }) => isWordLike)
  .map(({ segment }) => [...segment][0].toUpperCase()).slice(0, 2).join("") || "?"

function text(style, content, lines, isReported) {
  if (!content?.text) return null
  return part(content.missing ? `${style} unresolved` : style, isReported ? style[0].toUpperCase() + style.slice(1) : null, content.text, lines)
}

// SPDX-License-Identifier: Apache-2.0

// Previews of notifications on every surface of iPhone, on Apple Watch, in CarPlay and on a Mac.

import { element } from "./dom.js"
import { app } from "./push.js"
import { category } from "./preview-categories.js"
import { centerTitle, dayOf, now, numberOf, summaryTitle, timeOf } from "./preview-language.js"
import { notification } from "./preview-notification.js"
import { picture } from "./preview-pictures.js"
import { appName, box, glyph, homeIndicator, icon, lockScreen, part, statusBar } from "./preview-parts.js"
import { surface } from "./preview-screen.js"
import { textWidth } from "./preview-text.js"
import { counted } from "./texts.js"

/** The maximum number of notifications of a thread, and of actions, that are shown individually. */
const maximumCards = 4
const noBanner = "No banner: the interruption level is passive. The notification is only added to the list."

/** The surfaces of iPhone that show an alert. */
export function phoneSurfaces(push, { thread = [] }) {
  const all = [push, ...thread].sort((one, other) => other.number - one.number)
  const { level, thread: name } = notification(push)
  return [
    surface("Lock Screen", "lock phone", () => lockScreen(push, card(push, 4)), {
      notes: () => [level === "passive" && "The screen stays dark. The notification is there when the phone is next woken."],
    }),
    bannerSurface(push),
    surface("Expanded", "lock focused", () => expanded(push), { notes: () => expandedNotes(push) }),
    surface("Notification Center", "lock center", (redraw) => center(push, all, redraw), {
      label: "Center", needsContext: true,
      notes: () => [all.length === 1 ? "No other stored push to this device has this app and thread."
        : `${counted(all.length, "notification")} of ${app(push)} ${name ? `in thread ${name}` : "without a thread"} on this device.`],
    }),
  ]
}

/** A banner; devices without a Dynamic Island also show one for Live Activity updates with an alert. */
export function bannerSurface(push) {
  const isPassive = notification(push).level === "passive"
  return surface("Banner", "home top", () => [statusBar(push), isPassive ? null : card(push, 2, "banner"), homeScreen(push, null, 2)], {
    notes: () => [isPassive ? noBanner
      : "While the app itself is open, it decides whether a banner appears."],
  })
}

const categoryOf = (push, { category: id } = notification(push)) => [id, id && category(app(push), id)]

function expanded(push) {
  const [id, known] = categoryOf(push)
  return [
    box("backdrop"), statusBar(push, true), card(push, 0, "expanded"),
    id ? box("actions glass", known
      ? known.actions.slice(0, maximumCards).map(actionRow("")) : box("unknown", `Actions of ${id}`)) : null,
    homeIndicator(),
  ]
}

/** The button of an action, as a function of the action. */
const actionRow = (style) => ({ title, isDestructive }) =>
  element("div", { class: isDestructive ? `${style} destructive` : style, dir: "auto" }, title)

function expandedNotes(push) {
  const [id, known] = categoryOf(push)
  if (!id) return []
  const count = known?.actions.length
  return [
    known ? null : `The app names the actions of ${id}.`, count === 0 && `The category ${id} has no actions.`,
    count > maximumCards && `iOS shows the first ${maximumCards} of ${count} actions.`,
    "If the app has a notification content extension for this category, the app draws its own interface here.",
  ]
}

/** The group of Notification Center that the user has opened, as its push. */
let opened

/** A group in Notification Center: a stack with the newest on top and two behind it, which a click opens and closes. */
function center(push, all, redraw) {
  const isOpen = opened === push
  const toggle = all.length > 1 ? element("button", {
    class: "toggle", "aria-expanded": String(isOpen), "aria-label": `${isOpen ? "Stack" : "Show"} the ${counted(all.length, "notification")}`,
    onclick: () => {
      opened = isOpen ? undefined : push
      redraw()
    },
  }) : null
  return [
    statusBar(push), box("heading", centerTitle()),
    isOpen ? box("open", box("heading", appName(push), toggle),
      excerpt(all, push).map((each) => box(`one ${each === push ? "this" : ""}`, card(each, 4, "", each === push))),
      all.length > maximumCards ? box("more", `+${numberOf(all.length - maximumCards)}`) : null)
      : box("stack", card(all[0], 4, "", all[0] === push), all.slice(1, 3).map((_, index) => box(`behind behind-${index + 1}`)), toggle),
    homeIndicator(),
  ]
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
  const text = (kind, content, most) => part(content?.missing ? `${kind} unresolved` : kind,
    isReported ? kind[0].toUpperCase() + kind.slice(1) : null, content?.text, most)
  const made = box(`notification glass ${style}`,
    isMessage ? box("sender", box("avatar", initials(sender.name)), icon(push)) : icon(push),
    box("text",
      label ? box(`label ${level}`, label) : null,
      text("title", isMessage ? { ...title, text: sender.name } : title ?? { text: appName(push) }, lines && 1),
      text("subtitle", isMessage ? title : subtitle, lines && 1), text("body", body, lines)),
    box("when", now()),
    file && !(lines && file.isHidden) ? box(lines ? "thumbnail" : "attachment", media(file, lines)) : null)
  // The first line ends before the age.
  made.style.setProperty("--when", textWidth(now()))
  return made
}

/** The picture of a file, or a symbol in place of a file that the user has not chosen. */
const media = (file, lines) => picture(file.url)
  ?? [glyph(file.type === "image" ? "image" : "video", lines ? 14 : 34), lines ? null : element("span", { dir: "auto" }, file.name)]

const initials = (name) => name.split(/\s+/).map((word) => [...word][0]?.toUpperCase() ?? "").slice(0, 2).join("")

/** The other surfaces that show an alert. */
export function otherSurfaces(push, { thread = [] }) {
  const { badge, facts, level, relevance, category: id } = notification(push)
  const known = id ? category(app(push), id) : undefined
  const isImmediate = level === "time-sensitive" || level === "critical"
  return [
    surface("Home Screen", "home phone", () => [statusBar(push), homeScreen(push, badge, 3), dock()],
      { notes: () => [facts.Badge] }),
    surface("Summary", "lock phone", () => lockScreen(push, isImmediate ? card(push, 4) : digest(push, thread)), {
      needsContext: true,
      notes: () => (isImmediate ? [`Not in the summary: ${level} notifications are delivered immediately.`]
        : ["Only if the user has put the app's notifications into a scheduled summary.", relevance === undefined
          ? "aps.relevance-score is missing: the system alone decides which notification is on top."
          : `aps.relevance-score ${relevance}: the notification with the highest score of the app is on top.`]),
    }),
    surface("Apple Watch", "watches", () => watch(push, known), {
      label: "Watch", notes: () => ["Short look and long look, which scrolls; only while the phone is locked and the watch is worn and unlocked."],
    }),
    surface("CarPlay", "car", () => dashboard(push, known?.isInCarPlay ? carBanner(push) : null), { notes: () => [known?.isInCarPlay ? "CarPlay also needs an app that Apple has approved for it."
      : `Not shown in CarPlay, unless the app allows it for the category${id ? ` ${id}` : "; aps.category is missing"}.`] }),
    surface("Mac", "mac", () => [menuBar(push), level === "passive" ? null : card(push, 4)], { notes: () => [level === "passive" ? noBanner : "If the app also runs on the Mac, or the user shows the phone's notifications there."] }),
  ]
}

/** CarPlay's Dashboard with a card over its map. */
export const dashboard = (push, content) => [box("side", timeOf(push), [3, 5, 0].map(other)), box("map"), content]

/** The menu bar of a Mac, with more content beside its symbols. */
export const menuBar = (push, content = null) =>
  box("menu-bar", element("b", {}, "Finder"), content, glyph("wifi"), glyph("battery"), `${dayOf(push)}  ${timeOf(push)}`)

/** The icon of another app. */
function other(index) {
  const made = box("icon other")
  made.style.setProperty("--hue", (index % 7) * 53 + 150)
  return made
}
const dock = () => box("dock glass", [1, 4, 2, 6].map(other))

/** Icons of a Home Screen, with the app's as the first; `badge` is the text of its badge. */
export const homeScreen = (push, badge, rows) => box("grid",
  box("cell own", icon(push), badge ? box("badge", badge) : null, element("span", {}, appName(push))),
  Array.from({ length: rows * 4 - 1 }, (_, index) => box("cell", other(index), element("i"))))

/** The scheduled summary: the most relevant notification with its text, the others as lines. */
const digest = (push, thread) => box("digest glass",
  box("digest-head", element("strong", {}, summaryTitle()), element("span", {}, numberOf(thread.length + 1))),
  card(push, 2), thread.slice(0, 3).map((each) => box("digest-row", icon(each),
    part("title", null, notification(each).title?.text ?? appName(each)), part("foot", null, notification(each).body?.text))))

/** Apple Watch: the short look, then the long look with the actions. */
function watch(push, known) {
  const { title, subtitle, body, label } = notification(push)
  return [
    box("watch short", icon(push), part("title", "Title", title?.text ?? appName(push), 2), box("app", appName(push))),
    box("watch long",
      box("sash", icon(push), element("span", { class: "app" }, appName(push)), timeOf(push)),
      label ? box("label", label) : null,
      part("title", null, title?.text, 0), part("subtitle", null, subtitle?.text, 0), part("body", null, body?.text, 0),
      known?.actions.map(actionRow("key")), box("key", "Dismiss")),
  ]
}

function carBanner(push) {
  const { title, subtitle, body } = notification(push)
  return box("car-card", icon(push), box("text",
    part("title", "Title", title?.text ?? appName(push)), part("subtitle", "Subtitle", subtitle?.text ?? (title ? undefined : body?.text))))
}

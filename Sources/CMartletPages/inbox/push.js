// SPDX-License-Identifier: Apache-2.0

// Names for a push: its kind, its headline, its app and its device.

import { pushTypes } from "./push-types.js"
import { localizedText } from "./strings.js"

/** The suffixes of topics, the longest first. */
const suffixes = Object.values(pushTypes).map(({ topicSuffix }) => topicSuffix).filter(Boolean)
  .sort((left, right) => right.length - left.length)

/** The bundle identifiers of the topics seen so far, because the list asks for them very often. */
const apps = new Map()

/**
 * The kind of a push: its push type, with separate names for broadcasts, Live Activities, updates of Wallet passes, silent
 * alerts, and alerts that only have a badge or a sound.
 */
export function kind(push) {
  if (push.channel !== undefined) return "broadcast"
  const type = push.headers["apns-push-type"] ?? "alert"
  if (type === "liveactivity") return "activity"
  if (push["wallet-pass"]) return "pass"
  if (type !== "alert") return type
  if (push.payload?.aps?.alert !== undefined) return "alert"
  return push.effects ? "badge" : "silent"
}

/** The names of the push types, and of the kinds that are not push types. */
const typeNames = {
  alert: "Alert", background: "Background", liveactivity: "Live Activity", voip: "VoIP", mdm: "MDM", fileprovider: "File Provider",
  pushtotalk: "Push to Talk", location: "Location", complication: "Complication", widgets: "Widgets", controls: "Controls", accessory: "Accessory",
  activity: "Live Activity", broadcast: "Broadcast", silent: "Silent alert", pass: "Wallet pass", badge: "Badge or sound", "": "Empty push type",
}

/** The name of a push type or of a kind; an unknown one is its own name. */
export const typeName = (type) => (Object.hasOwn(typeNames, type) ? typeNames[type] : type)

/** The title of a push in the list. */
export function headline(push) {
  const aps = push.payload?.aps
  const alert = aps?.alert
  if (typeof alert === "string" && alert) return alert
  const found = alert && typeof alert === "object"
    && (localizedText(alert, "title", app(push)) ?? localizedText(alert, "body", app(push)))
  if (found?.text) return found.missing ? `⟨${found.text}⟩` : found.text
  const snapshot = push.payload?.surfaceSnapshot
  const title = snapshot?.[snapshot.kind]?.title ?? snapshot?.[snapshot.kind]?.label
  if (typeof title === "string" && title) return `${title} (${snapshot.kind})`
  const state = aps?.["content-state"]
  const stateTitle = state && (state.headline ?? state.title ?? state.status)
  if (typeof stateTitle === "string" && stateTitle) return stateTitle
  const values = stateText(push)
  if (values) return values
  if (push.effects) return push.effects.map((text, index) => (index ? text : text[0].toUpperCase() + text.slice(1))).join(", ")
  if (typeof aps?.event === "string") return `${aps.event} ${push.payload.aps["attributes-type"] ?? "activity"}`
  return kind(push) === "silent" ? "Alert without text" : kind(push) === "" ? typeName("") : `${typeName(kind(push))} push`
}

/** The maximum number of values of a content state in a text. */
const maximumValues = 4

/** The values of a content state as text, without those that are objects and without `shown`; empty if there are none. */
function stateText(push, shown = null) {
  const state = push.payload?.aps?.["content-state"]
  return Object.entries(state !== null && typeof state === "object" ? state : {}).filter(([, value]) => ["string", "number", "boolean"].includes(typeof value) && value !== "" && value !== shown)
    .slice(0, maximumValues).map(([name, value]) => `${name}: ${value}`).join(", ")
}

/** The text below the title in the list: the start of an alert's body, or the event and the content state of an activity. */
export function excerpt(push) {
  const { alert, event } = Object(push.payload?.aps)
  const title = headline(push)
  const parts = ["body", "subtitle"].map((name) => (alert && typeof alert === "object" ? localizedText(alert, name, app(push))?.text : undefined))
    .filter((text) => text && text !== title)
  if (!parts.length && ["activity", "broadcast"].includes(kind(push))) {
    const state = stateText(push, title)
    if (typeof event === "string" && !title.startsWith(`${event} `)) parts.push(event)
    if (state && state !== title) parts.push(state)
    return parts.join(" · ").slice(0, maximumExcerpt)
  }
  return (parts[0] ?? "").slice(0, maximumExcerpt)
}

/** The maximum number of characters of a text below the title. */
const maximumExcerpt = 200

/** The app's bundle identifier. */
export function app(push) {
  const topic = push.app ?? push.headers["apns-topic"] ?? "no topic"
  const known = apps.get(topic)
  if (known !== undefined) return known
  const suffix = suffixes.find((suffix) => topic.endsWith(suffix)) ?? ""
  const found = topic.slice(0, topic.length - suffix.length)
  if (apps.size > 1000) apps.clear()
  apps.set(topic, found)
  return found
}

/** A device token or another long identifier, shortened. */
export const short = (text) => (text.length > 20 ? `${text.slice(0, 8)}…${text.slice(-4)}` : text)

/** The nickname or the shortened token of the device, or the channel of a broadcast. */
export function destination(push) {
  if (push.channel !== undefined) return `channel ${short(push.channel)}`
  return push["device-name"] ?? short(push["device-token"] ?? "")
}

/** A colour that depends on the bundle identifier; all are equally light, so that the white icon has contrast. */
export function appColour(app) {
  let hash = 7
  for (let index = 0; index < app.length; index += 1) hash = (hash * 31 + app.charCodeAt(index)) >>> 0
  // Multiplying by the golden ratio spreads similar identifiers over the whole circle.
  return `oklch(0.52 0.13 ${Math.round((hash * 0.618034) % 1 * 360)})`
}

/** The findings about the client rather than the push; they would mark almost every row. */
const clientRules = new Set(["connection-per-push"])

/** The highest severity of the findings about the push itself: error, warning, or null. */
export function severity({ findings }) {
  const own = findings.filter(({ rule }) => !clientRules.has(rule))
  if (own.length === 0) return null
  return own.some((finding) => finding.severity === "error") ? "error" : "warning"
}

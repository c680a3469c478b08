// SPDX-License-Identifier: Apache-2.0

// Names for a push: its kind, its headline and its app.

import { pushTypes } from "./push-types.js"
import { localizedText } from "./strings.js"

/** The suffixes of topics, the longest first. */
const suffixes = Object.values(pushTypes).map(({ topicSuffix }) => topicSuffix).filter(Boolean)
  .sort((left, right) => right.length - left.length)

/** The kind of a push: its push type, with separate names for broadcasts, Live Activities and silent alerts. */
export function kind(push) {
  if (push.channel !== undefined) return "broadcast"
  const type = push.headers["apns-push-type"] ?? "alert"
  if (type === "liveactivity") return "activity"
  if (type !== "alert") return type
  return push.payload?.aps?.alert === undefined ? "silent" : "alert"
}

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
  if (typeof aps?.event === "string") return `${aps.event} ${push.payload.aps["attributes-type"] ?? "activity"}`
  return kind(push)
}

/** The app's bundle identifier. */
export function app(push) {
  const topic = push.app ?? push.headers["apns-topic"] ?? "no topic"
  const suffix = suffixes.find((suffix) => topic.endsWith(suffix)) ?? ""
  return topic.slice(0, topic.length - suffix.length)
}

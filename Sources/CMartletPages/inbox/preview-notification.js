// SPDX-License-Identifier: Apache-2.0

// What a notification's payload means for the phone: texts, sound, badge, interruption level, sender and attachments.

import { app } from "./push.js"
import { localizedText } from "./strings.js"

const levels = {
  passive: { fact: "passive: only in the list, the screen stays dark" },
  active: { fact: "active: lights the screen" },
  "time-sensitive": { label: "Time Sensitive", fact: "time-sensitive: also during a Focus and outside the summary, if the app has the capability" },
  critical: { label: "Critical", fact: "critical: also when muted and during every Focus, if Apple has granted the entitlement" },
}
/** The maximum number of attachments, and the depth of the members that are searched for them. */
const [maximumAttachments, maximumDepth] = [4, 5]
const types = {
  image: /\.(jpe?g|png|gif|heic|webp)$/i, video: /\.(mp4|m4v|mov|mpe?g|avi)$/i, audio: /\.(mp3|m4a|wav|aiff?|caf)$/i,
}
const typeNames = { image: /image|photo|picture|thumb|gif|icon|avatar/i, video: /video|movie/i, audio: /audio|voice/i }
const attachmentName = /attachment|media|image|photo|picture|thumb|video|audio|gif/i
const senderName = /^(sender|from|author)(-?_?name)?$/i

const isObject = (value) => value !== null && typeof value === "object"

/** The content of a notification, as the phone reads it. */
export function notification(push) {
  const aps = isObject(push.payload?.aps) ? push.payload.aps : {}
  const alert = isObject(aps.alert) ? aps.alert : {}
  const [title, subtitle, body] = typeof aps.alert === "string" ? [null, null, { text: aps.alert }]
    : ["title", "subtitle", "body"].map((name) => localizedText(alert, name, app(push)))
  const given = aps["interruption-level"]
  const level = typeof given === "string" && Object.hasOwn(levels, given) ? given : "active"
  const isMutable = aps["mutable-content"] === 1
  const more = Object.fromEntries(Object.entries(isObject(push.payload) ? push.payload : {}).filter(([name]) => name !== "aps"))
  return {
    title, subtitle, body, level, label: levels[level].label,
    missing: [title, subtitle, body].flatMap((each) => each?.missing ?? []),
    badge: Number.isInteger(aps.badge) && aps.badge > 0 ? String(aps.badge) : undefined,
    category: typeof aps.category === "string" && aps.category ? aps.category : undefined,
    thread: typeof aps["thread-id"] === "string" ? aps["thread-id"] : undefined,
    relevance: typeof aps["relevance-score"] === "number" ? aps["relevance-score"] : undefined,
    isMutable, sender: sender(more), attachments: attachments(more),
    facts: { Interruption: levelFact(given), Sound: soundFact(aps.sound, level), Badge: badgeFact(aps.badge) },
  }
}

function levelFact(given) {
  if (given === undefined) return "active (aps.interruption-level is missing)"
  return Object.hasOwn(levels, given) ? levels[given].fact : `active: ${JSON.stringify(given)} is not a level`
}

function soundFact(sound, level) {
  if (sound === undefined) return "No sound: aps.sound is missing"
  const { name, critical, volume } = isObject(sound) ? sound : { name: sound }
  if (typeof name !== "string" || !name) return `No sound: aps.sound ${name === "" ? "is empty" : "has no name"}`
  if (critical === 1) {
    const share = typeof volume === "number" && volume >= 0 && volume <= 1 ? Math.round(volume * 100) : 100
    return `Plays: ${name} at ${share} % of the volume, even when muted`
  }
  if (level === "passive") return "No sound: the interruption level is passive"
  return name === "default" ? "Plays: default" : `Plays: ${name} of the app, or the default sound if the app lacks it`
}

function badgeFact(badge) {
  if (badge === undefined) return "Unchanged: aps.badge is missing"
  if (!Number.isInteger(badge) || badge < 0) return `Unchanged: ${JSON.stringify(badge)} is not a whole number`
  return badge === 0 ? "Removed (0)" : String(badge)
}

/** The person who sends a message, from members beside `aps`; null if there is none. */
function sender(members) {
  for (const [name, value] of Object.entries(members)) {
    if (!senderName.test(name)) continue
    const text = isObject(value) ? value.name ?? value.displayName ?? value["display-name"] : value
    if (typeof text === "string" && text.trim()) return { name: text.trim(), place: `payload/${name}` }
  }
  return null
}

/** The files that members beside `aps` name by a URL: {name, type, place}. None of them is ever loaded. */
function attachments(members) {
  const found = []
  const visit = (value, names) => {
    if (found.length === maximumAttachments || names.length > maximumDepth) return
    if (isObject(value)) {
      for (const [name, each] of Object.entries(value)) visit(each, [...names, name])
      return
    }
    const file = typeof value === "string" ? fileOf(value, names) : null
    if (file) found.push({ ...file, place: `payload/${names.join("/")}` })
  }
  visit(members, [])
  return found
}

function fileOf(text, names) {
  if (!/^(https?|file):\/\//i.test(text)) return null
  let path
  try { path = new URL(text).pathname } catch { return null }
  const named = names.join(".")
  if (names.some((name) => senderName.test(name) || /avatar/i.test(name))) return null
  const byFile = Object.keys(types).find((type) => types[type].test(path))
  if (!byFile && !attachmentName.test(named)) return null
  const byName = Object.keys(typeNames).find((type) => typeNames[type].test(named))
  let name = path.split("/").pop()
  try { name = decodeURIComponent(name) } catch { /* The name stays as it was sent. */ }
  return { name: (name || "attachment").slice(0, 60), type: byFile ?? byName ?? "image" }
}

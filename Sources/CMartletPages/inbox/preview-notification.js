// SPDX-License-Identifier: Apache-2.0

// What a notification's payload means for the phone: texts, sound, badge, interruption level, sender and attachments.

import { app } from "./push.js"
import { localizedText } from "./strings.js"

const levels = {
  passive: { fact: "passive: only in the list, the screen stays dark" },
  active: { fact: "active: lights the screen" },
  "time-sensitive": { label: "Time Sensitive", fact: "time-sensitive: also during a Focus, if the app has the capability" },
  critical: { label: "Critical", fact: "critical: also when muted and during a Focus, if Apple has granted the entitlement" },
}
/** The maximum number of attachments, and the depth of the members that are searched for them. */
const [maximumAttachments, maximumDepth] = [4, 5]
const types = {
  image: /\.(jpe?g|png|gif|heic|webp)$/i, video: /\.(mp4|m4v|mov|mpe?g|avi)$/i, audio: /\.(mp3|m4a|wav|aiff?|caf)$/i,
}
/** Apple's identifiers of types, in `liveSurface.attachments`. */
const snapshotTypes = {
  video: ["public.mpeg", "public.mpeg-2-video", "public.mpeg-4", "public.avi"],
  audio: ["public.aiff-audio", "com.microsoft.waveform-audio", "public.mp3", "public.mpeg-4-audio"],
}
const attachmentName = /attachment|media|image|photo|picture|thumb|video|audio|gif/i
const senderName = /^(sender|from|author)(-?_?name)?$/i
const isObject = (value) => value !== null && typeof value === "object"

/** The content of a notification, as the phone reads it. */
export function notification(push) {
  const { aps: given, ...more } = isObject(push.payload) ? push.payload : {}
  const aps = isObject(given) ? given : {}
  const alert = isObject(aps.alert) ? aps.alert : {}
  const [title, subtitle, body] = typeof aps.alert === "string" ? [null, null, { text: aps.alert }]
    : ["title", "subtitle", "body"].map((name) => localizedText(alert, name, app(push)))
  const named = aps["interruption-level"]
  const isCritical = aps.sound?.critical === 1 && named !== "passive"
  const level = isCritical ? "critical" : typeof named === "string" && Object.hasOwn(levels, named) ? named : "active"
  const text = (name) => (typeof aps[name] === "string" && aps[name] ? aps[name] : undefined)
  return {
    title, subtitle, body, level, label: levels[level].label,
    missing: [title, subtitle, body].flatMap((each) => each?.missing ?? []), isLocalized: Object.keys(alert).some((name) => name.endsWith("loc-key")),
    badge: Number.isInteger(aps.badge) && aps.badge > 0 ? String(aps.badge) : undefined,
    category: text("category"), thread: text("thread-id"),
    relevance: typeof aps["relevance-score"] === "number" ? aps["relevance-score"] : undefined,
    isMutable: aps["mutable-content"] === 1, sender: sender(more), attachments: attachments(more),
    facts: { Interruption: levelFact(named, level), Sound: soundFact(aps.sound, level), Badge: badgeFact(aps.badge) },
  }
}

function levelFact(given, level) {
  if (given === undefined && level === "active") return "active (aps.interruption-level is missing)"
  return given === level || level === "critical" ? levels[level].fact : `active: ${JSON.stringify(given)} is not a level`
}

function soundFact(sound, level) {
  if (sound === undefined) return "No sound: aps.sound is missing"
  const { name = "default", critical, volume } = isObject(sound) ? sound : { name: sound }
  if (typeof name !== "string" || !name) return `No sound: aps.sound ${name === "" ? "is empty" : "is not a name"}`
  if (volume === 0) return "No sound: aps.sound.volume is 0"
  if (level === "passive") return "No sound: the interruption level is passive"
  if (critical === 1) return `Plays: ${name} at ${Math.round((volume >= 0 && volume <= 1 ? volume : 1) * 100)} % of the volume, even when muted`
  return name === "default" ? "Plays: default" : `Plays: ${name} of the app, or the default sound if the app lacks it`
}

function badgeFact(badge) {
  if (badge === undefined) return "Unchanged: aps.badge is missing"
  if (!Number.isInteger(badge) || badge < 0) return `Unchanged: ${JSON.stringify(badge)} is not a whole number`
  return badge === 0 ? "Removed (0)" : String(badge)
}

/** The person who sends a message, from members beside `aps`; undefined if there is none. */
const sender = (members) => Object.entries(members).filter(([name]) => senderName.test(name))
  .map(([name, value]) => ({ name: isObject(value) ? value.name ?? value.displayName : value, place: `payload/${name}` }))
  .find(({ name }) => typeof name === "string" && name.trim())

/** The files that members beside `aps` name by a URL: {name, type, url, place, isHidden}. None of them is ever loaded. */
function attachments(members) {
  const found = []
  const visit = (value, names) => {
    if (found.length === maximumAttachments || names.length > maximumDepth) return
    if (isObject(value)) for (const [name, each] of Object.entries(value)) visit(each, [...names, name])
    const file = typeof value === "string" && /^(https?|file|appgroup):\/\//i.test(value) ? fileOf(value, names.join("/")) : null
    if (file) found.push({ ...file, url: value, place: `payload/${names.join("/")}` })
  }
  const described = members.liveSurface?.attachments
  if (Array.isArray(described)) return described.slice(0, maximumAttachments).map(ofSnapshot).filter(Boolean)
  visit(members, [])
  return found
}

/** The file of an attachment of a snapshot, whose type is Apple's identifier. */
function ofSnapshot(each, index) {
  const { url, type, thumbnail } = Object(each)
  const name = lastComponent(url)
  const kind = Object.keys(snapshotTypes).find((kind) => snapshotTypes[kind].includes(type)) ?? "image"
  return name && { name, type: kind, url, place: `payload/liveSurface/attachments/${index}`, isHidden: thumbnail?.hidden === true }
}

function fileOf(text, place) {
  const name = lastComponent(text)
  const type = Object.keys(types).find((each) => types[each].test(name))
  if (!name || /^(sender|from|author)\b|avatar/i.test(place) || (!type && !attachmentName.test(place))) return null
  return { name, type: type ?? /video|audio/i.exec(place)?.[0].toLowerCase() ?? "image" }
}

/** The last component of the path of a URL; null if the text is not a URL. */
function lastComponent(text) {
  try {
    return (decodeURIComponent(new URL(text).pathname).split("/").pop() || "attachment").slice(0, 60)
  } catch {
    return null
  }
}

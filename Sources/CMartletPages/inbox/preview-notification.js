// SPDX-License-Identifier: Apache-2.0

// The content of a notification for its previews: texts, sender and attachments from the payload, and level, sound and badge
// as the simulator presents them.

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

/** The content of a notification, as the phone reads it; `push` has the `presentation` of the simulator. */
export function notification(push) {
  const { aps: given, ...more } = isObject(push.payload) ? push.payload : {}
  const aps = isObject(given) ? given : {}
  const alert = isObject(aps.alert) ? aps.alert : {}
  const [title, subtitle, body] = typeof aps.alert === "string" ? [null, null, { text: aps.alert }]
    : ["title", "subtitle", "body"].map((name) => localizedText(alert, name, app(push)))
  const { level, sound, badge } = push.presentation ?? {}
  const text = (name) => (typeof aps[name] === "string" && aps[name] ? aps[name] : undefined)
  return {
    title, subtitle, body, level: level?.text, label: levels[level?.text]?.label,
    missing: [title, subtitle, body].flatMap((each) => each?.missing ?? []), isLocalized: Object.keys(alert).some((name) => name.endsWith("loc-key")),
    badge: badge?.number ? String(badge.number) : undefined,
    category: text("category"), thread: text("thread-id"),
    relevance: typeof aps["relevance-score"] === "number" ? aps["relevance-score"] : undefined,
    isMutable: aps["mutable-content"] === 1, sender: sender(more), attachments: attachments(more),
    facts: { Interruption: words(level, levels[level?.text]?.fact), Sound: words(sound), Badge: words(badge) },
  }
}

/** A part of the presentation in words, with its cause; undefined for a push without it. */
const words = (part, text = part?.text) => part && (part.cause ? `${text} (${part.cause})` : text)

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

// SPDX-License-Identifier: Apache-2.0

// The delivery result of a push: the kinds of verdicts with their labels, tones and icons.

import { element } from "./dom.js"
import { icon } from "./icons.js"
import { severity } from "./push.js"
import { minuteTime } from "./texts.js"

/** The label, the tone and the icon of each kind. */
const kinds = {
  shown: ["Shown", "good", "shown"], delivered: ["Delivered", "good", "check"], replaced: ["Replaced", "", "replaced"],
  ended: ["Ended", "", "check"], stored: ["Stored", "warning", "stored"], "not-shown": ["Not shown", "bad", "hidden"],
  discarded: ["Discarded", "bad", "trash"], refused: ["Refused", "bad", "error"], unanswered: ["No answer", "bad", "warning"],
}

/** The label of a kind. */
export const verdictLabel = (kind) => kinds[kind]?.[0] ?? kind

/** The tone of a kind. */
export const verdictTone = (kind) => kinds[kind]?.[1] ?? ""

/** The kind of a push's verdict; null for an accepted push of which no more is known. */
export function verdictKind({ verdict, status }) {
  if (verdict) return verdict.kind
  if (status === 200) return null
  return status ? "refused" : "unanswered"
}

/** A text of a verdict, whose times are those of this time zone; the simulator's are in UTC. */
export const localText = (text, { times = [] }) => times.reduce((local, { text: utc, "time-ms": time }) => local.replace(utc, minuteTime(time)), text)

/** The text of a verdict in this time zone. */
export const verdictText = (verdict) => localText(String(verdict.text ?? ""), verdict)

/** The delivery result of a push, on one line; null for a push without a verdict. Errors found in it make a good one doubtful. */
export function verdictLine({ verdict, findings = [] }) {
  if (!verdict) return null
  const { kind, uncertain } = verdict
  const isDoubtful = uncertain || (verdictTone(kind) === "good" && severity({ findings }) === "error")
  const [tone, name] = isDoubtful ? ["warning", "warning"] : [verdictTone(kind), kinds[kind]?.[2] ?? "info"]
  return element("p", { class: "verdict", "data-tone": tone, "data-verdict": kind }, icon(name), element("span", {}, verdictText(verdict)))
}

/** The delivery events in words. */
const events = {
  delivered: "Delivered", "delivered-from-storage": "Delivered from storage", "stored-device-offline": "Stored: the device is offline",
  "discarded-replaced": "Discarded: replaced", "discarded-expired": "Discarded: expired", "discarded-not-stored": "Discarded: not stored",
  ignored: "Ignored", "replaced-on-device": "Replaced on the device", "activity-ended": "Activity ended", released: "Sent on to a real device",
}

/** A delivery event in words; the kinds of verdicts have their label, and other texts are returned as they are. */
export const eventText = (kind) => events[kind] ?? verdictLabel(kind)

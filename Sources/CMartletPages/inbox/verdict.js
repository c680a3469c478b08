// SPDX-License-Identifier: Apache-2.0

// The delivery result of a push: the kinds of verdicts with their labels, tones and icons.

import { element } from "./dom.js"
import { icon } from "./icons.js"

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

/** The delivery result of a push, on one line; null for a push without a verdict. */
export function verdictLine(verdict) {
  if (!verdict) return null
  const { kind, text } = verdict
  return element("p", { class: "verdict", "data-tone": verdictTone(kind), "data-verdict": kind }, icon(kinds[kind]?.[2] ?? "info"), element("span", {}, text))
}

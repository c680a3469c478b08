// SPDX-License-Identifier: Apache-2.0

// The result of a push that this page sent.

import { request } from "./api.js"
import { answerChip } from "./detail-header.js"
import { element } from "./dom.js"
import { verdictLine } from "./verdict.js"

/** The answer and the verdict of the push that the simulator returned; `follow` is called when the link is used. */
export async function outcome({ number, ...answer }, follow) {
  const push = await request(`/api/v1/pushes/${number}`).catch(() => answer)
  return element("div", { class: "outcome-lines", "data-accepted": String(answer.status === 200) },
    element("div", { class: "chips" }, answerChip(answer), element("a", { href: `#/push/${number}`, onclick: follow }, `push ${number}`)),
    verdictLine(push), answer.note ? element("p", { class: "faint" }, `${answer.note[0].toUpperCase()}${answer.note.slice(1)}.`) : null)
}

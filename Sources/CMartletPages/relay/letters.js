// SPDX-License-Identifier: Apache-2.0

// The dead letters: pushes that the relay abandoned, each with its attempts and its payload on demand and buttons that send it again or discard it.

import { announce, button, confirmed, emptyState, facts, table } from "./components.js"
import { showDialog } from "./dialog.js"
import { element } from "./dom.js"
import { ageElement, answerText, isDamaged, preciseClockElement, updateWhenChanged } from "./figures.js"
import { laneElement } from "./lanes.js"
import { longTable } from "./list.js"
import { appPath, request } from "./relay.js"
import { counted, grouped } from "./texts.js"

/** The number of dead letters of an app that are listed. */
const limit = 100
let letters = []
let problem = ""
/** The problems of single dead letters, by their identifiers. */
const problems = new Map()
/** The identifiers of the dead letters that are being sent again or discarded one by one. */
const sending = new Set()
/** The names of the buttons for several dead letters that were pressed and have no answer yet. */
const pending = new Set()
/** The problems of those buttons, by their names. */
const bulkProblems = new Map()
/** The number of dead letters that a question names. */
const namedLetters = 4
/** Shows the buttons for several dead letters again. */
let showActions = () => {}

/** Requests the dead letters of the apps that have some; `isCurrent` returns whether the answers are still wanted. */
export async function loadLetters({ caller, "dead-letters": counts = {} }, isCurrent) {
  if (!caller["may-manage"]) return
  try {
    const lists = await Promise.all(Object.keys(counts).map((app) => request(`${appPath(app, "dead-letters")}?limit=${limit}`)))
    if (!isCurrent()) return
    letters = lists.flatMap((list) => list["dead-letters"]).sort((first, second) => second["ended-at"] - first["ended-at"])
    problem = ""
  } catch (error) {
    if (isCurrent()) problem = error.message
  }
}

/** The dead letters that contain each word of a text. */
function matching(text) {
  const words = text.toLowerCase().split(/\s+/)
  return letters.filter((letter) => {
    const content = [letter.app, letter.environment, letter["short-token"], letter.channel, lastAnswer(letter), letter.id].join(" ").toLowerCase()
    return words.every((word) => content.includes(word))
  })
}

/** Shows the dead letters that match the text of a field; `refresh` requests the status and the dead letters again. */
export function showLetters(container, actions, filter, status, refresh) {
  const { caller, now, "dead-letters": counts = {} } = status
  const total = Object.values(counts).reduce((sum, value) => sum + value, 0)
  const isListed = caller["may-manage"] && letters.length > 0
  const sendable = Object.entries(counts).map(([app, value]) => [app, value - damagedCount(app)]).filter(([, value]) => value > 0)
  const listed = isListed ? matching(filter.value) : []
  const isFiltered = isListed && filter.value.trim() !== ""
  showActions = () => updateWhenChanged(actions, [sendable, caller, isFiltered && listed, [...pending], [...bulkProblems]], () => {
    if (!caller["may-manage"]) return []
    return isFiltered ? filteredButtons(listed, refresh) : sendable.flatMap(([app, value]) => allOfApp(app, value, refresh))
  })
  showActions()
  filter.hidden = !isListed
  filter.oninput = () => showLetters(container, actions, filter, status, refresh)
  updateWhenChanged(container, [counts, caller, listed, letters.length, problem, [...problems], [...sending]], () => {
    if (problem) return element("p", { class: "problem", role: "alert" }, problem)
    if (total === 0) return emptyState("shown", "No dead letters", "A push is abandoned after 16 attempts; then it is listed here.")
    if (!caller["may-manage"]) {
      return element("p", {}, `${counted(total, "push was", "pushes were")} abandoned. The list needs a key with the scope `, element("code", {}, "manage"), ".")
    }
    if (isListed && listed.length === 0) return element("p", {}, "No listed dead letter matches.")
    const list = longTable("List of dead letters", table("Dead letters", columns(now, refresh), listed, (letter) => ({ "data-id": letter.id })))
    return [...list, total > letters.length ? element("p", { class: "faint" }, `The newest ${grouped(letters.length)} of ${grouped(total)} are listed.`) : null]
  })
}

const lastAnswer = (letter) => answerText(letter) || "no answer"

const damagedCount = (app) => letters.filter((letter) => letter.app === app && isDamaged(letter)).length

/** Filters the dead letters by apps, if one app has all, and scrolls to them. */
export function showLettersOf(apps) {
  const [heading, filter] = ["dead-title", "dead-filter"].map((id) => document.getElementById(id))
  filter.value = apps.length === 1 ? apps[0] : ""
  filter.dispatchEvent(new Event("input"))
  heading.scrollIntoView({ block: "start" })
  heading.focus({ preventScroll: true })
}

/** The button that sends all dead letters of an app again after a question, and the problem of the last attempt. */
function allOfApp(app, value, refresh) {
  const text = "The relay begins a new series of attempts for each."
  return bulkButton(`Send ${value === 1 ? "1" : `all ${grouped(value)}`} of ${app} again`, "replay", refresh, {
    key: app, question: [`Send ${counted(value, "dead letter")} of ${app} again?`, text, "Send again", "replay"], send: () => bulk("requeue", app),
  })
}

/** The buttons that send again or discard the dead letters that match the filter. */
function filteredButtons(listed, refresh) {
  const sendable = listed.filter((letter) => !isDamaged(letter))
  const each = (verb, chosen) => async () => {
    let done = 0
    for (const app of new Set(chosen.map((letter) => letter.app))) {
      done += await bulk(verb, app, chosen.filter((letter) => letter.app === app).map(({ id }) => id))
    }
    return done
  }
  return [
    ...sendable.length === 0 ? [] : bulkButton(`Send the ${grouped(sendable.length)} listed again`, "replay", refresh, {
      key: "listed-requeue", send: each("requeue", sendable),
      question: [`Send ${counted(sendable.length, "dead letter")} again?`, ["The relay begins a new series of attempts for each.", names(sendable)], "Send again", "replay"],
    }),
    ...listed.length === 0 ? [] : bulkButton(`Discard the ${grouped(listed.length)} listed`, "trash", refresh, {
      key: "listed-discard", style: "danger", send: each("discard", listed),
      question: [`Discard ${counted(listed.length, "dead letter")}?`, [lossText(listed.length), names(listed)], "Discard", "trash", "danger"],
    }),
  ]
}

const lossText = (count) => `The ${count === 1 ? "push is deleted with its payload" : "pushes are deleted with their payloads"}, and will not be sent. This cannot be undone.`

/** The first of some dead letters, by app, receiver and answer. */
function names(chosen) {
  const rest = chosen.length - namedLetters
  return element("ul", {}, chosen.slice(0, namedLetters).map((letter) => element("li", {},
    `${letter.app} ${letter.environment} to `, element("code", {}, receiver(letter)), `, ${lastAnswer(letter)}`)),
  rest > 0 ? element("li", {}, `and ${grouped(rest)} more`) : null)
}

/** A button for several dead letters that asks first, and the problem of the last attempt; `send` returns their number. */
function bulkButton(name, iconName, refresh, { key, question, send, style = "" }) {
  const press = async () => {
    if (!await confirmed(...question)) return
    pending.add(key)
    bulkProblems.delete(key)
    showActions()
    try {
      announce(`${grouped(await send())} ${iconName === "trash" ? "discarded" : "sent again"}`)
    } catch (error) {
      bulkProblems.set(key, error.message)
    }
    // The answer of the refresh no longer counts what was sent.
    await refresh()
    pending.delete(key)
    showActions()
    keepFocus(`#dead-actions [data-key="${CSS.escape(key)}"]`, "#dead [data-id] button")
  }
  const found = bulkProblems.get(key)
  return [
    button(name, press, { class: `small ${style}`, icon: iconName, "data-key": key, disabled: pending.has(key) }),
    found ? element("span", { class: "problem", role: "alert" }, found) : null,
  ]
}

/** Sends dead letters of an app again or discards them: those of `ids`, or all; returns their number. */
async function bulk(verb, app, ids) {
  const { requeued, discarded } = await request(appPath(app, `dead-letters:${verb}`), { method: "POST", keepalive: true, content: ids ? { ids } : undefined })
  return requeued ?? discarded
}

/** Gives a focus that was lost with its control to the first of these that is there, or to the heading. */
function keepFocus(...selectors) {
  if (document.activeElement !== document.body) return
  for (const selector of [...selectors, "#dead-title"]) {
    const found = document.querySelector(selector)
    if (found) return found.focus()
  }
}

function columns(now, refresh) {
  return [
    { name: "When", isHeader: true, value: (letter) => ageElement(letter["ended-at"], now, " ago") },
    { name: "App", value: laneElement },
    { name: "To", value: (letter) => element("code", { class: "token" }, receiver(letter)) },
    { name: "Apple's last answer", value: lastAnswer },
    { name: "Attempts", isNumber: true, value: (letter) =>
      button(grouped(letter.attempts), () => showAttempts(letter), { class: "small", "aria-label": `Show the ${grouped(letter.attempts)} attempts of ${letter.id}` }) },
    { name: "Actions", value: (letter) => element("span", { class: "actions" },
      button("Payload", () => showPayload(letter), { class: "small", "aria-label": `Show the payload of ${letter.id}` }),
      isDamaged(letter) ? null : button("Send again", ({ currentTarget }) => perform("requeue", letter, currentTarget, refresh), {
        class: "small", icon: "replay", "aria-label": `Send ${letter.id} again`, disabled: sending.has(letter.id),
      }),
      button("Discard", ({ currentTarget }) => discard(letter, currentTarget, refresh), {
        class: "small", icon: "trash", "aria-label": `Discard ${letter.id}`, disabled: sending.has(letter.id),
      }),
      problems.has(letter.id) ? element("span", { class: "problem", role: "alert" }, problems.get(letter.id)) : null) },
  ]
}

/** The receiver of a dead letter: the first digits of its token, or its channel. */
const receiver = (letter) => letter["short-token"] ?? letter.channel ?? ""

async function discard(letter, pressed, refresh) {
  if (await confirmed("Discard this dead letter?", [lossText(1), names([letter])], "Discard", "trash", "danger")) await perform("discard", letter, pressed, refresh)
}

/** Sends a dead letter again or discards it. */
async function perform(verb, letter, pressed, refresh) {
  const index = pressed.closest("tr").sectionRowIndex
  pressed.disabled = true
  sending.add(letter.id)
  try {
    const { requeued, discarded } = await request(appPath(letter.app, `dead-letters:${verb}`), { method: "POST", content: { ids: [letter.id] } })
    problems.delete(letter.id)
    announce(requeued ? "1 sent again" : discarded ? "1 discarded" : "It is not among the dead letters any more")
  } catch (error) {
    problems.set(letter.id, error.message)
  }
  sending.delete(letter.id)
  await refresh()
  keepFocus(`#dead [aria-label="${CSS.escape(pressed.ariaLabel)}"]`, `#dead [data-id]:nth-child(${index + 1}) button`, "#dead [data-id]:last-child button")
}

/** Shows a dead letter with its device token and payload, which the relay's audit log records. */
const showPayload = ({ app, id }) => showDialog("Dead letter", async () => {
  const { to, channel, payload, "payload-base64": bytes, ...push } = await request(appPath(app, `dead-letters/${id}`))
  return [
    facts({ Identifier: push.id, To: to ?? channel, Surface: push.surface, Installation: push.installation, "Push type": push["push-type"], Topic: push.topic, Priority: push.priority, Attempts: String(push.attempts) }),
    element("h3", {}, bytes === undefined ? "Payload" : "Payload in base64"),
    element("pre", { tabindex: 0 }, bytes ?? JSON.stringify(payload, null, 2)),
    element("p", { class: "faint" }, "Tokens and payloads are personal data. The audit log of the relay records who has seen this one."),
  ]
})

const attemptColumns = [
  { name: "When", isHeader: true, value: ({ time, end }) => {
    const [first, last] = [time, end].map(preciseClockElement)
    return element("span", {}, first, ...first.textContent === last.textContent ? [] : [" – ", last])
  } },
  { name: "Relay", value: ({ node }) => node },
  { name: "Key", value: (attempt) => element("code", {}, attempt["key-id"]) },
  { name: "Apple's answer, or the error", value: ({ status, reason, count }) => [status, reason, count > 1 ? `× ${grouped(count)}` : null].filter(Boolean).join(" ") },
]

/** The attempts, with equal ones in a row as one that has their `count` and the time of the last one as `end`. */
function folded(attempts) {
  const found = []
  for (const { time, ...attempt } of attempts) {
    const key = JSON.stringify(attempt)
    const last = found.at(-1)
    if (last?.key === key) Object.assign(last, { end: time, count: last.count + 1 })
    else found.push({ ...attempt, key, time, end: time, count: 1 })
  }
  return found
}

/** Shows the attempts of a dead letter that failed, and the reason why it was abandoned; without its content. */
const showAttempts = ({ app, id }) => showDialog("Attempts", async () => {
  const push = await request(`/v1/pushes/${id}?app=${encodeURIComponent(app)}`)
  const { attempts = [], omitted = 0 } = push.history ?? {}
  // Attempts are left out after the first one, so it and the second one are not in a row.
  const gap = omitted ? 1 : 0
  return [
    facts({ Identifier: id, Lane: `${app} ${push.environment}`, Surface: push.surface, Installation: push.installation, End: push.cause, Attempts: String(push.attempts), "Without an answer": String(push["unknown-tries"] ?? 0) }),
    element("h3", {}, "Failed attempts"),
    attempts.length ? table("Failed attempts", attemptColumns, [...folded(attempts.slice(0, gap)), ...folded(attempts.slice(gap))]) : element("p", {}, "No attempt of this push has failed."),
    ...omitted ? [element("p", { class: "faint" }, `${counted(omitted, "attempt", "attempts")} after the first one ${omitted === 1 ? "is" : "are"} left out.`)] : [],
  ]
})

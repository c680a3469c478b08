// SPDX-License-Identifier: Apache-2.0

// The dead letters: pushes that the relay abandoned, each with its attempts and its payload on demand and buttons that send it again or discard it.

import { announce, button, confirmed, emptyState, facts, table } from "./components.js"
import { element } from "./dom.js"
import { ageElement, preciseClockElement, updateWhenChanged } from "./figures.js"
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
/** The apps of which all dead letters are being sent again. */
const pending = new Set()
/** The problems of sending all dead letters of an app again, by the app. */
const appProblems = new Map()
/** Shows the buttons for all dead letters of an app again. */
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
    const content = [letter.app, letter.environment, letter["short-token"], letter.channel, answerText(letter), letter.id].join(" ").toLowerCase()
    return words.every((word) => content.includes(word))
  })
}

/** Shows the dead letters that match the text of a field; `refresh` requests the status and the dead letters again. */
export function showLetters(container, actions, filter, status, refresh) {
  const { caller, now, "dead-letters": counts = {} } = status
  const total = Object.values(counts).reduce((sum, value) => sum + value, 0)
  const isListed = caller["may-manage"] && letters.length > 0
  const sendable = Object.entries(counts).map(([app, value]) => [app, value - damagedCount(app)])
  showActions = () => updateWhenChanged(actions, [sendable, caller, [...pending], [...appProblems]], () =>
    (caller["may-manage"] ? sendable.flatMap(([app, value]) => requeueAll(app, value, refresh)) : []))
  showActions()
  filter.hidden = !isListed
  filter.oninput = () => showLetters(container, actions, filter, status, refresh)
  const listed = isListed ? matching(filter.value) : []
  const minutes = Math.floor(now / 60_000)
  updateWhenChanged(container, [counts, caller, listed, letters.length, problem, [...problems], [...sending], minutes], () => {
    if (problem) return element("p", { class: "problem", role: "alert" }, problem)
    if (total === 0) return emptyState("shown", "No dead letters", "A push is abandoned after 16 attempts; then it is listed here.")
    if (!caller["may-manage"]) {
      return element("p", {}, `${counted(total, "push was", "pushes were")} abandoned. The list needs a key with the scope `, element("code", {}, "manage"), ".")
    }
    if (isListed && listed.length === 0) return element("p", {}, "No listed dead letter matches.")
    const list = table("Dead letters", columns(now, refresh), listed, (letter) => ({ "data-id": letter.id }))
    const shown = element("div", { class: "scroll" }, list)
    return [shown, total > letters.length ? element("p", { class: "faint" }, `The newest ${grouped(letters.length)} of ${grouped(total)} are listed.`) : null]
  })
}

/** Returns whether a dead letter has damaged content, so that the relay does not send it again. */
const isDamaged = ({ apns = {} }) => apns.reason === "Damaged"

const damagedCount = (app) => letters.filter((letter) => letter.app === app && isDamaged(letter)).length

/** The button that sends all dead letters of an app again after a question, and the problem of the last attempt. */
function requeueAll(app, value, refresh) {
  if (value <= 0) return []
  const press = async () => {
    const title = `Send ${counted(value, "dead letter")} of ${app} again?`
    if (await confirmed(title, "The relay begins a new series of attempts for each.", "Send again", "replay")) await sendAll(app, refresh)
  }
  const problem = appProblems.get(app)
  return [
    button(`Send ${value === 1 ? "1" : `all ${grouped(value)}`} of ${app} again`, press,
      { class: "small", icon: "replay", "data-app": app, disabled: pending.has(app) }),
    problem ? element("span", { class: "problem", role: "alert" }, problem) : null,
  ]
}

async function sendAll(app, refresh) {
  pending.add(app)
  appProblems.delete(app)
  showActions()
  try {
    const { requeued } = await request(appPath(app, "dead-letters:requeue"), { method: "POST", keepalive: true })
    announce(`${grouped(requeued)} sent again`)
  } catch (error) {
    appProblems.set(app, error.message)
  }
  // The answer of the refresh no longer counts what was sent.
  await refresh()
  pending.delete(app)
  showActions()
  keepFocus(`#dead-actions [data-app="${CSS.escape(app)}"]`, "#dead [data-id] button")
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
    { name: "App", value: ({ app, environment }) => element("span", {}, app, element("small", {}, ` ${environment}`)) },
    { name: "To", value: (letter) => element("code", { class: "token" }, letter["short-token"] ?? letter.channel ?? "") },
    { name: "Apple's last answer", value: answerText },
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

const answerText = ({ apns = {} }) => [apns.status, apns.reason].filter(Boolean).join(" ") || "no answer"

async function discard(letter, pressed, refresh) {
  const text = "The push is deleted with its payload, and will not be sent. This cannot be undone."
  if (await confirmed("Discard this dead letter?", text, "Discard", "trash")) await perform("discard", letter, pressed, refresh)
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

/** Shows a dialog with the elements that `load` returns, or its error. */
async function showDialog(name, load) {
  const content = element("div", {}, element("p", { class: "faint" }, "Loading…"))
  const dialog = element("dialog", { "aria-label": name, onclose: () => dialog.remove() },
    element("div", { class: "bar-title" }, element("h2", {}, name), button("Close", () => dialog.close(), { class: "small" })), content)
  document.body.append(dialog)
  dialog.showModal()
  try {
    content.replaceChildren(...await load())
  } catch (error) {
    content.replaceChildren(element("p", { class: "problem", role: "alert" }, error.message))
  }
}

/** Shows a dead letter with its device token and payload, which the relay's audit log records. */
const showPayload = ({ app, id }) => showDialog("Dead letter", async () => {
  const { to, channel, payload, "payload-base64": bytes, ...push } = await request(appPath(app, `dead-letters/${id}`))
  return [
    facts({ Identifier: push.id, To: to ?? channel, "Push type": push["push-type"], Topic: push.topic, Priority: push.priority, Attempts: String(push.attempts) }),
    element("h3", {}, bytes === undefined ? "Payload" : "Payload in base64"),
    element("pre", { tabindex: 0 }, bytes ?? JSON.stringify(payload, null, 2)),
    element("p", { class: "faint" }, "Tokens and payloads are personal data. The audit log of the relay records who has seen this one."),
  ]
})

const attemptColumns = [
  { name: "When", isHeader: true, value: ({ time, end }) => element("span", {}, preciseClockElement(time), ...end === time ? [] : [" – ", preciseClockElement(end)]) },
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
    facts({ Identifier: id, Lane: `${app} ${push.environment}`, End: push.cause, Attempts: String(push.attempts), "Without an answer": String(push["unknown-tries"] ?? 0) }),
    element("h3", {}, "Failed attempts"),
    attempts.length ? table("Failed attempts", attemptColumns, [...folded(attempts.slice(0, gap)), ...folded(attempts.slice(gap))]) : element("p", {}, "No attempt of this push has failed."),
    ...omitted ? [element("p", { class: "faint" }, `${counted(omitted, "attempt", "attempts")} after the first one ${omitted === 1 ? "is" : "are"} left out.`)] : [],
  ]
})

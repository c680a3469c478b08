// SPDX-License-Identifier: Apache-2.0

// The table of lanes, in the order of the relay: what each does and why, and buttons that pause and resume it.

import { announce, button, chip, chips, confirmed, table } from "./components.js"
import { icon } from "./icons.js"
import { element } from "./dom.js"
import { ageElement, count, rate, updateWhenChanged } from "./figures.js"
import { appPath, request } from "./relay.js"
import { counted, durationText, grouped } from "./texts.js"

/** The pauses and resumptions that failed, by the name of the lane. */
const problems = new Map()

/** The number of idle lanes from which they are shown on request. */
const idleLimit = 4
let showsIdle = false

export const laneName = ({ app, environment }) => `${app} ${environment}`

/** The name of an app, which is cut where it is long, and the badge of an environment. */
export const laneElement = ({ app, environment }) => element("span", { class: "lane" },
  element("span", { title: app }, app), " ", chip(environment, environment === "production" ? "accent" : ""))

/** Shows the lanes of a status; `refresh` requests another one. */
export function showLanes(container, note, { lanes, now, caller }, refresh) {
  note.textContent = caller["may-manage"] ? "" : explanation(caller)
  const idle = lanes.filter((lane) => lane.idle)
  const hidden = showsIdle || idle.length < idleLimit ? [] : idle
  const shown = lanes.filter((lane) => !hidden.includes(lane))
  const toggle = () => {
    showsIdle = !showsIdle
    showLanes(container, note, { lanes, now, caller }, refresh)
  }
  const names = `${idle.length} idle lanes`
  updateWhenChanged(container, [shown.map(laneName), idle.map(laneName), showsIdle, caller], () => [
    table("Lanes", columns(caller), shown, (lane) => ({ "data-lane": laneName(lane) })),
    idle.length < idleLimit ? null : button(showsIdle ? `Hide ${names}` : `Show ${names}`, toggle, { class: "small quiet", title: idle.map(laneName).join(", ") }),
  ])
  container.querySelectorAll("tbody tr").forEach((row, index) => {
    const lane = shown[index]
    row.toggleAttribute("data-idle", lane.idle)
    columns(caller).forEach(({ show }, column) => show(row.cells[column], lane, { now, refresh }))
  })
}

function explanation({ name, scopes }) {
  if (scopes.includes("manage")) return "Lanes cannot be paused at this address: use the address of http, or set manage-over-listen."
  return `The key “${name}” has the scopes ${scopes.join(", ")}: pausing lanes and dead letters need the scope manage.`
}

/** The columns; `show` updates a cell, so that buttons keep the focus. */
function columns(caller) {
  const cell = (name, facts, make, more = {}) => ({
    name, value: () => "", ...more,
    show: (target, lane, context) => updateWhenChanged(target, facts(lane, context), () => make(lane, context)),
  })
  const figure = (name, text, more = {}) => cell(name, text, (lane, context) => element("span", {}, text(lane, context)), { isNumber: true, ...more })
  return [
    cell("Lane", laneName, laneElement, { isHeader: true }),
    cell("State", (lane) => [lane.state, lane.reason, lane["manual-pause"]], stateOf),
    cell("Since", (lane) => since(lane) ?? null,
      (lane, { now }) => (since(lane) ? ageElement(since(lane), now) : element("span", { class: "faint" }, "–"))),
    figure("Waiting", (lane) => count(lane.waiting)),
    figure("Oldest", oldest),
    figure("In flight", (lane) => grouped(lane["in-flight"])),
    figure("Sent a second", (lane) => rate(lane["sent-per-second"])),
    cell("Failures", (lane) => [lane.failures, lane.retrying, lane["retry-reason"], lane.state], failures),
    ...(caller["may-manage"] ? [cell("Control", (lane) => [lane["manual-pause"] !== undefined, problems.get(laneName(lane))], control)] : []),
  ]
}

/** The start of a pause or an outage. */
const since = (lane) => (lane["manual-pause"] ?? lane).since

/** The age of the push that is due longest, which is unknown while the relay cannot read its outbox. */
function oldest({ waiting, "oldest-seconds": seconds }) {
  if (waiting === undefined) return "unknown"
  return seconds === undefined ? "–" : durationText(seconds)
}

/** The texts and tones of the states of a lane. */
const states = {
  paused: ["Paused", "warning"], down: ["Down", "bad"], "not-tried": ["Not tried since", "warning"], "not-storing": ["Not storing", "bad"], fails: ["Fails", "bad"],
  delivers: ["Delivers", "good"], ready: ["Ready", "good"],
}

/** The state, the reason of an outage, and the operator of a pause. */
function stateOf({ state, reason, "manual-pause": pause }) {
  return element("span", { class: "chips" }, chip(...(states[state] ?? [state])), reason ? element("code", {}, reason) : null,
    pause ? element("small", {}, `by ${pause.caller}`) : null)
}

/** The attempts that Apple did not accept since the start of the relay, by reason, most frequent first. */
function failures({ failures: reasons = {}, retrying, "retry-reason": retryReason, state }) {
  const texts = Object.entries(reasons).map(([reason, total]) => `${reason} ${grouped(total)}`)
  const time = state === "paused" ? "after the pause" : "later"
  return chips(texts, ...texts.length ? [element("small", {}, "since the start")] : [],
    ...retrying ? [element("small", {}, `${counted(retrying, "push is", "pushes are")} sent again ${time}${retryReason ? ` (${retryReason})` : ""}`)] : [])
}

function control(lane, { refresh }) {
  const isPaused = lane["manual-pause"] !== undefined
  const [name, action] = isPaused ? ["Resume", "resume"] : ["Pause", "pause"]
  const made = button(name, async () => {
    const text = "Pushes wait until you resume. None is lost, unless it expires before."
    if (isPaused || await confirmed(`Pause ${laneName(lane)}?`, text, "Pause", "pause")) await change(lane, action, made, refresh)
  },
    { class: "small", icon: isPaused ? "play" : "pause", "aria-label": `${name} ${laneName(lane)}`, "data-action": action })
  const problem = problems.get(laneName(lane))
  return [made, problem ? element("p", { class: "problem", role: "alert" }, problem) : null]
}

/** Resumes lanes; the table shows the problem of a lane that stays paused. */
export async function resumeAll(lanes, refresh) {
  for (const lane of lanes) await send(lane, "resume")
  await refresh()
}

/** Pauses or resumes a lane, and remembers the problem if that fails. */
async function send(lane, action) {
  try {
    await request(appPath(lane.app, `lanes/${lane.environment}/${action}`), { method: "POST" })
    problems.delete(laneName(lane))
    announce(`${laneName(lane)} ${action === "pause" ? "paused" : "resumed"}`)
  } catch (error) {
    problems.set(laneName(lane), error.message)
  }
}

async function change(lane, action, pressed, refresh) {
  pressed.disabled = true
  await send(lane, action)
  await refresh()
  const row = [...document.querySelectorAll("[data-lane]")].find((each) => each.dataset.lane === laneName(lane))
  const next = row?.querySelector("button[data-action]")
  if (next) next.disabled = false
  if (document.activeElement === document.body || document.activeElement === null) next?.focus()
}

// SPDX-License-Identifier: Apache-2.0

// The relay's status: waiting pushes, rates, lanes, relays, dead letters, and plots of the last hour.

import { element } from "./dom.js"
import { plot } from "./plot.js"
import { key, removeKey, request, storeKey, Unauthorized } from "./relay.js"

const byID = (id) => document.getElementById(id)
const number = new Intl.NumberFormat("en")
/** Rates below ten have one decimal, so that a slow lane does not show as 0. */
const rate = (value = 0) => number.format(value < 10 ? Math.round(value * 10) / 10 : Math.round(value))
const states = ["delivered", "refused", "expired", "cancelled", "dead"]
/** The interval between requests for the history, in milliseconds. The relay adds a sample every ten seconds. */
const historyInterval = 10_000
let timer = 0
let history = null
let historyAt = 0

/** Requests the status every two seconds while the document is visible. */
async function refresh() {
  clearTimeout(timer)
  if (!document.hidden) {
    try {
      const status = await request("/v1/status")
      if (Date.now() - historyAt >= historyInterval) {
        history = await request("/v1/status/history")
        historyAt = Date.now()
      }
      show(status)
      showConnection("live", "Live")
    } catch (error) {
      if (error instanceof Unauthorized) return showSignIn(error.message)
      showConnection("lost", "Connection lost. Retrying…")
    }
  }
  timer = setTimeout(refresh, 2000)
}

function showConnection(state, text) {
  byID("live").dataset.state = state
  byID("live").textContent = text
}

function showSignIn(error) {
  clearTimeout(timer)
  byID("sign-in").hidden = false
  byID("status").hidden = byID("sign-out").hidden = true
  byID("key-error").textContent = error
  showConnection("waiting", "")
  byID("key").focus()
}

function showStatus() {
  byID("sign-in").hidden = true
  byID("status").hidden = byID("sign-out").hidden = false
  refresh()
}

function show(status) {
  const texts = { ok: "Accepting pushes", draining: "Shutting down", "not-storing": "Cannot store pushes" }
  byID("state").dataset.state = status.state
  byID("state").textContent = texts[status.state] ?? status.state
  document.querySelector("h1").title = `version ${status.version}`
  byID("figures").replaceChildren(...figures(status))
  byID("plots").replaceChildren(
    plot("Waiting", history, "backlog"), plot("Sent per second", history, "sent-per-second"),
    plot("Oldest (seconds)", history, "oldest-seconds"))
  byID("lanes").replaceChildren(lanes(status), ...retries(status))
  byID("fleet").hidden = !status.nodes?.length
  byID("nodes").replaceChildren(...outdated(status), nodes(status))
  byID("dead").replaceChildren(...deadLetters(status))
}

function figures({ lanes, connections, storage, problems = [] }) {
  const sum = (pick) => lanes.reduce((total, lane) => total + (pick(lane) ?? 0), 0)
  const oldest = Math.max(0, ...lanes.map((lane) => lane["oldest-seconds"] ?? 0))
  const facts = [
    ["waiting", waiting(lanes.every((lane) => "waiting" in lane) ? sum((lane) => lane.waiting) : undefined)],
    ["oldest", duration(oldest)],
    ["sent per second", rate(sum((lane) => lane["sent-per-second"]))],
    ["in flight", number.format(sum((lane) => lane["in-flight"]))],
    ...states.map((state) => [state, number.format(sum((lane) => lane.outcomes[state]))]),
    ["client connections", number.format(connections)],
  ]
  const made = facts.map(([name, value]) =>
    element("div", { class: "figure" }, element("dt", {}, name), element("dd", {}, value)))
  const figures = [element("dl", { class: "figures" }, made)]
  figures.unshift(...problems.map(({ problem, since, error, action }) =>
    alarm(`${problem} (since ${new Date(since).toISOString()}): ${error}; ${action}`)))
  if (storage.problem) {
    const since = new Date(storage.since).toISOString()
    figures.unshift(alarm(`the relay stores no pushes and refuses them (since ${since}): ${storage.problem};`
      + ` ${storage.action}`))
  }
  return figures
}

const alarm = (text) => element("p", { class: "alarm", role: "alert" }, text)

/** A count of waiting pushes, which is unknown while the relay cannot read its outbox. */
const waiting = (count) => count === undefined ? "unknown" : number.format(count)

function lanes({ lanes, now, storage }) {
  const names = ["app", "environment", "waiting", "oldest", "in flight", "sent per second", "state", "outcomes"]
  return element("table", {},
    element("thead", {}, element("tr", {}, names.map((name, index) =>
      element("th", { scope: "col", class: index >= 2 && index < 6 ? "number" : null }, name)))),
    element("tbody", {}, lanes.map((lane) => {
      const manual = lane["manual-pause"]
      const isDown = lane.since !== undefined
      const states = [
        manual ? `paused manually since ${new Date(manual.since).toISOString()} by ${manual.by}` : null,
        isDown ? `down for ${duration((now - lane.since) / 1000)}: ${lane.reason}` : null,
        storage.problem ? "not storing" : null,
      ]
      const state = states.filter((state) => state).join(", and ") || "ok"
      return element("tr", {},
        element("th", { scope: "row" }, lane.app), element("td", {}, lane.environment),
        element("td", { class: "number" }, waiting(lane.waiting)),
        element("td", { class: "number" }, duration(lane["oldest-seconds"] ?? 0)),
        element("td", { class: "number" }, number.format(lane["in-flight"])),
        element("td", { class: "number" }, rate(lane["sent-per-second"])),
        element("td", { "data-down": isDown || Boolean(manual || storage.problem) }, state),
        element("td", {}, outcomes(lane)))
    })))
}

/** A line for each lane with pushes that are sent again. */
function retries({ lanes, now }) {
  return lanes.filter((lane) => lane.retrying > 0).map((lane) => {
    const pushes = lane.retrying === 1 ? "1 push waits" : `${number.format(lane.retrying)} pushes wait`
    const age = duration(Math.max(0, now - lane["retrying-since"]) / 1000)
    const reason = lane["retry-reason"] ? `; last reason: ${lane["retry-reason"]}` : ""
    const text = `${pushes} for another attempt, the oldest accepted ${age} ago${reason}`
    return element("p", {}, `${lane.app} ${lane.environment}: ${text}`)
  })
}

/** A note that the relays are those of an earlier time, while the database does not answer. */
function outdated({ "nodes-outdated-since": since }) {
  return since ? [alarm(`outdated since ${new Date(since).toISOString()}: the database does not answer`)] : []
}

/** The relays that share the database; the one that serves this page is marked. */
function nodes({ nodes = [], now }) {
  const names = ["relay", "name", "version", "uptime", "last seen", "in flight", "sent per second", "state", "outcomes"]
  const texts = { leads: "Running, leader", ok: "Running", draining: "Shutting down" }
  return element("table", {},
    element("thead", {}, element("tr", {}, names.map((name, index) =>
      element("th", { scope: "col", class: index >= 3 && index < 7 ? "number" : null }, name)))),
    element("tbody", {}, nodes.map((node) => element("tr", {},
      element("th", { scope: "row" }, `${node.number}${node.own ? " (this relay)" : ""}`),
      element("td", {}, node.name), element("td", {}, node.version),
      element("td", { class: "number" }, duration((now - node["started-at"]) / 1000)),
      element("td", { class: "number" }, duration(node["silent-ms"] / 1000)),
      element("td", { class: "number" }, number.format(node["in-flight"])),
      element("td", { class: "number" }, rate(node["sent-per-second"])),
      element("td", {}, texts[node.state] ?? node.state), element("td", {}, outcomes(node))))))
}

/** The outcomes of pushes as a bar; the numbers are its accessibility label. */
function outcomes({ outcomes }) {
  const total = states.reduce((sum, state) => sum + outcomes[state], 0)
  const text = states.filter((state) => outcomes[state]).map((state) => `${number.format(outcomes[state])} ${state}`)
  const bar = element("div", { class: "bar", role: "img", "aria-label": text.join(", ") || "none yet" })
  for (const state of states.filter((each) => outcomes[each])) {
    const part = element("span", { "data-state": state, title: `${number.format(outcomes[state])} ${state}` })
    part.style.flexGrow = outcomes[state] / total
    bar.append(part)
  }
  return bar
}

function deadLetters({ lanes }) {
  const apps = [...new Set(lanes.filter((lane) => lane.outcomes.dead).map((lane) => lane.app))]
  if (apps.length === 0) return [element("p", { class: "empty" }, "No dead letters since the relay started.")]
  return apps.map((app) => element("p", {}, `The relay abandoned pushes of ${app} after repeated attempts. `,
    element("button", { type: "button", onclick: ({ target }) => requeue(app, target) }, "Requeue all")))
}

async function requeue(app, button) {
  try {
    const { requeued } = await request(`/v1/apps/${encodeURIComponent(app)}/dead-letters:requeue`, "POST")
    button.textContent = `${number.format(requeued)} requeued`
    button.disabled = true
  } catch (error) {
    button.after(` ${error.message}`)
  }
}

function duration(seconds) {
  if (seconds < 90) return `${Math.ceil(seconds)} s`
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`
}

byID("sign-in").querySelector("form").addEventListener("submit", (event) => {
  event.preventDefault()
  byID("key-error").textContent = ""
  storeKey(byID("key").value.trim())
  byID("key").value = ""
  showStatus()
})
byID("sign-out").addEventListener("click", () => {
  removeKey()
  showSignIn("")
})
document.addEventListener("visibilitychange", () => { if (!document.hidden && key()) refresh() })

if (key()) showStatus()
else showSignIn("")

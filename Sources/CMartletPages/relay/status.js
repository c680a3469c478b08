// The relay at a glance: what waits, how fast it goes, what holds it up, and how it was in the last hour.

import { ask, forgetKey, key, rememberKey, Refused } from "./relay.js"
import { plot } from "./plot.js"
import { element } from "./dom.js"

const byID = (id) => document.getElementById(id)
const number = new Intl.NumberFormat("en")
/** Rates below ten have a decimal, so that a slow lane is not shown as one that sends nothing. */
const rate = (value = 0) => number.format(value < 10 ? Math.round(value * 10) / 10 : Math.round(value))
const states = ["delivered", "refused", "expired", "cancelled", "dead"]
/** How long a look at the last hour is good for: the relay adds to it every ten seconds. */
const historyTime = 10_000
let timer = 0
let history = null
let historyAt = 0

/** Asks every two seconds, as long as somebody looks. */
async function refresh() {
  clearTimeout(timer)
  if (!document.hidden) {
    try {
      const status = await ask("/v1/status")
      if (Date.now() - historyAt >= historyTime) {
        history = await ask("/v1/status/history")
        historyAt = Date.now()
      }
      show(status)
      live("live", "live")
    } catch (error) {
      if (error instanceof Refused) return close(error.message)
      live("lost", "the relay is away")
    }
  }
  timer = setTimeout(refresh, 2000)
}

function live(state, text) {
  byID("live").dataset.state = state
  byID("live").textContent = text
}

function close(mistake) {
  clearTimeout(timer)
  byID("door").hidden = false
  byID("status").hidden = byID("leave").hidden = true
  byID("mistake").textContent = mistake
  live("waiting", "")
  byID("key").focus()
}

function open() {
  byID("door").hidden = true
  byID("status").hidden = byID("leave").hidden = false
  refresh()
}

function show(status) {
  const words = { ok: "takes pushes", draining: "is coming to its end", "not-keeping": "cannot keep pushes" }
  byID("state").dataset.state = status.state
  byID("state").textContent = words[status.state] ?? status.state
  document.querySelector("h1").title = `version ${status.version}`
  byID("figures").replaceChildren(...figures(status))
  byID("plots").replaceChildren(
    plot("Waiting", history, "backlog"), plot("Sent a second", history, "sent-per-second"),
    plot("Oldest, in seconds", history, "oldest-seconds"))
  byID("lanes").replaceChildren(lanes(status))
  byID("fleet").hidden = !status.nodes?.length
  byID("nodes").replaceChildren(nodes(status))
  byID("dead").replaceChildren(...dead(status))
}

function figures({ lanes, connections, storage }) {
  const sum = (pick) => lanes.reduce((total, lane) => total + (pick(lane) ?? 0), 0)
  const oldest = Math.max(0, ...lanes.map((lane) => lane["oldest-seconds"] ?? 0))
  const facts = [
    ["waiting", waiting(lanes.every((lane) => "waiting" in lane) ? sum((lane) => lane.waiting) : undefined)], ["oldest", duration(oldest)],
    ["sent a second", rate(sum((lane) => lane["sent-per-second"]))],
    ["on their way", number.format(sum((lane) => lane["in-flight"]))],
    ...states.map((state) => [state, number.format(sum((lane) => lane.outcomes[state]))]),
    ["callers' connections", number.format(connections)],
  ]
  const made = facts.map(([name, value]) =>
    element("div", { class: "figure" }, element("dt", {}, name), element("dd", {}, value)))
  const figures = [element("dl", { class: "figures" }, made)]
  if (storage.problem) figures.unshift(element("p", { class: "alarm", role: "alert" }, storage.problem))
  return figures
}

/** A count of pushes, which the relay does not know while its outbox cannot be read. */
const waiting = (count) => count === undefined ? "unknown" : number.format(count)

function lanes({ lanes, now }) {
  const names = ["app", "environment", "waiting", "oldest", "on their way", "sent a second", "state", "outcomes"]
  return element("table", {},
    element("thead", {}, element("tr", {}, names.map((name, index) =>
      element("th", { scope: "col", class: index >= 2 && index < 6 ? "number" : null }, name)))),
    element("tbody", {}, lanes.map((lane) => {
      const manual = lane["manual-pause"]
      const isDown = lane.since !== undefined
      const states = [
        manual ? `paused manually since ${new Date(manual.since).toISOString()} by ${manual.by}` : null,
        isDown ? `down for ${duration((now - lane.since) / 1000)}: ${lane.reason}` : null,
      ]
      const state = states.filter((state) => state).join(", and ") || "ok"
      return element("tr", {},
        element("th", { scope: "row" }, lane.app), element("td", {}, lane.environment),
        element("td", { class: "number" }, waiting(lane.waiting)),
        element("td", { class: "number" }, duration(lane["oldest-seconds"] ?? 0)),
        element("td", { class: "number" }, number.format(lane["in-flight"])),
        element("td", { class: "number" }, rate(lane["sent-per-second"])),
        element("td", { "data-down": isDown || Boolean(manual) }, state),
        element("td", {}, outcomes(lane)))
    })))
}

/** The relays that share a database; the one that answers is marked. */
function nodes({ nodes = [], now }) {
  const names = ["relay", "name", "version", "up", "last heard of", "on their way", "sent a second", "state", "outcomes"]
  const words = { leads: "sends, and keeps house", ok: "sends", draining: "comes to its end" }
  return element("table", {},
    element("thead", {}, element("tr", {}, names.map((name, index) =>
      element("th", { scope: "col", class: index >= 3 && index < 7 ? "number" : null }, name)))),
    element("tbody", {}, nodes.map((node) => element("tr", {},
      element("th", { scope: "row" }, `${node.number}${node.own ? " (this one)" : ""}`),
      element("td", {}, node.name), element("td", {}, node.version),
      element("td", { class: "number" }, duration((now - node["started-at"]) / 1000)),
      element("td", { class: "number" }, duration(node["silent-ms"] / 1000)),
      element("td", { class: "number" }, number.format(node["in-flight"])),
      element("td", { class: "number" }, rate(node["sent-per-second"])),
      element("td", {}, words[node.state] ?? node.state), element("td", {}, outcomes(node))))))
}

/** How pushes ended, as a bar with its numbers for whoever cannot see it. */
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

function dead({ lanes }) {
  const apps = [...new Set(lanes.filter((lane) => lane.outcomes.dead).map((lane) => lane.app))]
  if (apps.length === 0) return [element("p", { class: "empty" }, "No push has been given up since the start.")]
  return apps.map((app) => element("p", {}, `Pushes of ${app} were given up after many tries. `,
    element("button", { type: "button", onclick: ({ target }) => requeue(app, target) }, "Try all of them again")))
}

async function requeue(app, button) {
  try {
    const { requeued } = await ask(`/v1/apps/${encodeURIComponent(app)}/dead-letters:requeue`, "POST")
    button.textContent = `${number.format(requeued)} are tried again`
    button.disabled = true
  } catch (error) {
    button.after(` ${error.message}`)
  }
}

function duration(seconds) {
  if (seconds < 90) return `${Math.ceil(seconds)} s`
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`
}

byID("door").querySelector("form").addEventListener("submit", (event) => {
  event.preventDefault()
  byID("mistake").textContent = ""
  rememberKey(byID("key").value.trim())
  byID("key").value = ""
  open()
})
byID("leave").addEventListener("click", () => {
  forgetKey()
  close("")
})
document.addEventListener("visibilitychange", () => { if (!document.hidden && key()) refresh() })

if (key()) open()
else close("")

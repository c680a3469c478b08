// SPDX-License-Identifier: Apache-2.0

// The relay's status page: what is wrong first, then figures, lanes, plots, dead letters, jobs, phones and relays.

import { table } from "./components.js"
import { element, released } from "./dom.js"
import { preciseClockElement, updateAges, updateWhenChanged } from "./figures.js"
import { showFacts, showFleet, showTiles } from "./fleet.js"
import { icon } from "./icons.js"
import { showIncidents, showUnreachable } from "./incidents.js"
import { forgetJobs, showJobs } from "./jobs.js"
import { showLanes } from "./lanes.js"
import { loadLetters, showLetters } from "./letters.js"
import { longTable } from "./list.js"
import { forgetPhones, showPhones } from "./phones.js"
import { eventTone, Plots } from "./plot.js"
import { key, removeKey, request, storeKey, Unauthorized, Unreachable } from "./relay.js"
import { loadRunbook } from "./runbook.js"
import { forgetUser, showUser } from "./users.js"

const byID = (id) => document.getElementById(id)
/** The interval between requests for the status, in milliseconds. */
const interval = 1000
/** The interval between requests for history, events and dead letters: the relay adds a sample every ten seconds. */
const slowInterval = 10_000
const plots = new Plots(byID("plots"), [
  { title: "Waiting and in flight", figure: "backlog", unit: "pushes" },
  { title: "Delivered a second", figure: "delivered-per-second", unit: "pushes a second", isRate: true },
  { title: "Failing a second", figure: "failed-per-second", unit: "failed attempts a second", isRate: true },
  { title: "Oldest, in seconds", figure: "oldest-seconds", unit: "seconds", isMaximum: true },
])
let timer = 0
/** The time of the last request for the history, and the facts that lead to another one before its time. */
let slowAt = 0
let slowFacts = ""
let answeredAt = 0
/** The number of the latest refresh or sign-out, so that answers to earlier requests and for earlier keys are ignored. */
let latest = 0

/** Requests the status every second while the document is visible. */
async function refresh({ isForced = false } = {}) {
  clearTimeout(timer)
  if (!key()) return
  const own = ++latest
  const isCurrent = () => own === latest
  if (!document.hidden || isForced) {
    try {
      const status = await request("/v1/status")
      await released()
      if (!isCurrent()) return
      answeredAt = Date.now()
      byID("status").classList.remove("outdated")
      await show(status, isForced, isCurrent)
      if (!isCurrent()) return
      showProblem("")
      showConnection("live", "Live")
    } catch (error) {
      if (!isCurrent()) return
      if (error instanceof Unauthorized || !answeredAt && !(error instanceof Unreachable)) return showSignIn(error.message)
      showFailure(error)
    }
  }
  if (isCurrent()) timer = setTimeout(refresh, interval)
}

/** Shows that a request failed, which is repeated. */
function showFailure(error) {
  if (!answeredAt) {
    byID("sign-in").hidden = false
    byID("key-error").textContent = error.message
  } else if (error instanceof Unreachable) {
    showProblem("")
    byID("status").classList.add("outdated")
    showUnreachable(byID("incidents"), answeredAt)
  } else {
    showProblem(error.message)
    showConnection("lost", "Error. Retrying…")
    return
  }
  showConnection("lost", "Connection lost. Retrying…")
}

function showProblem(text) {
  byID("problem").hidden = text === ""
  if (byID("problem").textContent !== text) byID("problem").textContent = text
}

/** Shows a status, and requests what is requested less often; `isCurrent` returns whether its answers are wanted. */
async function show(status, isForced, isCurrent) {
  const isFirst = byID("status").hidden
  byID("status").hidden = byID("sign-out").hidden = false
  byID("sign-in").hidden = true
  // Only what has the focus scrolls by keys.
  if (isFirst) byID("status").focus()
  updateAges(status.now)
  showIncidents(byID("incidents"), status, () => refresh({ isForced: true }))
  loadRunbook().catch(() => {})
  showTiles(byID("tiles"), status)
  showLanes(byID("lanes"), byID("lanes-note"), status, () => refresh({ isForced: true }))
  showFleet(byID("fleet"), byID("nodes"), status)
  showFacts(byID("facts"), status)
  const facts = JSON.stringify([status.incidents.map(({ kind, title }) => [kind, title]), status["dead-letters"]])
  if (isForced || facts !== slowFacts || Date.now() - slowAt >= slowInterval) {
    const [history, { events }] = await Promise.all([
      request("/v1/status/history"), request("/v1/status/events"), loadLetters(status, isCurrent)])
    if (!isCurrent()) return
    slowAt = Date.now()
    slowFacts = facts
    plots.show(history, events)
    showEvents(events)
  }
  showLetters(byID("dead"), byID("dead-actions"), byID("dead-filter"), status, () => refresh({ isForced: true }))
  showJobs(byID("jobs"), status)
  showPhones(byID("phones"), byID("phones-form"), status)
  showUser(byID("user"), byID("user-form"), status)
}

/** Lists the latest events, newest first, as the marks in the plots cannot be read by everyone. */
function showEvents(events) {
  const columns = [
    { name: "When", isHeader: true, value: ({ time }) => preciseClockElement(time) },
    { name: "Event", value: ({ kind, text }) => element("span", { class: "chips" }, element("span", { class: "dot", "data-tone": eventTone(kind) }), text) },
  ]
  updateWhenChanged(byID("event-list"), events, () => [
    ...longTable("List of events", table("Events", columns, events.slice(-50).reverse())),
    element("p", { class: "faint" }, "The relay stores its latest 500 events in memory, so that a restart forgets them."),
  ])
}

function showConnection(state, text) {
  byID("live").dataset.state = state
  byID("live").textContent = text
}

function showSignIn(error) {
  latest += 1
  clearTimeout(timer)
  answeredAt = slowAt = 0
  forgetJobs()
  forgetPhones()
  forgetUser(byID("user-form"))
  showProblem("")
  byID("sign-in").hidden = false
  byID("status").hidden = byID("sign-out").hidden = true
  byID("key-error").textContent = error
  showConnection("waiting", "")
  byID("key").focus()
}

byID("brand").prepend(icon("martlet", 20))
byID("sign-in").querySelector("form").addEventListener("submit", (event) => {
  event.preventDefault()
  byID("key-error").textContent = ""
  storeKey(byID("key").value.trim())
  byID("key").value = ""
  refresh()
})
byID("sign-out").addEventListener("click", () => {
  removeKey()
  showSignIn("")
})
document.addEventListener("visibilitychange", () => { if (!document.hidden && key()) refresh() })

if (key()) {
  byID("sign-in").hidden = true
  refresh()
} else {
  showSignIn("")
}

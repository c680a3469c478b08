// SPDX-License-Identifier: Apache-2.0

// The problems of the relay as it states them, worst first: a banner for the worst, and a line for each other one, which opens.

import { button, confirmed } from "./components.js"
import { element } from "./dom.js"
import { showExpired } from "./expired.js"
import { ageElement, clockElement, updateWhenChanged } from "./figures.js"
import { icon } from "./icons.js"
import { laneName, resumeAll } from "./lanes.js"
import { showLettersOf } from "./letters.js"
import { runbookLink } from "./runbook.js"
import { counted } from "./texts.js"

const tones = { critical: ["bad", "error"], warning: ["warning", "warning"], notice: ["", "info"] }
/** The number of lines below the banner; the others are shown on request, so that the figures stay on the first screen. */
const lineLimit = 5
const announcement = element("div", { class: "visually-hidden", id: "announcement", "aria-live": "assertive" })
let announced = null
/** The last status, and the functions that request another one and show the incidents again. */
let known = null
let request = () => {}
let showAgain = () => {}
/** The names of the lines that are open, and whether all lines are shown. */
const opened = new Set()
let showsAll = false

/** Shows the incidents of a status; `refresh` requests another one. */
export function showIncidents(container, status, refresh) {
  const { incidents, headline, now } = status
  known = status
  request = refresh
  showAgain = () => showIncidents(container, status, refresh)
  const urgent = incidents.filter(({ severity }) => severity !== "notice")
  const calm = urgent.length ? [] : [banner("good", "shown", element("p", { class: "incident-title" }, element("strong", {}, headline)))]
  // The text repeats the age, which `updateAges` changes.
  const facts = incidents.map(({ text, ...incident }) => incident)
  updateWhenChanged(container, [calm.length ? headline : "", facts, status.caller["may-manage"], resumable(status), showsAll], () => calm.length
    ? [...calm, ...lines(incidents, now)] : [incidentBanner(incidents[0], now), ...lines(incidents.slice(1), now)])
  document.title = urgent.length ? `${urgent.length} ⚠ Martlet relay` : "Martlet relay"
  announce(urgent.map(({ title }) => title).join(". ") || "No problems")
}

/** Shows that the relay does not answer since a time by the clock of this page, above the last known incidents. */
export function showUnreachable(container, since) {
  showAgain = () => showUnreachable(container, since)
  updateWhenChanged(container, ["unreachable", Math.floor(Date.now() / 1000), showsAll], () => [banner("bad", "error",
    element("p", { class: "incident-title" }, element("strong", {}, "This page cannot reach the relay"), " since ",
      clockElement(since), " (", ageElement(since, Date.now()), ")."),
    element("p", {}, "Everything below is of that time."),
    element("p", { class: "incident-action" }, "Check that the relay runs: ", element("code", {}, "systemctl status martlet-relay"), "."),
    element("p", { class: "actions" }, runbook("MartletRelayUnreachable"))), ...lines(known?.incidents ?? [], known?.now ?? since)])
  document.title = "⚠ Martlet relay"
  announce("This page cannot reach the relay")
}

const banner = (tone, name, ...content) => element("div", { class: "banner first", "data-tone": tone }, icon(name, 20), element("div", {}, ...content))

function incidentBanner(incident, now) {
  const [tone, name] = tones[incident.severity] ?? tones.notice
  return marked(banner(tone, name, element("p", { class: "incident-title" }, ...title(incident, now)), ...explanation(incident)), incident)
}

/** The lines of incidents, and a button that shows those above the limit. */
function lines(incidents, now) {
  const shown = showsAll ? incidents : incidents.slice(0, lineLimit)
  const rest = incidents.length - shown.length
  const toggle = () => {
    showsAll = !showsAll
    showAgain()
  }
  return [...shown.map((incident) => incidentLine(incident, now)),
    rest || showsAll && incidents.length > lineLimit
      ? button(rest ? `Show ${counted(rest, "more problem")}` : "Show fewer problems", toggle, { class: "small quiet more" }) : null].filter(Boolean)
}

/** A line with the title of an incident, which opens to show what to do. */
function incidentLine(incident, now) {
  const [tone, name] = tones[incident.severity] ?? tones.notice
  const key = `${incident.kind} ${incident.title}`
  const details = element("details", { open: opened.has(key), ontoggle: () => (details.open ? opened.add(key) : opened.delete(key)) },
    element("summary", { class: "incident-title", "data-name": key }, ...title(incident, now),
    incident.effect ? element("span", { class: "effect" }, ` ${incident.effect}`) : null), ...explanation(incident))
  return marked(element("div", { class: "banner line", "data-tone": tone }, icon(name), element("div", {}, details)), incident)
}

function marked(made, { kind, severity }) {
  made.dataset.kind = kind
  made.dataset.severity = severity
  return made
}

function title({ title: text, since }, now) {
  return [element("strong", {}, text), ...since === undefined ? [] : [" since ", clockElement(since), " (", ageElement(since, now), ")"], "."]
}

/** The effect, what to do, and the buttons for that. */
function explanation(incident) {
  const { effect, action, detail } = incident
  return [
    effect ? element("p", {}, effect) : null,
    element("p", { class: "incident-action" }, ...linked(action), ...detail ? [" ", element("code", {}, detail)] : []),
    element("p", { class: "actions" }, ...actions(incident), runbook(incident.runbook)),
  ]
}

/** The lanes that operators have paused, if the user may resume them. */
const resumable = ({ lanes, caller }) => (caller["may-manage"] ? lanes.filter((lane) => lane["manual-pause"]).map(({ app, environment }) => ({ app, environment })) : [])

/** The buttons for what the text of an incident names and this page can do. */
function actions({ kind, scope, lost = 0 }) {
  const small = { class: "small" }
  const isListed = kind === "dead-letters" || kind === "damaged-pushes"
  if (isListed) return known.caller["may-manage"] ? [button("Show the dead letters", () => showLettersOf(scope.apps), small)] : []
  const paused = kind === "paused" ? resumable(known).filter(({ app, environment }) => scope.apps.includes(app) && scope.environments.includes(environment)) : []
  return [
    paused.length ? button(paused.length === 1 ? "Resume the lane" : `Resume ${counted(paused.length, "lane")}`, () => resume(paused), { ...small, icon: "play" }) : null,
    lost ? button("Show expired pushes", () => showExpired(scope), small) : null,
  ].filter(Boolean)
}

async function resume(paused) {
  const names = paused.map(laneName).join(", ")
  if (paused.length > 1 && !await confirmed(`Resume ${counted(paused.length, "lane")}?`, `${names}. Their pushes are sent at once.`, "Resume", "play")) return
  await resumeAll(paused, request)
  // The button has disappeared with the problem.
  if (document.activeElement === document.body) document.getElementById("status").focus()
}

const runbook = (name) => element("span", { class: "faint" }, "Runbook: ", runbookLink(name))

/** A sentence in which addresses are links. */
const linked = (text) => text.split(/(https:\/\/[^\s;]+[^\s;.])/).map((part, index) =>
  (index % 2 ? element("a", { href: part, target: "_blank", rel: "noreferrer" }, part.replace("https://", "")) : part))

/** Has screen readers read the state when it is another one; not the first state after the sign-in. */
function announce(text) {
  if (!announcement.isConnected) document.body.append(announcement)
  if (announced !== null && announced !== text) announcement.textContent = text
  announced = text
}

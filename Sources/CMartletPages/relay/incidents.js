// SPDX-License-Identifier: Apache-2.0

// The banner: the problems of the relay as it states them, worst first, or one line that all is well.

import { icon } from "./icons.js"
import { element } from "./dom.js"
import { age, ageElement, clockElement, updateWhenChanged } from "./figures.js"

const tones = { critical: ["bad", "error"], warning: ["warning", "warning"], notice: ["", "info"] }
const announcement = element("div", { class: "visually-hidden", id: "announcement", "aria-live": "assertive" })
let announced = null
/** The elements of the incidents in the last status. */
let known = []

/** Shows the incidents of a status. */
export function showIncidents(container, { incidents, headline, now }) {
  const urgent = incidents.filter(({ severity }) => severity !== "notice")
  const calm = urgent.length ? [] : [line("good", "shown", element("strong", {}, headline))]
  // The text changes with each minute, and the announcement only with the problems themselves.
  const facts = incidents.map(({ text, since, ...incident }) => [incident, since !== undefined && age(since, now)])
  updateWhenChanged(container, [calm.length ? headline : "", facts], () => {
    known = incidents.map((incident, index) => incidentBanner(incident, now, index === 0))
    return [...calm, ...known]
  })
  document.title = urgent.length ? `${urgent.length} ⚠ Martlet relay` : "Martlet relay"
  announce(urgent.map(({ title }) => title).join(". ") || "No problems")
}

/** Shows that the relay does not answer since a time by the clock of this page, above the last known incidents. */
export function showUnreachable(container, since) {
  updateWhenChanged(container, ["unreachable", Math.floor(Date.now() / 1000)], () => [line("bad", "error",
    element("p", { class: "incident-title" }, element("strong", {}, "This page cannot reach the relay"), " since ",
      clockElement(since), " (", ageElement(since, Date.now()), ")."),
    element("p", {}, "Everything below is of that time."),
    element("p", { class: "incident-action" }, "Check that the relay runs: ", element("code", {}, "systemctl status martlet-relay"), ".",
      runbook("MartletRelayUnreachable"))), ...known])
  document.title = "⚠ Martlet relay"
  announce("This page cannot reach the relay")
}

function incidentBanner(incident, now, isFirst) {
  const { title, severity, since, effect, action, detail } = incident
  const [tone, name] = tones[severity] ?? tones.notice
  const time = since === undefined ? [] : [" since ", clockElement(since), " (", ageElement(since, now), ")"]
  const made = line(tone, name,
    element("p", { class: "incident-title" }, element("strong", {}, title), ...time, "."),
    effect ? element("p", {}, effect) : null,
    element("p", { class: "incident-action" }, ...linked(action), detail ? element("code", {}, detail) : null, runbook(incident.runbook)))
  made.dataset.kind = incident.kind
  made.dataset.severity = severity
  made.classList.toggle("first", isFirst)
  return made
}

const line = (tone, name, ...content) => element("div", { class: "banner", "data-tone": tone }, icon(name, 20), element("div", {}, ...content))

/** The heading in the article "Runbook" of the documentation, which has no fixed address. */
const runbook = (name) => element("span", { class: "faint", title: "The heading in the article Runbook of the documentation of MartletRelay" },
  "Runbook: ", element("code", {}, name))

/** A sentence in which addresses are links. */
const linked = (text) => text.split(/(https:\/\/[^\s;]+[^\s;.])/).map((part, index) =>
  (index % 2 ? element("a", { href: part, target: "_blank", rel: "noreferrer" }, part.replace("https://", "")) : part)).concat(" ")

/** Has screen readers read the state when it is another one; not the first state after the sign-in. */
function announce(text) {
  if (!announcement.isConnected) document.body.append(announcement)
  if (announced !== null && announced !== text) announcement.textContent = text
  announced = text
}

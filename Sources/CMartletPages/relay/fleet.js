// SPDX-License-Identifier: Apache-2.0

// The tiles, the relays that share the database, and the facts about this relay.

import { chip, definitionList, table } from "./components.js"
import { element } from "./dom.js"
import { ageElement, rate, updateWhenChanged } from "./figures.js"
import { durationText, grouped } from "./texts.js"

/** Shows the figures that matter first. */
export function showTiles(container, { figures }) {
  updateWhenChanged(container, figures, () => figures.map(({ name, value, note, tone }) =>
    element("div", { class: "tile", "data-tone": tone === "normal" ? null : tone, "data-name": name },
      element("dt", {}, name), element("dd", {}, value, element("small", { class: "faint" }, note)))))
}

/** The texts and tones of the states of a relay. */
const states = { leads: ["Leads", "good"], ok: ["Runs", "good"], draining: ["Shuts down", "warning"], missing: ["Missing", "bad"] }

/** Shows the relays that share the database; the one that serves this page is marked. */
export function showFleet(section, container, { nodes = [], now, "nodes-outdated-since": outdated }) {
  section.hidden = nodes.length === 0
  if (section.hidden) return
  const columns = [
    { name: "Relay", isHeader: true, value: (node) => element("span", {}, `${node.number} ${node.name}`, node.own ? element("small", {}, " this relay") : null) },
    { name: "State", value: (node) => chip(...(states[node.state] ?? [node.state])) },
    { name: "Version", value: (node) => node.version },
    { name: "Up", value: (node) => ageElement(node["started-at"], now) },
    { name: "Last seen", isNumber: true, value: (node) => (node.state === "missing" ? `${durationText(node["silent-ms"] / 1000)} ago` : "now") },
    { name: "In flight", isNumber: true, value: (node) => grouped(node["in-flight"]) },
    { name: "Delivered a second", isNumber: true, value: (node) => rate(node["delivered-per-second"]) },
    { name: "Delivered", isNumber: true, value: (node) => grouped(node.outcomes.delivered) },
  ]
  const facts = nodes.map(({ "silent-ms": silence, ...node }) => [node, node.state === "missing" && Math.floor(silence / 1000)])
  updateWhenChanged(container, [facts, outdated], () => [
    outdated ? element("p", { class: "problem" }, "These are the last known data: the database does not answer since ", ageElement(outdated, now, ".")) : null,
    table("Relays that share this database", columns, nodes),
  ])
}

/** A number of bytes in the units of `df -h`; below ten it has one decimal. */
function sizeText(bytes) {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"]
  let index = 0
  for (; bytes >= 1024 && index < units.length - 1; index += 1) bytes /= 1024
  return `${rate(bytes)} ${units[index]}`
}

/** Shows the facts about the relay that change seldom. */
export function showFacts(container, { version, storage, connections, outcomes: counts, caller, "started-at": start, now }) {
  const outcomes = ["delivered", "refused", "expired", "cancelled", "superseded", "dead"].map((state) => `${grouped(counts[state])} ${state}`)
  const place = storage["free-bytes"] === undefined ? storage.place : `${storage.place}, ${sizeText(storage["free-bytes"])} free on its disk`
  updateWhenChanged(container, [version, place, connections, outcomes, caller, start], () => definitionList({
    Version: version, Started: ageElement(start, now, " ago"), Storage: place, "Pushes since the start": outcomes.join(", "),
    "Client connections": grouped(connections), "Your key": `${caller.name} (${caller.scopes.join(", ")})`,
  }))
}

// SPDX-License-Identifier: Apache-2.0

// The tiles, the relays that share the database, and the facts about this relay.

import { chip, counted, definitionList, grouped, table } from "./components.js"
import { element } from "./dom.js"
import { age, ageElement, count, oldestText, rate, sum, updateWhenChanged } from "./figures.js"

/** Shows the four figures that matter first. */
export function showTiles(container, { lanes }) {
  const [oldest, oldestAge] = [oldestText(lanes), Math.max(0, ...lanes.map((lane) => lane["oldest-seconds"] ?? 0))]
  const oldestNote = { "–": "no push is due", unknown: "the stored pushes cannot be read" }[oldest] ?? "since the push that is due longest became due"
  const [attempts, failed] = [sum(lanes, (lane) => lane["recent-attempts"]), sum(lanes, (lane) => lane["recent-failures"])]
  const share = attempts ? failed / attempts : 0
  const period = lanes.some(({ since }) => since !== undefined) ? "in the last minute, or since the outage was noticed" : "in the last minute"
  const retrying = sum(lanes.filter(({ state }) => state !== "paused"), (lane) => lane.retrying) ?? 0
  const tiles = [
    ["Waiting", count(sum(lanes, (lane) => lane.waiting)), retrying ? `${counted(retrying, "push")} being sent again` : "pushes stored and not sent", ""],
    ["Oldest", oldest, oldestNote, oldestAge >= 300 ? "bad" : oldestAge >= 60 ? "warning" : ""],
    ["Delivered a second", rate(sum(lanes, (lane) => lane["delivered-per-second"])), "accepted by Apple, mean of ten seconds", ""],
    ["Failing", attempts ? `${share > 0 && share < 0.01 ? "<1" : Math.round(share * 100)} %` : "–", attempts ? `${grouped(failed)} of ${counted(attempts, "attempt")} ${period}` : `no attempts ${period}`,
      share >= 0.5 ? "bad" : share >= 0.1 ? "warning" : ""],
  ]
  updateWhenChanged(container, tiles, () => tiles.map(([name, value, note, tone]) =>
    element("div", { class: "tile", "data-tone": tone || null, "data-name": name }, element("dt", {}, name), element("dd", {}, value, element("small", { class: "faint" }, note)))))
}

const states = { leads: ["Leads", "good"], ok: ["Runs", "good"], draining: ["Shuts down", "warning"] }

/** Shows the relays that share the database; the one that serves this page is marked. */
export function showFleet(section, container, { nodes = [], now, "nodes-outdated-since": outdated }) {
  section.hidden = nodes.length === 0
  if (section.hidden) return
  const columns = [
    { name: "Relay", isHeader: true, value: (node) => element("span", {}, `${node.number} ${node.name}`, node.own ? element("small", {}, " this relay") : null) },
    { name: "State", value: (node) => chip(...(node["silent-ms"] >= 5000 ? ["Missing", "bad"] : states[node.state] ?? [node.state, ""])) },
    { name: "Version", value: (node) => node.version },
    { name: "Up", value: (node) => ageElement(node["started-at"], now) },
    { name: "Last seen", isNumber: true, value: (node) => (node["silent-ms"] < 5000 ? "now" : `${age(0, node["silent-ms"])} ago`) },
    { name: "In flight", isNumber: true, value: (node) => grouped(node["in-flight"]) },
    { name: "Delivered a second", isNumber: true, value: (node) => rate(node["delivered-per-second"]) },
    { name: "Delivered", isNumber: true, value: (node) => grouped(node.outcomes.delivered) },
  ]
  const facts = nodes.map((node) => [node, age(node["started-at"], now), Math.floor(node["silent-ms"] / 1000)])
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
export function showFacts(container, { version, storage, connections, lanes, caller, "started-at": start, now }) {
  const outcomes = ["delivered", "refused", "expired", "cancelled", "dead"].map((state) => `${grouped(sum(lanes, (lane) => lane.outcomes[state]) ?? 0)} ${state}`)
  const place = storage["free-bytes"] === undefined ? storage.place : `${storage.place}, ${sizeText(storage["free-bytes"])} free on its disk`
  updateWhenChanged(container, [version, place, connections, outcomes, caller, age(start, now)], () => definitionList({
    Version: version, Started: ageElement(start, now, " ago"), Storage: place, "Pushes since the start": outcomes.join(", "),
    "Client connections": grouped(connections), "Your key": `${caller.name} (${caller.scopes.join(", ")})`,
  }))
}

// SPDX-License-Identifier: Apache-2.0

// Fault injection: presets, single rules, and the seed that reproduces their random choices.

import { request, send, SimulatorError } from "./api.js"
import { banner, button, relativeTime, table, toast } from "./components.js"
import { element } from "./dom.js"
import { action, actions, affects, conditions, matches, parameters, reasons, same, scope } from "./fault-rules.js"
import { choice, field, newestPushes, Page, replaceKeepingFocus, search, section } from "./pages.js"
import { counted, grouped } from "./texts.js"

const path = "/api/v1/chaos"
const pushesRead = 1000

export function open(container) {
  const page = new Page(container, {
    title: "Faults",
    lead: "Make the simulator fail as Apple’s servers and the network do, and see how the sender copes.",
  })
  let chaos = { rules: [], presets: [], seed: "" }
  const active = element("div")
  const presets = element("div", { class: "presets" })
  const seed = field("Seed", { name: "seed", inputmode: "numeric", pattern: "-?[0-9]+", class: "token" })
  const seedInput = seed.querySelector("input")
  const toggle = (preset) => page.attempt(async () => { chaos = await switched(preset, chaos) })
  page.body.append(element("div", { class: "stack" }, active, section("Presets", presets), newRule(page), seedForm(page, seed, () => chaos)))
  return page.follow(async (signal) => {
    const [chaos, pushes] = await Promise.all([fetchChaos(signal), newestPushes("is:faulted", pushesRead, signal)])
    return { chaos, hits: pushes.map(({ number, time, fault, headers, ...push }) => ({ number, time, fault, headers, "device-token": push["device-token"] })) }
  }, ({ chaos: value, hits }) => {
    chaos = value
    page.showCount(chaos.rules.length ? `${grouped(chaos.rules.length)} active` : "none active")
    replaceKeepingFocus(presets, chaos.presets.map((preset) => presetCard(preset, isOn(preset, chaos.rules), toggle)))
    if (document.activeElement !== seedInput) seedInput.value = chaos.seed
    return replaceKeepingFocus(active, chaos.rules.length ? activeRules(page, chaos, hits) : banner("good", "No active rules. The simulator answers as APNs does."))
  })
}

/** Reads the seed from the text of the response: JavaScript numbers are exact only up to 2^53. */
async function fetchChaos(signal) {
  const response = await send(path, { signal })
  const text = await response.text()
  if (!response.ok) throw new SimulatorError(`The simulator returned status ${response.status}.`)
  return { ...JSON.parse(text), seed: /"seed":(-?\d+)/.exec(text)?.[1] ?? "" }
}

/** Replaces all rules, with a seed given as text. */
async function setRules(seed, rules) {
  if (!/^-?\d+$/.test(seed)) throw new SimulatorError("The seed must be an integer.")
  const answer = await send(path, { method: "PUT", body: `{"seed":${seed},"rules":${JSON.stringify(rules)}}` })
  if (!answer.ok) throw new SimulatorError((await answer.json()).detail)
}

const isOn = (preset, rules) => preset.rules.every((rule) => rules.some((other) => same(rule, other)))

/** Switches a preset on or off, and returns the faults after that. */
async function switched(preset, chaos) {
  let value = chaos
  if (!isOn(preset, chaos.rules)) {
    for (const rule of preset.rules) value = await request(`${path}/rules`, "POST", rule)
    return value
  }
  // Delete from the end: a deletion shifts the indexes of the rules after it.
  for (const rule of preset.rules.toReversed()) {
    const index = value.rules.findLastIndex((other) => same(rule, other))
    value = await request(`${path}/rules/${index}`, "DELETE")
  }
  return value
}

function presetCard(preset, isOnNow, toggle) {
  return element("button", {
    type: "button", class: "preset", "aria-pressed": String(isOnNow), "data-key": preset.name, onclick: () => toggle(preset),
  }, element("span", { class: "preset-head" }, element("strong", {}, preset.name),
    element("span", { class: "switch", "aria-hidden": "true" }, isOnNow ? "On" : "Off")), element("span", { class: "faint" }, preset.summary))
}

function activeRules(page, { rules, seed, counts, "last-times": lastTimes }, hits) {
  const stop = () => page.attempt(async () => {
    await request(path, "PUT", {})
    toast(`Stopped ${counted(rules.length, "fault")}.`, {
      seconds: 10, action: { name: "Undo", run: () => page.attempt(() => setRules(seed, rules)) },
    })
  })
  const items = rules.map((rule, index) => ({ rule, index, hits: hits.filter((push) => affects(rule, push)), count: counts[index], last: lastTimes[index] }))
  return element("section", { class: "card active-faults", "aria-label": "Active rules" },
    element("div", { class: "bar" }, element("h3", {}, counted(rules.length, "active rule")), element("span", { class: "grow" }),
      search("is:faulted", "Show affected pushes"), button("Stop all faults", stop, { class: "danger", icon: "close" })),
    table("Active rules", [
      { name: "Fault", isHeader: true, value: ({ rule }) => element("span", { title: JSON.stringify(rule) }, action(rule)) },
      { name: "Affects", value: ({ rule }) => scope(rule) },
      { name: "Pushes affected", isNumber: true, value: affected },
      { name: "Last", value: ({ last }) => (last ? relativeTime(last) : element("span", { class: "faint" }, "never")) },
      { name: "", value: ({ rule, index }) => element("div", { class: "actions" },
        button("Remove", () => removeRule(page, rules, seed, index), { class: "small", "aria-label": `Remove rule ${index + 1}: ${action(rule)}` })) },
    ], items, ({ rule, index }) => ({ "data-key": `${index} ${JSON.stringify(rule)}` })))
}

/** The number of pushes that a rule has affected, as a link to the latest that is stored. */
function affected({ rule, hits, count }) {
  const text = rule.count === undefined ? grouped(count) : `${grouped(Math.min(count, rule.count))} of ${grouped(rule.count)}`
  return hits.length ? element("a", { href: `#/push/${hits[0].number}`, title: "Show the latest" }, text) : text
}

async function removeRule(page, rules, seed, index) {
  if (!await page.change(`${path}/rules/${index}`, "DELETE")) return
  toast(`Removed the fault “${action(rules[index])}”.`, {
    seconds: 10, action: { name: "Undo", run: () => page.change(`${path}/rules`, "POST", rules[index]) },
  })
}

function newRule(page) {
  const problem = element("p", { class: "problem", role: "alert" })
  const settings = element("div", { class: "rule-fields" })
  const fault = choice("Fault", { name: "do", onchange: () => showSettings() },
    Object.fromEntries(Object.entries(actions).map(([name, [text]]) => [name, text])))
  const showSettings = () => settings.replaceChildren(...actions[fault.querySelector("select").value][1].map((name) => {
    const [label, attributes] = parameters[name]
    return field(label, { name, ...attributes })
  }))
  showSettings()
  return element("form", {
    class: "card builder", "aria-label": "Add a rule",
    onsubmit: (event) => {
      event.preventDefault()
      page.change(`${path}/rules`, "POST", rule(event.target), problem)
    },
  },
    element("h3", {}, "Add a rule"),
    element("div", { class: "rule-fields" }, fault), settings,
    element("fieldset", {}, element("legend", {}, "When"), element("div", { class: "rule-fields" },
      Object.entries(conditions).map(([name, [label, attributes, hint]]) => field(label, { name, ...attributes }, hint)))),
    element("fieldset", {}, element("legend", {}, "Only these pushes (all if empty)"), element("div", { class: "rule-fields" },
      Object.entries(matches).map(([name, label]) => field(label, { name: `match.${name}` })))),
    element("datalist", { id: "reasons" }, reasons.map((value) => element("option", { value }))),
    problem, element("div", { class: "actions" }, element("button", { class: "primary" }, "Add rule")))
}

/** The rule of the form, as the simulator's API expects it. */
function rule(form) {
  const made = { do: form.elements.do.value }
  const match = {}
  for (const input of form.querySelectorAll("input")) {
    const value = input.type === "checkbox" ? input.checked : input.value.trim()
    if (value === "" || (input.type === "checkbox" && value)) continue
    if (input.name.startsWith("match.")) match[input.name.slice("match.".length)] = value
    else made[input.name] = input.type === "number" ? Number(value) : value
  }
  return Object.keys(match).length ? { ...made, match } : made
}

function seedForm(page, seed, current) {
  const problem = element("p", { class: "problem", role: "alert" })
  return element("form", {
    class: "card", "aria-label": "Seed",
    onsubmit: (event) => {
      event.preventDefault()
      page.attempt(() => setRules(seed.querySelector("input").value, current().rules), problem)
    },
  }, element("h3", {}, "Seed"), element("p", { class: "faint" }, "The same seed and rules reproduce the same faults."),
  element("div", { class: "inline-form" }, seed, element("button", {}, "Restart with this seed")), problem)
}

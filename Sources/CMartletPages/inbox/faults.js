// SPDX-License-Identifier: Apache-2.0

// Fault injection: presets, single rules, and the seed that reproduces their random choices.

import { request } from "./api.js"
import { element } from "./dom.js"
import { button, field, heading, notice, refreshed, replaceKeepingFocus, search } from "./pages.js"

/** The actions of rules, each with a description and its parameters. */
const actions = {
  respond: ["Return another response", ["reason", "status", "retry-after"]],
  delay: ["Delay the response", ["seconds", "jitter"]],
  hang: ["Send no response", []],
  "reset-stream": ["Reset the stream", ["code"]],
  goaway: ["Send GOAWAY", ["code", "debug-data", "includes-request"]],
  drain: ["Shut down the connection gracefully", ["debug-data"]],
  close: ["Close the connection", []],
  "reset-connection": ["Reset the connection", []],
  "refuse-connections": ["Close the next connections before the TLS handshake", ["limit"]],
  "limit-streams": ["Limit the concurrent streams of a connection", ["limit"]],
  "limit-window": ["Limit the flow-control window of streams, in octets", ["limit"]],
  "limit-errors": ["Send GOAWAY after this many refused pushes", ["limit"]],
  throttle: ["Limit the pushes per second to one device", ["limit"]],
  "skew-clock": ["Set the server's clock ahead", ["seconds"]],
}
const number = { type: "number", step: "any" }
const integer = { type: "number", min: 0, step: 1 }
/** The input attributes of the parameters. */
const parameters = {
  reason: { list: "reasons", required: true, value: "ServiceUnavailable" }, status: { ...integer, min: 200, max: 599 },
  "retry-after": integer, seconds: { ...number, required: true, value: 1 }, jitter: { ...number, min: 0 }, code: integer,
  "debug-data": { placeholder: '{"reason":"Shutdown"}' }, "includes-request": { type: "checkbox", checked: true },
  limit: { ...integer, required: true, value: 1 },
}
const matches = ["topic", "push-type", "priority", "device-prefix", "device-suffix"]
/** The conditions on frequency, with the attributes and hints of their inputs. */
const conditions = {
  probability: [{ ...number, min: 0, max: 1, placeholder: "1" }, "0 to 1"],
  every: [{ ...integer, min: 1, placeholder: "1" }, "5: every fifth push"],
  after: [{ ...integer, placeholder: "0" }, "pushes to skip first"],
  count: [{ ...integer, placeholder: "no limit" }, "maximum number of times"],
}
const reasons = [
  "BadDeviceToken", "DeviceTokenNotForTopic", "Unregistered", "ExpiredProviderToken", "InvalidProviderToken",
  "TooManyProviderTokenUpdates", "TopicDisallowed", "PayloadTooLarge", "TooManyRequests", "InternalServerError",
  "ServiceUnavailable", "Shutdown", "IdleTimeout",
]
const same = (one, other) => JSON.stringify(one) === JSON.stringify(other)

export function open(container) {
  const { element: noticeElement, attempt } = notice()
  const presets = element("div", { class: "cards" })
  const rules = element("div", {})
  const seed = field("Seed", { name: "seed", inputmode: "numeric", pattern: "-?[0-9]+", class: "token" })
  let chaos = { rules: [], presets: [] }
  const act = (path, method, body) => attempt(async () => {
    await request(`/api/v1/chaos${path}`, method, body)
    await refresh.again()
  })
  const toggle = (preset) => attempt(async () => {
    if (!isOn(preset, chaos.rules)) {
      for (const rule of preset.rules) await request("/api/v1/chaos/rules", "POST", rule)
    } else {
      // Delete from the end: a deletion shifts the indexes of the rules after it.
      for (const rule of preset.rules.toReversed()) {
        const index = chaos.rules.findLastIndex((other) => same(rule, other))
        chaos = await request(`/api/v1/chaos/rules/${index}`, "DELETE")
      }
    }
    await refresh.again()
  })
  container.replaceChildren(
    heading("Faults", "Rules that inject faults into requests and connections. ", search("is:faulted", "Show affected pushes"), "."),
    noticeElement, rules, element("h3", {}, "Presets"), presets, newRule(act, attempt),
    element("form", {
      class: "tools", "aria-label": "Seed",
      onsubmit: (event) => {
        event.preventDefault()
        attempt(() => setSeed(seed.querySelector("input").value, chaos.rules).then(() => refresh.again()))
      },
    }, seed, element("button", {}, "Restart with this seed"),
      element("small", {}, "The same seed and rules reproduce the same faults.")))
  const refresh = refreshed(fetchChaos, (value) => {
    chaos = value ?? chaos
    replaceKeepingFocus(presets, chaos.presets.map((preset) => presetCard(preset, isOn(preset, chaos.rules), toggle)))
    replaceKeepingFocus(rules, activeRules(chaos.rules, act))
    if (document.activeElement !== seed.querySelector("input")) seed.querySelector("input").value = chaos.seed
  })
  return refresh.end
}

/** Reads the seed from the text of the response: JavaScript numbers are exact only up to 2^53. */
async function fetchChaos() {
  const text = await (await fetch("/api/v1/chaos")).text()
  return { ...JSON.parse(text), seed: /"seed":(-?\d+)/.exec(text)?.[1] ?? "" }
}

async function setSeed(seed, rules) {
  if (!/^-?\d+$/.test(seed)) throw new Error("The seed must be an integer.")
  const body = `{"seed":${seed},"rules":${JSON.stringify(rules)}}`
  const answer = await fetch("/api/v1/chaos", { method: "PUT", body })
  if (!answer.ok) throw new Error((await answer.json()).detail)
}

const isOn = (preset, rules) => preset.rules.every((rule) => rules.some((other) => same(rule, other)))

function presetCard(preset, isOnNow, toggle) {
  return element("button", {
    type: "button", class: "preset", "aria-pressed": String(isOnNow), "data-key": preset.name,
    onclick: () => toggle(preset),
  }, element("strong", {}, preset.name), element("span", {}, preset.summary))
}

function activeRules(rules, act) {
  if (rules.length === 0) return element("p", { class: "no-faults" }, "No active rules.")
  return [
    element("div", { class: "bar" },
      element("h3", {}, rules.length === 1 ? "1 active rule" : `${rules.length} active rules`),
      button("Remove all", () => act("", "PUT", {}))),
    element("ol", { class: "rules" }, rules.map((rule, index) =>
      element("li", { "data-key": `${index} ${JSON.stringify(rule)}` },
        element("span", {}, element("strong", {}, description(rule)), element("code", {}, JSON.stringify(rule))),
        button("Remove", () => act(`/rules/${index}`, "DELETE"), { "aria-label": `Remove rule ${index + 1}` })))),
  ]
}

/** A description of a rule. */
function description(rule) {
  const [action, names] = actions[rule.do]
  const settings = names.filter((name) => rule[name] !== undefined).map((name) => `${name} ${rule[name]}`)
  const when = Object.keys(conditions).filter((name) => rule[name] !== undefined).map((name) => `${name} ${rule[name]}`)
  const where = Object.entries(rule.match ?? {}).map(([name, value]) => `${name} ${value}`)
  return [action + (settings.length ? `: ${settings.join(", ")}` : ""), ...when, ...where].join("; ")
}

function newRule(act, attempt) {
  const settings = element("div", { class: "bar" })
  const choice = element("select", { name: "do", onchange: () => showSettings() },
    Object.entries(actions).map(([name, [action]]) => element("option", { value: name }, `${name}: ${action}`)))
  const showSettings = () => settings.replaceChildren(...actions[choice.value][1].map((name) =>
    field(name, { name, ...parameters[name] })))
  showSettings()
  return element("form", {
    class: "tools rule", "aria-label": "Add a rule",
    onsubmit: (event) => {
      event.preventDefault()
      attempt(() => act("/rules", "POST", rule(event.target)))
    },
  },
    element("h3", {}, "Add a rule"),
    element("label", { class: "field" }, element("span", {}, "Fault"), choice), settings,
    element("fieldset", {}, element("legend", {}, "When"),
      Object.entries(conditions).map(([name, [attributes, hint]]) => field(name, { name, ...attributes }, hint))),
    element("fieldset", {}, element("legend", {}, "Match (all pushes if empty)"),
      matches.map((name) => field(name, { name: `match.${name}` }))),
    element("datalist", { id: "reasons" }, reasons.map((value) => element("option", { value }))),
    element("button", {}, "Add rule"))
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

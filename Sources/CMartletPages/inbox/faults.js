// What goes wrong: bad days by name, rules one by one, and the seed that has them happen the same way again.

import { ask } from "./api.js"
import { element } from "./dom.js"
import { button, field, heading, notice, refreshed, renew, search } from "./pages.js"

/** What can go wrong, with the parts that each takes. */
const actions = {
  respond: ["The answer is another", ["reason", "status", "retry-after"]],
  delay: ["The answer comes late", ["seconds", "jitter"]],
  hang: ["No answer comes", []],
  "reset-stream": ["The stream is reset", ["code"]],
  goaway: ["The connection says GOAWAY", ["code", "debug-data", "includes-request"]],
  drain: ["The connection shuts down gracefully", ["debug-data"]],
  close: ["The connection ends in order", []],
  "reset-connection": ["The connection is reset", []],
  "refuse-connections": ["The next clients are dropped before the handshake", ["limit"]],
  "limit-streams": ["At most this many streams on a connection", ["limit"]],
  "limit-window": ["So many octets on a stream", ["limit"]],
  "limit-errors": ["GOAWAY after so many refused pushes", ["limit"]],
  throttle: ["More than this many a second to one device are too many", ["limit"]],
  "skew-clock": ["The server's clock is ahead", ["seconds"]],
}
const number = { type: "number", step: "any" }
const whole = { type: "number", min: 0, step: 1 }
const parts = {
  reason: { list: "reasons", required: true, value: "ServiceUnavailable" }, status: { ...whole, min: 200, max: 599 },
  "retry-after": whole, seconds: { ...number, required: true, value: 1 }, jitter: { ...number, min: 0 }, code: whole,
  "debug-data": { placeholder: '{"reason":"Shutdown"}' }, "includes-request": { type: "checkbox", checked: true },
  limit: { ...whole, required: true, value: 1 },
}
const matches = ["topic", "push-type", "priority", "device-prefix", "device-suffix"]
const times = {
  probability: [{ ...number, min: 0, max: 1, placeholder: "1" }, "0 to 1"],
  every: [{ ...whole, min: 1, placeholder: "1" }, "5 for every fifth"],
  after: [{ ...whole, placeholder: "0" }, "how many pass before"],
  count: [{ ...whole, placeholder: "no limit" }, "how often at most"],
}
const reasons = [
  "BadDeviceToken", "DeviceTokenNotForTopic", "Unregistered", "ExpiredProviderToken", "InvalidProviderToken",
  "TooManyProviderTokenUpdates", "TopicDisallowed", "PayloadTooLarge", "TooManyRequests", "InternalServerError",
  "ServiceUnavailable", "Shutdown", "IdleTimeout",
]
const same = (one, other) => JSON.stringify(one) === JSON.stringify(other)

export function open(place) {
  const { place: noticePlace, attempt } = notice()
  const presets = element("div", { class: "cards" })
  const rules = element("div", {})
  const seed = field("Seed", { name: "seed", inputmode: "numeric", pattern: "-?[0-9]+", class: "token" })
  let chaos = { rules: [], presets: [] }
  const act = (path, method, body) => attempt(async () => {
    await ask(`/api/v1/chaos${path}`, method, body)
    await refresh.again()
  })
  const toggle = (preset) => attempt(async () => {
    if (!isOn(preset, chaos.rules)) {
      for (const rule of preset.rules) await ask("/api/v1/chaos/rules", "POST", rule)
    } else {
      // From the last on, as those behind a rule move up when it goes.
      for (const rule of preset.rules.toReversed()) {
        const index = chaos.rules.findLastIndex((other) => same(rule, other))
        chaos = await ask(`/api/v1/chaos/rules/${index}`, "DELETE")
      }
    }
    await refresh.again()
  })
  place.replaceChildren(
    heading("Faults", "What goes wrong from now on, and ", search("is:disturbed", "the pushes that it touched"), "."),
    noticePlace, rules, element("h3", {}, "Bad days"), presets, newRule(act, attempt),
    element("form", {
      class: "tools", "aria-label": "Seed",
      onsubmit: (event) => {
        event.preventDefault()
        attempt(() => sow(seed.querySelector("input").value, chaos.rules).then(() => refresh.again()))
      },
    }, seed, element("button", {}, "Begin again with this seed"),
      element("small", {}, "The same seed and rules have the same go wrong again.")))
  const refresh = refreshed(fetchChaos, (value) => {
    chaos = value ?? chaos
    renew(presets, chaos.presets.map((preset) => presetCard(preset, isOn(preset, chaos.rules), toggle)))
    renew(rules, inForce(chaos.rules, act))
    if (document.activeElement !== seed.querySelector("input")) seed.querySelector("input").value = chaos.seed
  })
  return refresh.end
}

/** A seed has up to nineteen digits, which a number of this language has not. */
async function fetchChaos() {
  const text = await (await fetch("/api/v1/chaos")).text()
  return { ...JSON.parse(text), seed: /"seed":(-?\d+)/.exec(text)?.[1] ?? "" }
}

async function sow(seed, rules) {
  if (!/^-?\d+$/.test(seed)) throw new Error("the seed is a whole number")
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

function inForce(rules, act) {
  if (rules.length === 0) return element("p", { class: "all-good" }, "All is good: nothing goes wrong.")
  return [
    element("div", { class: "bar" },
      element("h3", {}, rules.length === 1 ? "One rule is in force" : `${rules.length} rules are in force`),
      button("All good again", () => act("", "PUT", {}))),
    element("ol", { class: "rules" }, rules.map((rule, index) =>
      element("li", { "data-key": `${index} ${JSON.stringify(rule)}` },
        element("span", {}, element("strong", {}, sentence(rule)), element("code", {}, JSON.stringify(rule))),
        button("Remove", () => act(`/rules/${index}`, "DELETE"), { "aria-label": `Remove rule ${index + 1}` })))),
  ]
}

/** A rule in words. */
function sentence(rule) {
  const [what, names] = actions[rule.do]
  const own = names.filter((name) => rule[name] !== undefined).map((name) => `${name} ${rule[name]}`)
  const when = Object.keys(times).filter((name) => rule[name] !== undefined).map((name) => `${name} ${rule[name]}`)
  const where = Object.entries(rule.match ?? {}).map(([name, value]) => `${name} ${value}`)
  return [what + (own.length ? `: ${own.join(", ")}` : ""), ...when, ...where].join("; ")
}

function newRule(act, attempt) {
  const own = element("div", { class: "bar" })
  const choice = element("select", { name: "do", onchange: () => showParts() },
    Object.entries(actions).map(([name, [what]]) => element("option", { value: name }, `${name}: ${what}`)))
  const showParts = () => own.replaceChildren(...actions[choice.value][1].map((name) =>
    field(name, { name, ...parts[name] })))
  showParts()
  return element("form", {
    class: "tools rule", "aria-label": "One more rule",
    onsubmit: (event) => {
      event.preventDefault()
      attempt(() => act("/rules", "POST", rule(event.target)))
    },
  },
    element("h3", {}, "One more rule"),
    element("label", { class: "field" }, element("span", {}, "What goes wrong"), choice), own,
    element("fieldset", {}, element("legend", {}, "When"),
      Object.entries(times).map(([name, [attributes, hint]]) => field(name, { name, ...attributes }, hint))),
    element("fieldset", {}, element("legend", {}, "With which pushes (all, when nothing is said)"),
      matches.map((name) => field(name, { name: `match.${name}` }))),
    element("datalist", { id: "reasons" }, reasons.map((value) => element("option", { value }))),
    element("button", {}, "Add the rule"))
}

/** The rule that a form holds, as the simulator takes it. */
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

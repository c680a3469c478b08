// SPDX-License-Identifier: Apache-2.0

// The Swift code that sends a push with Martlet: with types where they can express its payload, and otherwise as bytes.

import { parse } from "./json-text.js"
import { pushTypes } from "./push-types.js"
import { call, codable, literal, Unsupported } from "./swift-values.js"

const priorities = { 10: ".immediate", 5: ".powerAware", 1: ".powerFirst" }

/** The code for a push; `text` is its payload as it was received. */
export function swift(push, text) {
  try {
    return typed(push, text)
  } catch (error) {
    if (!(error instanceof Unsupported) && error.offset === undefined) throw error
    return opaque(push, text)
  }
}

/** An object of the payload, whose members are taken one by one; a member that nothing has taken has no typed form. */
class Members {
  #members

  constructor(node, text) {
    if (node.type !== "object") throw new Unsupported()
    this.text = text
    this.#members = new Map(node.children.map((child) => [child.key, child]))
    if (this.#members.size !== node.children.length) throw new Unsupported()
  }

  /** The member with a name, which must have one of the types; undefined if it is absent. */
  take(name, ...types) {
    const node = this.#members.get(name)
    this.#members.delete(name)
    if (node && types.length && !types.includes(node.type)) throw new Unsupported()
    return node
  }

  /** The literal of a member; undefined if it is absent. */
  literal(name, ...types) {
    const node = this.take(name, ...types)
    return node && literal(node, this.text)
  }

  string(name) {
    const node = this.take(name, "string")
    return node && JSON.parse(this.text.slice(node.start, node.end))
  }

  number(name) {
    const node = this.take(name, "number")
    return node && Number(this.text.slice(node.start, node.end))
  }

  object(name) {
    const node = this.take(name, "object")
    return node && new Members(node, this.text)
  }

  get rest() { return [...this.#members.values()] }

  /** Throws if a member is left. */
  end() {
    if (this.#members.size > 0) throw new Unsupported()
  }
}

function typed(push, text) {
  const payload = new Members(parse(text), text)
  const aps = payload.object("aps")
  const type = push.headers["apns-push-type"]
  const topic = push.app ?? push.headers["apns-topic"] ?? ""
  const suffix = pushTypes[type]?.topicSuffix ?? ""
  if (push.channel === undefined && !topic.endsWith(suffix)) throw new Unsupported()
  const app = JSON.stringify(push.app ?? topic.slice(0, topic.length - suffix.length))
  const device = `DeviceToken(hex: ${JSON.stringify(push["device-token"])})`
  if (type === "liveactivity") return activity(push, payload, aps, app, device)
  const { declarations, notification } = (notifications[type] ?? unsupported)(push, payload, aps)
  payload.end()
  aps?.end()
  return program(declarations, call("try await client.send", [["", notification], ["to", device], ["topic", app]]))
}

const unsupported = () => { throw new Unsupported() }
const program = (declarations, statement) => [...declarations, statement.text("")].join("\n\n")

function expiration({ headers }) {
  const text = headers["apns-expiration"]
  if (text === undefined) return undefined
  if (text === "0") return ".attemptOnce"
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new Unsupported()
  return `.at(${date(text)})`
}

const date = (seconds) => `Date(timeIntervalSince1970: ${literal(parse(String(seconds)), String(seconds))})`

/** The priority of a push, which is left out if it is the default of the function. */
function priority({ headers }, standard) {
  const text = headers["apns-priority"] ?? "10"
  if (!Object.hasOwn(priorities, text)) throw new Unsupported()
  return priorities[text] === standard ? undefined : priorities[text]
}

/** The header fields for every type of notification, after the arguments for its content. */
const headerArguments = (push, standard) => [
  ["priority", priority(push, standard)], ["expiration", expiration(push)],
  ["collapseID", push.headers["apns-collapse-id"] && JSON.stringify(push.headers["apns-collapse-id"])],
]

/** Refuses the header fields that a function has no parameter for. */
function require(push, { isCollapsible = false, priority: value = null }) {
  if (!isCollapsible && push.headers["apns-collapse-id"] !== undefined) throw new Unsupported()
  if (value !== null && (push.headers["apns-priority"] ?? "10") !== value) throw new Unsupported()
}

/** The app's own members as a value of a new type, or nothing. */
function custom(payload) {
  const members = payload.rest
  for (const { key } of members) payload.take(key)
  return members.length ? codable(members, payload.text, "AppData") : { declarations: [], value: undefined }
}

/** A type whose content is the app's own data. */
const appData = (name, options = {}) => (push, payload, aps) => {
  require(push, options)
  const { declarations, value } = custom(payload)
  if (value === undefined && options.isRequired) throw new Unsupported()
  return { declarations, notification: call("." + name, [
    ["", value && call("PushNotification.CustomData", [["", value]])], ...options.priority ? [] : [["priority", priority(push, ".immediate")]],
    ["expiration", expiration(push) ?? (options.hasDefaultExpiration ? "nil" : undefined)]]) }
}

const reload = (name, standard) => (push, payload, aps) => {
  require(push, {})
  if (aps?.literal("content-changed", "boolean") !== "true") throw new Unsupported()
  return { declarations: [], notification: call(name, [["priority", priority(push, standard)], ["expiration", expiration(push)]]) }
}

const notifications = {
  alert(push, payload, aps) {
    if (!aps) throw new Unsupported()
    const alert = aps.take("alert", "string", "object")
    const mutable = aps.literal("mutable-content", "number")
    if (mutable !== undefined && mutable !== "1") throw new Unsupported()
    const content = [
      ["", alert === undefined ? "nil" : alert.type === "string" ? literal(alert, payload.text) : alertValue(new Members(alert, payload.text))],
      ["sound", sound(aps)], ["badge", integer(aps, "badge")], ["threadID", aps.literal("thread-id", "string")],
      ["category", aps.literal("category", "string")], ["targetContentID", aps.literal("target-content-id", "string")],
      ["interruptionLevel", level(aps)], ["relevanceScore", aps.literal("relevance-score", "number")],
      ["filterCriteria", aps.literal("filter-criteria", "string")], ["mutableContent", mutable && "true"],
    ]
    const { declarations, value } = custom(payload)
    return { declarations, notification: call(".alert", [...content, ["custom", value], ...headerArguments(push, ".immediate")]) }
  },
  background(push, payload, aps) {
    require(push, { isCollapsible: true })
    if (push.headers["apns-priority"] !== "5" || aps?.literal("content-available", "number") !== "1") throw new Unsupported()
    const { declarations, value } = custom(payload)
    return { declarations, notification: call(".background", [["custom", value], ...headerArguments(push, ".powerAware").slice(1)]) }
  },
  voip: appData("voip", { priority: "10", hasDefaultExpiration: true, isRequired: true }),
  pushtotalk: appData("pushToTalk", { priority: "10", hasDefaultExpiration: true, isRequired: true }),
  complication: appData("complication", { isRequired: true }),
  location: appData("location"),
  widgets: reload(".widgets", ".powerAware"),
  controls: reload(".controls", ".immediate"),
  fileprovider(push, payload) {
    require(push, { priority: "10" })
    return { declarations: [], notification: call(".fileProvider", [
      ["containerIdentifier", payload.literal("container-identifier", "string") ?? unsupported()], ["domain", payload.literal("domain", "string")], ["expiration", expiration(push)]]) }
  },
  mdm(push, payload) {
    require(push, { priority: "10" })
    return { declarations: [], notification: call(".mdm", [["pushMagic", payload.literal("mdm", "string") ?? unsupported()], ["expiration", expiration(push)]]) }
  },
}

function integer(members, name) {
  const text = members.literal(name, "number")
  if (text?.includes(".")) throw new Unsupported()
  return text
}

function level(aps) {
  const value = aps.string("interruption-level")
  const known = { passive: ".passive", active: ".active", "time-sensitive": ".timeSensitive", critical: ".critical" }
  return value === undefined ? undefined : known[value] ?? call("PushNotification.InterruptionLevel", [["rawValue", JSON.stringify(value)]])
}

function sound(members) {
  const node = members.take("sound", "string", "object")
  if (!node) return undefined
  if (node.type === "string") {
    const name = literal(node, members.text)
    return name === '"default"' ? ".default" : name
  }
  const critical = new Members(node, members.text)
  if (critical.literal("critical", "number") !== "1") throw new Unsupported()
  const made = call(".critical", [["name", critical.literal("name", "string")], ["volume", critical.literal("volume", "number")]])
  critical.end()
  return made
}

const alertNames = [
  ["title", "title"], ["subtitle", "subtitle"], ["body", "body"], ["launchImage", "launch-image"],
  ["titleLocalizationKey", "title-loc-key"], ["titleLocalizationArguments", "title-loc-args"],
  ["subtitleLocalizationKey", "subtitle-loc-key"], ["subtitleLocalizationArguments", "subtitle-loc-args"],
  ["localizationKey", "loc-key"], ["localizationArguments", "loc-args"],
]

function alertValue(alert) {
  const made = call("PushNotification.Alert", alertNames.map(([label, name]) =>
    [label, name.endsWith("args") ? strings(alert.take(name, "array"), alert.text) : alert.literal(name, "string")]))
  alert.end()
  return made
}

function strings(node, text) {
  if (node?.children.some(({ type }) => type !== "string")) throw new Unsupported()
  return node && literal(node, text)
}

/** The alert of a Live Activity, which needs a title and a body. */
function activityAlert(aps) {
  const alert = aps.object("alert")
  if (!alert) return undefined
  const part = (name) => {
    const node = alert.take(name, "string", "object") ?? unsupported()
    if (node.type === "string") return literal(node, alert.text)
    const keys = new Members(node, alert.text)
    const made = call(".localized", [["key", keys.literal("loc-key", "string") ?? unsupported()], ["arguments", strings(keys.take("loc-args", "array"), alert.text)]])
    keys.end()
    return made
  }
  const played = sound(alert) ?? "nil"
  const made = call("LiveActivityAlert", [["title", part("title")], ["body", part("body")], ["sound", played === ".default" ? undefined : played]])
  alert.end()
  return made
}

function activity(push, payload, aps, app, device) {
  payload.end()
  if (!aps || push.headers["apns-collapse-id"]) throw new Unsupported()
  // The client chooses the timestamp: the phone ignores one that is not newer than that of the content it shows.
  aps.take("timestamp", "number")
  const event = aps.string("event")
  const state = aps.take("content-state", "object")
  const make = event === "start" ? start : event === "update" || event === "end" ? change : unsupported
  const { declarations, value } = make(aps, state, event)
  aps.end()
  const isBroadcast = push.channel !== undefined
  const standard = event === "start" ? ".immediate" : ".powerAware"
  const given = priority(push, standard)
  if (!isBroadcast && given === ".powerFirst") throw new Unsupported()
  const until = expiration(push)
  const headers = [["topic", app], ["priority", given], ["expiration", isBroadcast && until === ".attemptOnce" ? undefined : until]]
  if (isBroadcast && (event === "start" || until === undefined)) throw new Unsupported()
  const statement = event === "start" ? call("try await client.startLiveActivity", [["", value], ["on", device], ...headers])
    : isBroadcast ? call("try await client.broadcast", [["", value], ["to", JSON.stringify(push.channel)], ...headers])
      : call("try await client.send", [["", value], ["toActivity", device], ...headers])
  return program(declarations, statement)
}

const optionalDate = (aps, name) => {
  const seconds = aps.number(name)
  return seconds === undefined ? undefined : date(seconds)
}

function start(aps, state) {
  const type = aps.string("attributes-type") ?? unsupported()
  const attributes = aps.take("attributes", "object")
  if (!attributes || !state) throw new Unsupported()
  const alert = activityAlert(aps) ?? unsupported()
  const channel = aps.literal("input-push-channel", "string")
  const token = aps.literal("input-push-token", "number")
  if (token !== undefined && (token !== "1" || channel)) throw new Unsupported()
  const name = /^[A-Z]\w*$/.test(type) ? type : "ActivityAttributes"
  const content = codable(state.children, aps.text, "ContentState", { prefix: `${name}.` })
  const own = codable(attributes.children, aps.text, name, {
    conformance: "LiveActivityAttributes", inner: content.declarations, members: name === type ? [] : [`static let attributesType = ${JSON.stringify(type)}`],
  })
  return { declarations: own.declarations, value: call("LiveActivityStart", [
    ["", own.value], ["state", content.value], ["alert", alert],
    ["updateSource", token ? ".byToken" : channel && `.byChannel(${channel})`],
    ["staleDate", optionalDate(aps, "stale-date")], ["relevanceScore", aps.literal("relevance-score", "number")]]) }
}

function change(aps, state, event) {
  const { declarations, value } = state ? codable(state.children, aps.text, "ContentState") : { declarations: [], value: undefined }
  if (!state && event === "update") throw new Unsupported()
  const alert = activityAlert(aps)
  if (event === "update") {
    return { declarations, value: call(".update", [["", value], ["alert", alert], ["staleDate", optionalDate(aps, "stale-date")], ["relevanceScore", aps.literal("relevance-score", "number")]]) }
  }
  const dismissal = optionalDate(aps, "dismissal-date")
  if (!state && alert) throw new Unsupported()
  return { declarations, value: call(".end", [["", value], ["dismissal", dismissal && `.at(${dismissal})`], ["alert", alert]]) }
}

/** The code for a push whose payload is sent as it is. */
function opaque(push, text) {
  const { headers } = push
  let marks = "#"
  while (text.includes(`"""${marks}`)) marks += "#"
  const payload = `let payload = ${marks}"""\n${text.split("\n").map((line) => (line ? `    ${line}` : line)).join("\n")}\n    """${marks}`
  const type = headers["apns-push-type"]
  const raw = headers["apns-priority"]
  const seconds = headers["apns-expiration"]
  const notification = call(".opaque", [
    ["", "payload.utf8"], ["pushType", type === undefined ? "nil" : `PushType(rawValue: ${JSON.stringify(type)})`],
    ["priority", /^\d{1,9}$/.test(raw ?? "") ? priorities[raw] ?? `PushNotification.Priority(rawValue: ${raw})` : undefined],
    ["expiration", seconds === "0" ? ".attemptOnce" : /^\d{1,15}$/.test(seconds ?? "") ? `.at(${date(Number(seconds))})` : undefined],
    ["collapseID", headers["apns-collapse-id"] && JSON.stringify(headers["apns-collapse-id"])]])
  if (push.channel !== undefined) return `// The library has no typed form for this broadcast.\n${payload}`
  return program([payload], call("try await client.send", [
    ["", notification], ["to", `DeviceToken(hex: ${JSON.stringify(push["device-token"] ?? "")})`], ["topic", JSON.stringify(headers["apns-topic"] ?? "")]]))
}

// SPDX-License-Identifier: Apache-2.0

// The dialog that composes a push: its destination, headers and payload, with findings as it is edited.

import { request } from "./api.js"
import { element } from "./dom.js"
import { byteLimit, examples, topic, types } from "./examples.js"
import { app } from "./push.js"
import { findingsList, sizeBar } from "./payload.js"

const dialog = document.getElementById("composer")
const priorities = { "": "none", 10: "10 (immediate)", 5: "5 (saves power)", 1: "1 (does not wake)" }
/** The destination of the last push, as the default of the next. */
let last = { token: "5d3a6a1c8f9a42d6b0e7c41f2a9b8c7d6e5f40312213243546576879808a9bac", app: "com.example.app", channel: "" }

/** Opens the dialog, filled in from `start` if it is given; the fields suggest tokens and topics from `pushes`. */
export async function compose(pushes, start) {
  const [{ devices }, { channels }] = await Promise.all([request("/api/v1/devices"), request("/api/v1/channels")])
  if (dialog.open) return
  const newest = pushes.find((push) => push["device-token"])
  last.channel ||= channels[0]?.channel ?? ""
  if (newest && !start) last = { ...last, token: newest["device-token"], app: app(newest) }
  new Composer(pushes, devices, channels.map(({ channel }) => channel)).open(start)
}

class Composer {
  #fields = {}
  #timer = 0
  #byteCount = element("div")
  #findings = element("div", { class: "found", role: "status" })
  #result = element("output", { class: "result" })
  #isPayloadValid = false

  constructor(pushes, devices, channels) {
    const field = (name, made) => (this.#fields[name] = made)
    const input = (name, label, list, more = {}) => element("label", { class: name }, label,
      field(name, element("input", { spellcheck: "false", autocomplete: "off", list: list && `known-${name}`, ...more })),
      list ? element("datalist", { id: `known-${name}` }, [...new Set(list)].slice(0, 50).map((value) =>
        element("option", { value }))) : null)
    const choice = (name, label, values) => element("label", { class: name }, label,
      field(name, element("select", {}, Object.entries(values).map(([value, text]) => element("option", { value }, text)))))
    const known = (of) => pushes.map(of).filter(Boolean)
    dialog.replaceChildren(element("form", { method: "dialog", onsubmit: (event) => event.preventDefault() },
      element("h2", { id: "composer-title" }, "Compose a push"),
      element("div", { class: "examples", role: "group", "aria-label": "Start from" }, Object.entries(examples).map(
        ([name, example]) => element("button", { type: "button", onclick: () => this.#useExample(example) }, name))),
      element("div", { class: "fields" },
        choice("target", "To", { device: "a device", channel: "a channel" }),
        input("token", "Device token", [...devices.slice(0, 30), ...known((push) => push["device-token"])]),
        input("app", "App", known(app)), input("channel", "Channel", [...channels, ...known((push) => push.channel)]),
        choice("type", "Push type", { "": "none", ...Object.fromEntries(types.map((type) => [type, type])) }),
        input("topic", "Topic", known((push) => push.headers["apns-topic"])),
        choice("priority", "Priority", priorities),
        input("expiration", "Expiration", null, { inputmode: "numeric", placeholder: "Unix time in seconds, or 0" }),
        input("collapse", "Collapse ID")),
      element("label", { class: "payload" }, "Payload",
        field("text", element("textarea", { spellcheck: "false", rows: 10, "aria-describedby": "composer-findings" }))),
      element("div", { class: "state" }, this.#byteCount), this.#findings,
      element("div", { class: "actions" }, this.#result,
        element("button", { type: "button", onclick: () => dialog.close() }, "Close"),
        element("button", { type: "button", class: "primary", onclick: () => this.#send() }, "Send"))))
    this.#findings.id = "composer-findings"
    const form = dialog.firstElementChild
    form.addEventListener("input", ({ target }) => this.#changed(target))
    form.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.#send()
    })
  }

  open(start) {
    if (start) this.#fill(start)
    else this.#useExample(Object.values(examples)[0])
    dialog.showModal()
    this.#fields.text.focus()
  }

  /** Fills in an example, for the device or app of the form. */
  #useExample(example) {
    const { token, app, channel } = this.#fields.app.value ? this.#values : last
    this.#fill({
      token, app, channel, topic: topic(app, example.type), text: JSON.stringify(example.payload(), null, 2),
      expiration: "", priority: "", collapse: "", ...example,
    })
  }

  #fill(start) {
    const values = { ...last, ...start, target: start.isBroadcast ? "channel" : "device" }
    for (const [name, field] of Object.entries(this.#fields)) {
      const value = values[name] ?? ""
      // A received push may have a value that is not among the options.
      if (field.tagName === "SELECT" && ![...field.options].some((option) => option.value === value)) {
        field.append(element("option", { value }, value))
      }
      field.value = value
    }
    if (start.topic && !start.app) this.#fields.app.value = appOf(start.topic)
    this.#result.textContent = ""
    this.#show()
  }

  get #values() {
    return Object.fromEntries(Object.entries(this.#fields).map(([name, field]) => [name, field.value]))
  }

  #changed(field) {
    const { app, type } = this.#values
    if (field === this.#fields.type || field === this.#fields.app) this.#fields.topic.value = topic(app, type)
    if (field === this.#fields.topic) this.#fields.app.value = appOf(field.value)
    this.#show()
  }

  /** The push as the simulator's API expects it. */
  get #push() {
    const { target, token, app, channel, type, topic, priority, expiration, collapse, text } = this.#values
    const isBroadcast = target === "channel"
    const headers = {
      "apns-push-type": isBroadcast ? "liveactivity" : type, "apns-topic": isBroadcast ? "" : topic, "apns-priority": priority,
      "apns-expiration": expiration.trim(), "apns-collapse-id": isBroadcast ? "" : collapse,
    }
    return {
      ...(isBroadcast ? { app, channel } : { "device-token": token.trim() }),
      headers: Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== "")), "payload-text": text,
    }
  }

  #show() {
    const { target, type, text } = this.#values
    dialog.dataset.target = target
    this.#byteCount.replaceChildren(
      sizeBar(text, byteLimit(type, target === "channel")))
    const error = jsonError(text)
    this.#isPayloadValid = error === null
    this.#fields.text.setAttribute("aria-invalid", String(error !== null))
    clearTimeout(this.#timer)
    if (error) this.#findings.replaceChildren(element("p", { class: "error" }, `Invalid JSON: ${error}`))
    else this.#timer = setTimeout(() => this.#lint(), 150)
  }

  async #lint() {
    const checked = JSON.stringify(this.#push)
    try {
      const { findings } = await request("/api/v1/lint", "POST", this.#push)
      if (checked === JSON.stringify(this.#push) && this.#isPayloadValid) this.#findings.replaceChildren(findingsList(findings))
    } catch (error) {
      this.#findings.replaceChildren(element("p", { class: "error" }, error.message))
    }
  }

  async #send() {
    const { token, app, channel } = this.#values
    last = { token, app, channel }
    try {
      const { status, reason, number } = await request("/api/v1/pushes", "POST", this.#push)
      this.#result.dataset.accepted = String(status === 200)
      this.#result.replaceChildren(element("strong", {}, `${status} ${reason ?? ""}`),
        element("a", { href: `#/push/${number}`, onclick: () => dialog.close() }, ` push ${number}`))
    } catch (error) {
      this.#result.dataset.accepted = "false"
      this.#result.textContent = error.message
    }
  }
}

const appOf = (topic) => app({ headers: { "apns-topic": topic } })

/** The browser's error message for invalid JSON; null if the text is valid. */
function jsonError(text) {
  try {
    JSON.parse(text)
    return null
  } catch (error) {
    return error.message
  }
}

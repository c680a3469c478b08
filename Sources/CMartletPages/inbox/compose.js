// SPDX-License-Identifier: Apache-2.0

// The dialog that composes a push: its destination, headers and payload beside a preview, with findings as it is edited.

import { request } from "./api.js"
import { button, iconButton, segments } from "./components.js"
import { PayloadEditor } from "./compose-editor.js"
import { Draft, removeTemplate, saveTemplate, templates } from "./compose-store.js"
import { element, loadStyle } from "./dom.js"
import { byteLimit, exampleGroups, examples, topic, types } from "./examples.js"
import { icon } from "./icons.js"
import { outcome } from "./outcome.js"
import { findingsList } from "./payload.js"
import { previews } from "./preview.js"
import { app, short, typeName } from "./push.js"
import { counted, minuteTime } from "./texts.js"

const dialog = document.getElementById("composer")
const priorities = { "": "none", 10: "10 (immediate)", 5: "5 (saves power)", 1: "1 (does not wake)" }
/** The destination of the last push, as the default of the next; `start` is the last push-to-start token. */
let last = {
  token: "5d3a6a1c8f9a42d6b0e7c41f2a9b8c7d6e5f40312213243546576879808a9bac", app: "com.example.app", channel: "",
  start: "80f2c1d49be04a7f9c3d5e6a7b8091a2b3c4d5e6f708192a3b4c5d6e7f809142",
}
/** The field at which a reason of APNs, a header or a member of the request is reported. */
const fieldOf = {
  BadDeviceToken: "token", DeviceTokenNotForTopic: "token", MissingDeviceToken: "token", Unregistered: "token", "device-token": "token", ":path": "token",
  BadTopic: "topic", MissingTopic: "topic", TopicDisallowed: "topic", "apns-topic": "topic", BadPriority: "priority", "apns-priority": "priority",
  BadExpirationDate: "expiration", "apns-expiration": "expiration", BadCollapseId: "collapse", "apns-collapse-id": "collapse",
  InvalidPushType: "type", "apns-push-type": "type", ChannelNotRegistered: "channel", BadChannelId: "channel", "apns-channel-id": "channel",
}

/** Opens the dialog, filled in from `start` if it is given; the fields suggest tokens and topics from `pushes`. */
export async function compose(pushes, start) {
  const [{ devices }, { channels }] = await Promise.all([request("/api/v1/devices?details=true"), request("/api/v1/channels"), loadStyle("compose")])
  if (dialog.open) return
  const newest = newestTo(pushes, isForDevice)
  last.channel ||= channels[0]?.channel ?? ""
  if (newest && !start) last = { ...last, token: newest["device-token"], app: app(newest) }
  new Composer(pushes, devices, channels, start).open()
}

/** Whether a push type uses the token of the device; widgets, controls, calls and others have tokens of their own. */
const isForDevice = (type) => ["", "alert", "background"].includes(type)

/** The newest push to a token that a test of its push type accepts; accepted pushes come first. */
function newestTo(pushes, test) {
  const found = pushes.filter((push) => push["device-token"] && test(push.headers["apns-push-type"] ?? ""))
  return found.find(({ status }) => status === 200) ?? found[0]
}

/** The times of the expiration picker, in seconds from now, with their names. */
const expirations = { "": "30 days, the default", 0: "one attempt", 3600: "in one hour", 86_400: "in one day", 604_800: "in one week" }

/** The destination that a page opens the dialog for, as the key of its draft; undefined for a new push or a received one. */
const destinationOf = (start) => start && start.number === undefined
  ? [start.isBroadcast ? `channel ${start.app} ${start.channel}` : `device ${start.token}`, start.type].join(" ") : undefined

class Composer {
  #fields = {}
  #problems = {}
  /** The messages of the answer to the push as it is in the form, by field. */
  #answer = {}
  /** The payload as it is in the form; undefined while it is not JSON. */
  #payload
  /** The findings of the push as it was examined last. */
  #examined = []
  #editor = new PayloadEditor()
  #devices
  #channels
  #pushes
  #target = "device"
  #timer = 0
  #requests = new AbortController()
  #start
  #draft
  #findings = element("div", { class: "found", role: "status", id: "composer-findings" })
  /** The number of findings beside Send, which leads to them. */
  #count = element("button", {
    type: "button", class: "chip", hidden: true, "aria-controls": "composer-findings", onclick: () => this.#findings.scrollIntoView({ block: "center" }),
  })
  /** The choice of a time for the field with the expiration. */
  #expiry = element("select", {
    "aria-label": "Expires",
    onchange: ({ target: { value } }) => {
      this.#fields.expiration.value = Number(value) > 0 ? String(Math.floor(Date.now() / 1000) + Number(value)) : value
      this.#changed(this.#fields.expiration)
    },
  })
  #result = element("output", { class: "result" })
  #preview = element("div", { class: "composer-preview", role: "region", "aria-label": "Preview" })
  #startFrom = element("select", { "aria-label": "Start from", onchange: () => this.#useNamed(this.#startFrom.value) })
  #templateTools = element("div", { class: "actions" })
  #targets = element("div")
  #form

  constructor(pushes, devices, channels, start) {
    this.#start = start
    this.#devices = devices
    this.#channels = channels
    this.#pushes = pushes
    this.#draft = new Draft(start?.number ?? destinationOf(start))
    const known = (of) => pushes.map(of).filter(Boolean)
    this.#form = element("form", { method: "dialog", onsubmit: (event) => event.preventDefault() },
      element("div", { class: "composer-title" }, element("h2", { id: "composer-title" }, "Compose a push"), this.#startFrom, this.#templateTools,
        iconButton("close", "Close", () => dialog.close(), { key: "Escape" })),
      element("div", { class: "composer-fields" },
        this.#targets,
        element("div", { class: "composer-grid" },
          this.#input("token", "Device token", [...devices.map(({ token, name }) => [token, name]), ...known((push) => push["device-token"]).map((token) => [token])], { class: "token" }),
          this.#input("app", "App", known(app).map((each) => [each])),
          this.#input("channel", "Channel", [...channels.map(({ channel }) => channel), ...known((push) => push.channel)].map((each) => [each]), { class: "token" }),
          this.#choice("type", "Push type", { "": "none", ...Object.fromEntries(types.map((type) => [type, typeName(type)])) }),
          this.#choice("priority", "Priority", priorities),
          this.#input("topic", "Topic", known((push) => push.headers["apns-topic"]).map((each) => [each])),
          this.#input("expiration", "Expiration", null, { inputmode: "numeric", placeholder: "seconds since 1970, or 0" }),
          this.#input("collapse", "Collapse ID", null)),
        this.#editor.container, this.#findings),
      this.#preview,
      element("div", { class: "composer-end" }, this.#result, element("div", { class: "actions" },
        button("Discard draft", () => this.#discard(), { class: "quiet danger" }), this.#count,
        button("Send", () => this.#send(), { class: "primary", icon: "send", title: "Send (Control-Enter)", "aria-keyshortcuts": "Control+Enter" }))))
    this.#fields.text = this.#editor.field
    this.#problems.expiration.before(this.#expiry)
    dialog.replaceChildren(this.#form)
    this.#form.addEventListener("input", ({ target }) => { if (![this.#startFrom, this.#expiry].includes(target) && !target.matches(".template-name")) this.#changed(target) })
    this.#form.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.#send()
    })
    dialog.addEventListener("close", () => {
      clearTimeout(this.#timer)
      this.#requests.abort()
    }, { once: true })
  }

  #input(name, label, list, { class: style, ...more } = {}) {
    const field = element("input", { spellcheck: "false", autocomplete: "off", list: list && `known-${name}`, class: style, ...more })
    const options = new Map((list ?? []).map(([value, text]) => [String(value), text]))
    return this.#field(name, label, field, list && element("datalist", { id: `known-${name}` }, [...options].slice(0, 50).map(([value, text]) =>
      element("option", { value, label: text ?? null }))))
  }

  #choice(name, label, values) {
    return this.#field(name, label, element("select", {}, Object.entries(values).map(([value, text]) => element("option", { value }, text))))
  }

  #field(name, label, field, list = null) {
    this.#fields[name] = field
    this.#problems[name] = element("p", { class: "problem", role: "alert" })
    return element("div", { class: `field of-${name}` }, element("label", {}, element("span", {}, label), field, list), this.#problems[name])
  }

  open() {
    this.#showTemplates("")
    const draft = this.#start?.isChanged ? null : this.#draft.values
    if (destinationOf(this.#start)) {
      this.#begin()
      this.#offer(draft ?? new Draft().values)
    } else if (draft) {
      this.#fill(draft)
      this.#result.replaceChildren("Your draft was restored.")
    } else this.#begin()
    dialog.showModal()
    this.#editor.field.focus()
    this.#editor.field.setSelectionRange(0, 0)
  }

  /** Offers a draft, which does not replace the destination that the dialog was opened for before the user agrees. */
  #offer(draft) {
    if (!draft) return
    const to = draft.isBroadcast ? `channel ${draft.channel}` : `device ${short(draft.token)}`
    this.#result.replaceChildren(`You have a draft to ${to}. `, button("Restore your draft", () => {
      this.#fill(draft)
      this.#result.replaceChildren("Your draft was restored. ", button("Undo", () => {
        this.#begin()
        this.#offer(draft)
      }, { class: "small" }))
    }, { class: "small" }))
  }

  /** Fills in the push that the dialog was opened for, or the first example. */
  #begin() {
    if (this.#start) this.#fill(this.#start)
    else this.#useNamed(`example ${Object.keys(examples)[0]}`)
  }

  /** Fills in a template, or an example for the device or app of the form. */
  #useNamed(value) {
    const name = value.replace(/^(example|template) /, "")
    const example = value.startsWith("example ") ? examples[name] : null
    const { token, app, channel } = this.#fields.app.value ? this.#values : last
    if (example) {
      const text = JSON.stringify(example.payload(), null, 2)
      this.#fill({
        token: this.#tokenFor(example.type, JSON.parse(text).aps?.event, token, app), app, channel, topic: topic(app, example.type), text,
        expiration: "", priority: "", collapse: "", ...example, ...example.isBroadcast ? { expiration: this.#expirationAt(channel) } : {},
      })
    } else if (templates()[name]) this.#fill(templates()[name])
    this.#showTemplates(value)
    this.#draft.save(this.#values)
  }

  /** The token of the form, or another one for the app if the push needs another kind: that of a start, an activity, a device or the push type. */
  #tokenFor(type, event, token, app) {
    const isActivity = type === "liveactivity"
    if (!isActivity && !isForDevice(type)) return newestTo(this.#pushes, (other) => other === type)?.["device-token"] ?? last.token
    const sent = this.#pushes.find((push) => push["device-token"] === token)?.headers["apns-push-type"] ?? ""
    if (!isActivity && sent !== "liveactivity" && !isForDevice(sent)) return last.token
    const needed = { start: "push-to-start", update: "activity", end: "activity" }[event] ?? "device"
    const known = this.#devices.filter(({ apps = [] }) => !apps.length || apps.includes(app))
    const own = known.find((each) => each.token === token)
    if (own?.kind === needed) return token
    if (needed === "push-to-start") return last.start
    const other = known.find((each) => each.kind === needed && !each.activity?.ended)?.token
    if (needed === "activity") return other ?? token
    if (token === last.start) return last.token
    return own ? other ?? last.token : token
  }

  /** The expiration that a channel accepts: 0 if it stores nothing, and otherwise a time, here in one hour. */
  #expirationAt(channel) {
    const policy = this.#channels.find((each) => each.channel === channel)?.["message-storage-policy"]
    return policy ? String(Math.floor(Date.now() / 1000) + 3600) : "0"
  }

  #fill(start) {
    const values = { ...last, ...start }
    if (start.isBroadcast && start.expiration === undefined) values.expiration = this.#expirationAt(values.channel)
    if (start.topic === undefined && !start.isBroadcast) values.topic = topic(values.app, values.type)
    this.#target = start.isBroadcast ? "channel" : "device"
    this.#targets.replaceChildren(segments("Destination", { device: "To a device", channel: "To a channel" }, this.#target, (value) => {
      this.#target = value
      this.#changed(null)
    }))
    for (const [name, field] of Object.entries(this.#fields)) {
      const value = values[name] ?? ""
      // A received push may have a value that is not among the options.
      if (field.tagName === "SELECT" && ![...field.options].some((option) => option.value === value)) {
        field.append(element("option", { value }, value))
      }
      field.value = value
    }
    if (start.topic && !start.app) this.#fields.app.value = appOf(start.topic)
    this.#result.replaceChildren()
    this.#show()
  }

  get #values() {
    return { ...Object.fromEntries(Object.entries(this.#fields).map(([name, field]) => [name, field.value])), isBroadcast: this.#target === "channel" }
  }

  #changed(field) {
    const { app, type } = this.#values
    if (field === this.#fields.type || field === this.#fields.app) this.#fields.topic.value = topic(app, type)
    if (field === this.#fields.topic) this.#fields.app.value = appOf(field.value)
    if (field === this.#fields.channel) this.#fields.expiration.value = this.#expirationAt(field.value.trim())
    this.#result.replaceChildren()
    this.#draft.save(this.#values)
    this.#show()
  }

  #discard() {
    const values = this.#values
    this.#begin()
    this.#draft.discard()
    this.#result.replaceChildren("Draft discarded. ", button("Undo", () => {
      this.#fill(values)
      this.#draft.save(values)
    }, { class: "small" }))
  }

  /** The push as the simulator's API expects it. */
  get #push() {
    const { isBroadcast, token, app, channel, type, topic, priority, expiration, collapse, text } = this.#values
    const headers = {
      "apns-push-type": isBroadcast ? "liveactivity" : type, "apns-topic": isBroadcast ? "" : topic, "apns-priority": priority,
      "apns-expiration": expiration.trim(), "apns-collapse-id": isBroadcast ? "" : collapse,
    }
    return {
      ...(isBroadcast ? { app, channel } : { "device-token": token.trim() }),
      headers: Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== "")), "payload-text": text,
    }
  }

  /** Shows an expiration in the picker, which names any other time. */
  #showExpiry(value) {
    const isOther = value !== "" && value !== "0"
    const other = Number.isFinite(Number(value)) ? `at ${minuteTime(Number(value) * 1000)}` : value
    this.#expiry.replaceChildren(...Object.entries({ ...expirations, ...isOther ? { other } : {} }).map(([each, text]) => element("option", { value: each }, text)))
    this.#expiry.value = isOther ? "other" : value
  }

  /** Shows the number of errors and warnings beside Send. */
  #showCount(findings) {
    const count = (severity) => findings.filter((each) => each.severity === severity).length
    const [errors, warnings] = [count("error"), count("warning")]
    this.#count.hidden = findings.length === 0
    this.#count.dataset.tone = errors ? "bad" : "warning"
    this.#count.textContent = [errors ? counted(errors, "error") : "", warnings ? counted(warnings, "warning") : ""].filter(Boolean).join(", ")
  }

  /** Checks the push, and draws its preview when the typing pauses. */
  #show() {
    const { isBroadcast, type, expiration } = this.#values
    dialog.dataset.target = this.#target
    this.#showExpiry(expiration.trim())
    this.#answer = {}
    this.#examined = []
    const payload = this.#payload = this.#editor.check(byteLimit(type, isBroadcast))
    clearTimeout(this.#timer)
    this.#requests.abort()
    this.#requests = new AbortController()
    this.#preview.toggleAttribute("data-outdated", payload === undefined)
    if (payload === undefined) {
      this.#findings.replaceChildren()
      this.#showCount([])
    } else this.#timer = setTimeout(() => this.#examine(payload, this.#requests.signal), 150)
  }

  async #examine(payload, signal) {
    const push = this.#push
    let checked = {}
    try {
      checked = await request("/api/v1/lint", "POST", push, signal)
      this.#showFindings(checked.findings)
    } catch (error) {
      if (signal.aborted) return
      this.#findings.replaceChildren(element("p", { class: "problem" }, error.message))
    }
    this.#preview.replaceChildren(...[previews({
      ...push, ...checked, payload, time: Math.floor(Date.now() / 1000), status: 200, findings: [], deliveries: [{ kind: "delivered", time: 0 }],
    }, signal)].flat())
  }

  /** Shows each finding at its field, and the others in a list, which counts both. */
  #showFindings(findings) {
    this.#examined = findings
    this.#showCount(findings)
    const atFields = findings.filter(({ place }) => this.#fields[fieldOf[place]]?.offsetParent)
    const others = findings.filter((finding) => !atFields.includes(finding))
    this.#report(this.#answer)
    for (const { place, message, severity } of atFields) {
      this.#report({ [fieldOf[place]]: message }, false, severity === "error" ? "bad" : "warning")
    }
    const places = new Set([...atFields.map(({ place }) => fieldOf[place]), ...Object.keys(this.#answer)])
    const isWarning = Object.keys(this.#answer).length === 0 && atFields.every(({ severity }) => severity !== "error")
    const note = places.size ? element("p", { class: "verdict", "data-tone": isWarning ? "warning" : "bad" }, icon("warning"),
      element("span", {}, `${counted(places.size, "finding")} at ${places.size === 1 ? "its field" : "their fields"} above.`)) : null
    const list = others.length || !note ? findingsList(others, (place) => this.#editor.show(place)) : null
    this.#findings.replaceChildren(...[note, list].filter(Boolean))
  }

  /** Shows messages beside their fields; `isComplete` removes those of other fields. */
  #report(messages, isComplete = true, tone = "bad") {
    for (const [name, problem] of Object.entries(this.#problems)) {
      if (!messages[name] && !isComplete) continue
      problem.textContent = messages[name] ?? ""
      problem.dataset.tone = tone
      this.#fields[name].setAttribute("aria-invalid", String(Boolean(messages[name]) && tone === "bad"))
    }
  }

  async #send() {
    const { token, app, channel, type } = this.#values
    const isActivity = type === "liveactivity"
    if (isActivity && this.#payload?.aps?.event === "start") last.start = token
    else if (isActivity || isForDevice(type)) last.token = token
    last = { ...last, app, channel }
    try {
      const push = await request("/api/v1/pushes", "POST", this.#push)
      const name = push.status === 200 ? undefined : fieldOf[push.reason]
      if (name) this.#showAnswer(name, `The answer is ${push.reason}.`)
      this.#result.replaceChildren(await outcome(push, () => dialog.close()))
    } catch (error) {
      const name = Object.keys(fieldOf).find((each) => error.message.startsWith(each))
      if (name) this.#showAnswer(fieldOf[name], error.message)
      this.#result.replaceChildren(element("p", { class: "problem" }, error.message))
    }
  }

  /** Shows a message of the answer beside a field until the form changes; a finding there explains more. */
  #showAnswer(name, message) {
    this.#answer = { [name]: message }
    this.#showFindings(this.#examined)
  }

  // The templates.

  /** Shows the templates; `deleted` is the name and the values of the one that the user has just deleted. */
  #showTemplates(selected, deleted = null) {
    const own = Object.keys(templates())
    const group = (label, prefix, names) => element("optgroup", { label }, names.map((name) => element("option", { value: `${prefix} ${name}` }, name)))
    this.#startFrom.replaceChildren(element("option", { value: "" }, "Start from…"),
      ...own.length ? [group("My templates", "template", own)] : [], ...Object.entries(exampleGroups).map(([label, each]) => group(label, "example", Object.keys(each))))
    this.#startFrom.value = selected
    this.#templateTools.replaceChildren(button("Save as template", () => this.#nameTemplate(selected), { class: "quiet" }),
      ...selected.startsWith("template ") ? [button("Delete template", () => {
        const name = selected.slice("template ".length)
        const values = templates()[name]
        removeTemplate(name)
        this.#showTemplates("", { name, values })
        this.#templateTools.lastElementChild.focus()
      }, { class: "quiet danger" })] : [],
      ...deleted ? [button(`Undo: keep ${deleted.name}`, () => {
        saveTemplate(deleted.name, deleted.values)
        this.#showTemplates(`template ${deleted.name}`)
      }, { class: "quiet" })] : [])
  }

  #nameTemplate(selected) {
    const field = element("input", { class: "template-name", "aria-label": "Name of the template", placeholder: "Name, then Enter", maxlength: 60,
      value: selected.startsWith("template ") ? selected.slice("template ".length) : "" })
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== "Escape") return
      event.preventDefault()
      event.stopPropagation()
      const name = field.value.trim()
      if (event.key === "Enter" && !name) return
      if (event.key === "Enter") saveTemplate(name, this.#values)
      this.#showTemplates(event.key === "Enter" ? `template ${name}` : selected)
      this.#templateTools.querySelector("button").focus()
    })
    this.#templateTools.replaceChildren(field)
    field.select()
  }
}

const appOf = (topic) => app({ headers: { "apns-topic": topic } })

// One push, from all sides.

import { happenings, info, payload, removePush } from "./api.js"
import * as copies from "./copies.js"
import { element, time } from "./dom.js"
import { app, headline, kind } from "./inbox.js"
import { findingsList, payloadTree, sizeBar } from "./payload.js"
import { previews } from "./preview.js"
import { byteLimit, fromPush } from "./examples.js"
import { releaseButton } from "./release.js"

const tabs = {
  Preview: (push, text, signal) => previews(push, signal),
  Payload: (push, text) => [
    sizeBar(new TextEncoder().encode(text).length, byteLimit(push.headers["apns-push-type"], kind(push) === "broadcast")),
    push.payload === undefined ? element("pre", {}, text) : payloadTree(push.payload, push.findings),
  ],
  Headers: (push) => facts(push.headers),
  Findings: (push) => findingsList(push.findings),
  Timeline: (push) => timeline(push),
  Raw: (push, text) => element("pre", {}, text),
}

export class Detail {
  #place
  #tab = "Preview"
  #push = null
  #text = ""
  /** Ends the requests about the push that is shown when another is selected, or before it is removed. */
  #requests = new AbortController()
  #replay

  /** `replay` is called with a push to start another one from. */
  constructor(place, inbox, replay) {
    this.#place = place
    this.#replay = replay
    inbox.addEventListener("select", ({ detail }) => this.show(detail))
    happenings.addEventListener("removing", ({ detail: isAffected }) => {
      if (this.#push && isAffected(this.#push.number)) this.#requests.abort()
    })
    this.show(null)
  }

  async show(push) {
    this.#requests.abort()
    this.#requests = new AbortController()
    this.#push = push
    const { signal } = this.#requests
    try {
      this.#text = push ? await payload(push.number, signal) : ""
    } catch (error) {
      if (!signal.aborted) this.#place.replaceChildren(element("p", { class: "empty" }, error.message))
      return
    }
    if (!signal.aborted) this.#render()
  }

  #render() {
    const push = this.#push
    document.body.toggleAttribute("data-detail", push !== null)
    if (!push) {
      this.#place.replaceChildren(element("p", { class: "empty" }, "Choose a push to see it as the phone would."))
      return
    }
    this.#place.replaceChildren(
      element("h2", {}, headline(push)),
      facts({
        app: app(push), to: push.channel === undefined ? push["device-token"] : `channel ${push.channel}`,
        answer: `${push.status || "none"} ${push.reason ?? ""}`, kind: kind(push), "apns-id": push["apns-id"],
        received: `${time(push.time)}, push ${push.number}, ${push.connection ? `connection ${push.connection}` : "sent from this page"}`,
      }),
      element("div", { class: "tabs", role: "tablist" }, Object.keys(tabs).map((name) => this.#tabButton(name))),
      element("div", { class: "panel", role: "tabpanel", "aria-label": this.#tab }, tabs[this.#tab](push, this.#text, this.#requests.signal)),
      element("div", { class: "actions" },
        copyButton("Copy as curl", async () => copies.curl(push, this.#text, (await info()).apns)),
        copyButton("Copy as Swift", () => copies.swift(push, this.#text)),
        copyButton("Copy as .apns", () => copies.simulatorFile(push)),
        element("button", { type: "button", onclick: () => this.#replay(fromPush(push, this.#text)) }, "Edit and replay"),
        element("button", { type: "button", onclick: () => removePush(push.number) }, "Delete")))
    const actions = this.#place.lastElementChild
    releaseButton(push).then((button) => { if (button) actions.lastElementChild.before(button) })
  }

  #tabButton(name) {
    const count = name === "Findings" ? this.#push.findings.length : 0
    return element("button", {
      type: "button", role: "tab", "aria-selected": String(name === this.#tab),
      onclick: () => {
        this.#tab = name
        this.#render()
      },
    }, count ? `${name} ${count}` : name)
  }
}

function facts(values) {
  return element("dl", {}, Object.entries(values).flatMap(([name, value]) =>
    [element("dt", {}, name), element("dd", {}, value)]))
}

function timeline(push) {
  const events = [
    { time: push.time, kind: `answered ${push.status || "nothing"} ${push.reason ?? ""}`, note: push.fault ? `fault ${push.fault}` : "" },
    ...push.deliveries,
  ]
  return element("ol", { class: "timeline" }, events.map((event) =>
    element("li", {}, element("time", {}, time(event.time)), " ", event.kind, event.note ? ` (${event.note})` : "")))
}

function copyButton(name, text) {
  return element("button", {
    type: "button",
    onclick: async ({ target }) => {
      await navigator.clipboard.writeText(await text())
      target.textContent = "Copied"
      setTimeout(() => { target.textContent = name }, 1500)
    },
  }, name)
}

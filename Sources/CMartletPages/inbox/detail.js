// SPDX-License-Identifier: Apache-2.0

// The selected push: its preview, payload, headers, findings and timeline.

import { info, payload, removePush, simulatorEvents } from "./api.js"
import { copyButton, definitionList, facts } from "./components.js"
import { element, time } from "./dom.js"
import { byteLimit, fromPush } from "./examples.js"
import * as formats from "./formats.js"
import { findingsList, payloadTree, sizeBar } from "./payload.js"
import { previews } from "./preview.js"
import { app, headline, kind } from "./push.js"
import { releaseButton } from "./release.js"

const tabs = {
  Preview: (push, text, signal) => previews(push, signal),
  Payload: (push, text) => [
    sizeBar(new TextEncoder().encode(text).length, byteLimit(push.headers["apns-push-type"], kind(push) === "broadcast")),
    push.payload === undefined ? element("pre", {}, text) : payloadTree(push.payload, push.findings),
  ],
  Headers: (push) => definitionList(push.headers),
  Findings: (push) => findingsList(push.findings),
  Timeline: (push) => timeline(push),
  Raw: (push, text) => element("pre", {}, text),
}

export class Detail {
  #container
  #tab = "Preview"
  #push = null
  #text = ""
  /** Cancels the requests for the shown push when another is selected, or before it is deleted. */
  #requests = new AbortController()
  #replay

  /** `replay` opens the composer with the values of a push. */
  constructor(container, inbox, replay) {
    this.#container = container
    this.#replay = replay
    inbox.addEventListener("select", ({ detail }) => this.show(detail))
    simulatorEvents.addEventListener("removing", ({ detail: isAffected }) => {
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
      if (!signal.aborted) this.#container.replaceChildren(element("p", { class: "empty" }, error.message))
      return
    }
    if (!signal.aborted) this.#render()
  }

  #render() {
    const push = this.#push
    document.body.toggleAttribute("data-detail", push !== null)
    if (!push) {
      this.#container.replaceChildren(element("p", { class: "empty" }, "Select a push to preview it."))
      return
    }
    this.#container.replaceChildren(
      element("h2", {}, headline(push)),
      facts({
        app: app(push), to: push.channel === undefined ? push["device-token"] : `channel ${push.channel}`,
        response: `${push.status || "none"} ${push.reason ?? ""}`, kind: kind(push), "apns-id": push["apns-id"],
        "apns-request-id": push["apns-request-id"],
        received: `${time(push.time)}, push ${push.number}, ${push.connection ? `connection ${push.connection}` : "sent from this page"}`,
      }),
      element("div", { class: "tabs", role: "tablist" }, Object.keys(tabs).map((name) => this.#tabButton(name))),
      element("div", { class: "panel", role: "tabpanel", "aria-label": this.#tab }, tabs[this.#tab](push, this.#text, this.#requests.signal)),
      element("div", { class: "actions" },
        copyButton("Copy as curl", async () => formats.curl(push, this.#text, (await info()).apns)),
        copyButton("Copy as Swift", () => formats.swift(push, this.#text)),
        copyButton("Copy as .apns", () => formats.simulatorFile(push)),
        element("button", { type: "button", onclick: () => this.#replay(fromPush(push, this.#text)) }, "Edit and replay"),
        element("button", { type: "button", onclick: () => removePush(push.number) }, "Delete")))
    const actions = this.#container.lastElementChild
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

function timeline(push) {
  const events = [
    { time: push.time, kind: `response ${push.status || "none"} ${push.reason ?? ""}`, note: push.fault ? `fault ${push.fault}` : "" },
    ...push.deliveries,
  ]
  return element("ol", { class: "timeline" }, events.map((event) =>
    element("li", {}, element("time", {}, time(event.time)), " ", event.kind, event.note ? ` (${event.note})` : "")))
}

// SPDX-License-Identifier: Apache-2.0

// The selected push: its delivery result, preview, payload, headers, findings and timeline.

import { Address } from "./address.js"
import { info, payload, removePush, request, SimulatorAway } from "./api.js"
import { copied, emptyState, iconButton, menu, tabs, toast } from "./components.js"
import { element, released } from "./dom.js"
import { change, pushFacts, tagEditor, timeline, titleBar, verdict } from "./detail-header.js"
import { headline, kind } from "./push.js"
import { onStringsChange } from "./strings.js"

/** The previews are a third of the page's code, which the list does not wait for. */
let previewModule = null
async function previews() {
  // Even a loaded module is imported in a later task, before which an empty panel would be painted.
  previewModule ??= await import("./preview.js")
  return previewModule
}

/** The address of a push that is the same on every inbox that has it, and has no search of this one. */
const linkTo = (push) => location.href.split("#")[0] + new Address(["push", push["apns-id"] || String(push.number)]).text

export class Detail {
  #container
  #inbox
  #tab = "Preview"
  /** The shown push with everything that is stored of it; null if none is shown. */
  #push = null
  /** The payload of the shown push as it was received, or null before it is needed. */
  #text = null
  /** The place that the Payload and Headers tabs highlight. */
  #place = null
  /** Cancels the requests for the shown push when another one or none is selected. */
  #requests = new AbortController()
  #compose
  #panel

  /** `compose` opens the composer with the values of a push. */
  constructor(container, inbox, compose) {
    this.#container = container
    this.#inbox = inbox
    this.#compose = compose
    for (const event of ["select", "refresh"]) inbox.addEventListener(event, ({ detail }) => this.show(detail))
    onStringsChange(() => { this.#container.querySelector("h2")?.replaceChildren(headline(this.#push)) })
    // The first push that is selected should not wait for them either. It loads them again if that fails.
    addEventListener("load", () => { previews().catch(() => {}) }, { once: true })
    this.show(null)
  }

  /** Shows a push of the list, or `message` if there is none. */
  async show(push, message = null) {
    this.#requests.abort()
    this.#requests = new AbortController()
    const { signal } = this.#requests
    if (!push) {
      this.#showMessage(message)
      return
    }
    try {
      const whole = await request(`/api/v1/pushes/${push.number}`, "GET", undefined, signal)
      await released()
      // A menu that is open stays until it is closed.
      const opened = this.#push?.number === push.number && this.#container.querySelector(":popover-open")
      if (opened) await new Promise((closed) => { opened.addEventListener("beforetoggle", closed, { once: true }) })
      if (!signal.aborted) this.#render(whole)
    } catch (error) {
      if (!signal.aborted) this.#showMessage(error.message, error instanceof SimulatorAway ? "Select the push again when it runs." : undefined)
    }
  }

  #showMessage(message, advice = "Select another push.") {
    this.#push = null
    this.#container.replaceChildren(message === null
      ? emptyState("push", "No push selected", "Select a push to see its delivery result.")
      : emptyState("info", message, advice, iconButton("left", "Back to the list", () => this.#inbox.select(null), { class: "pane-back" })))
  }

  #render(push) {
    const isSame = this.#push?.number === push.number
    const focused = isSame && this.#container.contains(document.activeElement) ? nameOf(document.activeElement) : null
    const draft = isSame ? this.#container.querySelector(".tag-field:focus")?.value : undefined
    if (!isSame) {
      this.#text = null
      this.#place = null
    }
    this.#push = push
    const count = push.findings?.length ?? 0
    const names = { Preview: "Preview", Payload: "Payload", Headers: "Headers", Findings: count ? `Findings ${count}` : "Findings", Timeline: "Timeline", Raw: "Raw" }
    this.#panel = element("div", { class: "panel", role: "tabpanel", tabindex: -1 })
    this.#container.replaceChildren(
      element("div", { class: "detail-top" },
        titleBar(push, () => this.#inbox.select(null), this.#actions(push)),
        verdict(push, (place) => this.#showPlace(place))),
      element("div", { class: "detail-facts" }, pushFacts(push), tagEditor(push, draft)),
      tabs("Views of the push", names, this.#tab, (name) => this.#showTab(name)),
      this.#panel)
    this.#showPanel()
    if (!isSame) this.#container.scrollTop = 0
    if (focused) [...this.#container.querySelectorAll("button, a, input, [tabindex]")].find((each) => nameOf(each) === focused)?.focus()
  }

  #showTab(name, place = null) {
    this.#tab = name
    this.#place = place
    this.#showPanel()
  }

  /** Opens the tab that shows a place of the push, and highlights it. */
  #showPlace(place) {
    this.#container.querySelector(`[role=tab][data-value=${place.startsWith("payload") ? "Payload" : "Headers"}]`).click()
    this.#showTab(this.#tab, place)
    this.#panel.focus({ preventScroll: true })
  }

  async #showPanel() {
    const [push, panel, tab, place, { signal }] = [this.#push, this.#panel, this.#tab, this.#place, this.#requests]
    const isCurrent = () => panel === this.#panel && tab === this.#tab && place === this.#place
    panel.setAttribute("aria-label", tab)
    try {
      const content = await this.#content(push, tab, place, signal)
      if (isCurrent()) panel.replaceChildren(...[content].flat())
    } catch (error) {
      if (!signal.aborted && isCurrent()) panel.replaceChildren(element("p", { class: "problem" }, error.message))
    }
  }

  #content(push, tab, place, signal) {
    switch (tab) {
      case "Preview": return previews().then((module) => module.previews(push, signal))
      case "Headers": return headerList(push, place)
      case "Findings": return this.#findingsView(push)
      case "Timeline": return timeline(push)
      default: return this.#payloadView(push, tab, place)
    }
  }

  async #findingsView(push) {
    const { findingsList } = await import("./payload.js")
    return findingsList(push.findings ?? [], (found) => this.#showPlace(found))
  }

  async #payloadView(push, tab, place) {
    const [{ payloadTree, sizeBar }, { byteLimit }, text] = await Promise.all([import("./payload.js"), import("./examples.js"), this.#payload()])
    const size = sizeBar(text, byteLimit(push.headers["apns-push-type"], kind(push) === "broadcast"))
    return [size, tab === "Raw" ? element("pre", { tabindex: 0 }, text) : payloadTree(text, push.findings ?? [], place)]
  }

  /** The payload as it was received, which is requested once. */
  async #payload() {
    const { number } = this.#push
    const text = this.#text ?? await payload(number, this.#requests.signal)
    if (this.#push?.number === number) this.#text = text
    return text
  }

  #actions(push) {
    const act = (module, action) => async () => {
      try {
        await action(await module(), await this.#payload())
      } catch (error) {
        toast(error.message)
      }
    }
    const formats = () => import("./formats.js")
    const copy = (name, text) => act(formats, async (module, payloadText) => {
      await navigator.clipboard.writeText(await text(module, payloadText))
      toast(`Copied ${name}.`, { seconds: 2 })
    })
    const id = push["apns-id"] || push["apns-request-id"]
    return [
      menu("Copy", [
        { name: "Copy as curl", icon: "server", action: copy("as curl", (module, text) => module.curl(push, text)) },
        { name: "Copy as Swift", icon: "push", action: copy("as Swift", (module, text) => module.swift(push, text)) },
        { name: "Copy as .apns", icon: "device", action: copy("as .apns", (module, text) => module.simulatorFile(push, text)) },
        null,
        { name: "Copy link", icon: "link", action: copy("the link", () => linkTo(push)) },
        ...id ? [{ name: "Copy identifier", icon: "copy", action: copy("the identifier", () => id) }] : [],
        { name: "Download as a file", icon: "download", action: act(() => import("./push-file.js"), (module) => module.download(push)) },
      ], { icon: "copy" }),
      iconButton("replay", "Replay", act(() => import("./replay.js"), (module, text) => module.replay(push, text, this.#compose))),
      menu("Compare", () => this.#comparisons(push), { icon: "compare" }),
      iconButton("pin", push.pinned ? "Unpin" : "Pin", () => change(push, { pinned: !push.pinned }), { "aria-pressed": String(Boolean(push.pinned)) }),
      iconButton("trash", "Delete", () => removePush(push.number)),
      menu("More actions", async () => {
        const { release } = await info().catch(() => ({}))
        return [
          { name: "Edit and replay", icon: "compose", action: act(() => import("./examples.js"), (module, text) => this.#compose(module.fromPush(push, text))) },
          { name: "Strings and templates", icon: "upload", action: act(() => import("./uploads.js"), (module) => module.openUploads(push)) },
          ...release ? [{ name: "Release to a real device", icon: "send", action: act(() => import("./release.js"), (module) => module.confirm(push, release)) }] : [],
        ]
      }),
    ]
  }

  /** The pushes that this one may be compared with. */
  #comparisons(push) {
    const marked = [...this.#inbox.marked].filter((number) => number !== push.number)
    const pick = (name, find) => ({ name, icon: "compare", action: async () => {
      const module = await import("./compare.js")
      const number = await find(module).catch((error) => { toast(error.message) })
      if (number) location.hash = `#/compare/${number}/${push.number}`
      else if (number === null) toast("There is no earlier push to compare with.")
    } })
    const { aps } = push.payload ?? {}
    return [
      ...marked.length === 1 ? [pick(`With the selected push ${marked[0]}`, async () => marked[0])] : [],
      push["device-token"] === undefined ? pick("With the previous on this channel", (module) => module.previous(push, "channel"))
        : pick(kind(push) === "activity" ? "With the previous of this activity" : "With the previous to this device", (module) => module.previous(push, "device")),
      ...typeof aps?.["thread-id"] === "string" ? [pick("With the previous of this thread", (module) => module.previous(push, "thread"))] : [],
      ...push.headers["apns-collapse-id"] ? [pick("With the previous of this collapse ID", (module) => module.previous(push, "collapse"))] : [],
    ]
  }
}

const nameOf = (control) => control.getAttribute("aria-label") || control.textContent

/** The headers of a request; a click copies a value. */
function headerList(push, place) {
  const entries = Object.entries(push.headers)
  const list = element("dl", { class: "facts" }, entries.flatMap(([name, value]) => [
    element("dt", { "data-shown": name === place ? "value" : null }, name), element("dd", {}, copied(value, name))]))
  const isMissing = place !== null && place !== "connection" && !place.startsWith("payload") && push.headers[place] === undefined
  return [list, isMissing ? element("p", { class: "note", "data-tone": "accent" }, `The header ${place} is not in the request.`) : null].filter(Boolean)
}

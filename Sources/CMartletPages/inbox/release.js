// SPDX-License-Identifier: Apache-2.0

// Sends a push to a real device, after a confirmation.

import { request } from "./api.js"
import { facts } from "./components.js"
import { element, loadStyle } from "./dom.js"

const dialog = document.getElementById("release")

/** Asks whether to send a push to a real device; `release` is the simulator's setting. */
export function confirm(push, { destination, environment, "device-tokens": tokens }) {
  loadStyle("compose")
  const isAllowed = tokens.includes((push["device-token"] ?? "").toLowerCase())
  const result = element("output", { class: "result" }, isAllowed ? "" : "The device token is not among those of --release-to.")
  const send = element("button", {
    type: "button", class: "primary", disabled: !isAllowed,
    onclick: async () => {
      send.disabled = true
      result.textContent = "Sending…"
      try {
        const { status, reason } = await request(`/api/v1/pushes/${push.number}/release`, "POST")
        result.dataset.accepted = String(status === 200)
        result.textContent = `${status} ${reason ?? ""}`
      } catch (error) {
        result.dataset.accepted = "false"
        result.textContent = error.message
      }
    },
  }, "Send")
  dialog.replaceChildren(
    element("h2", { id: "release-title" }, "Send this push to a real device?"),
    element("p", {}, "The push is sent unchanged, signed with the key that the simulator was started with."),
    facts({ device: element("code", {}, push["device-token"] ?? "none"), to: destination, environment: element("strong", {}, environment) }),
    element("div", { class: "actions" }, result,
      element("button", { type: "button", autofocus: true, onclick: () => dialog.close() }, "Close"), send))
  dialog.showModal()
}

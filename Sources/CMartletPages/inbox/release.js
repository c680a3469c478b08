// SPDX-License-Identifier: Apache-2.0

// Sends a push to a real device, after a confirmation.

import { request, info } from "./api.js"
import { element } from "./dom.js"

const dialog = document.getElementById("release")

/** The button for a push; null if the simulator was started without `--allow-release`. */
export async function releaseButton(push) {
  const { release } = await info()
  if (!release) return null
  const token = (push["device-token"] ?? "").toLowerCase()
  const isAllowed = release["device-tokens"].includes(token)
  return element("button", {
    type: "button", disabled: !isAllowed,
    title: isAllowed ? null : "The device token is not among those of --release-to",
    onclick: () => confirm(push, release),
  }, "Release…")
}

function confirm(push, { destination, environment }) {
  const result = element("output", { class: "result" })
  const send = element("button", {
    type: "button", class: "primary",
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
    element("dl", {},
      element("dt", {}, "device"), element("dd", {}, push["device-token"]),
      element("dt", {}, "to"), element("dd", {}, destination),
      element("dt", {}, "environment"), element("dd", {}, element("strong", {}, environment))),
    element("div", { class: "actions" }, result,
      element("button", { type: "button", autofocus: true, onclick: () => dialog.close() }, "Close"), send))
  dialog.showModal()
}

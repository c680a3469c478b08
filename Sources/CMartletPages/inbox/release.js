// Sending a push on to a real device, after asking.

import { ask, info } from "./api.js"
import { element } from "./dom.js"

const dialog = document.getElementById("release")

/** The button for a push; null where the simulator sends nothing on. */
export async function releaseButton(push) {
  const { release } = await info()
  if (!release) return null
  const token = (push["device-token"] ?? "").toLowerCase()
  const isAllowed = release["device-tokens"].includes(token)
  return element("button", {
    type: "button", disabled: !isAllowed,
    title: isAllowed ? null : "its device is none of those that --release-to names",
    onclick: () => confirm(push, release),
  }, "Release…")
}

function confirm(push, { destination, environment }) {
  const answer = element("output", { class: "answer" })
  const send = element("button", {
    type: "button", class: "primary",
    onclick: async () => {
      send.disabled = true
      answer.textContent = "sending"
      try {
        const { status, reason } = await ask(`/api/v1/pushes/${push.number}/release`, "POST")
        answer.dataset.accepted = String(status === 200)
        answer.textContent = `${status} ${reason ?? ""}`
      } catch (error) {
        answer.dataset.accepted = "false"
        answer.textContent = error.message
      }
    },
  }, "Send it")
  dialog.replaceChildren(
    element("h2", { id: "release-title" }, "Send this push to a real device?"),
    element("p", {}, "It goes out as it came in, signed with the key that the simulator was started with."),
    element("dl", {},
      element("dt", {}, "device"), element("dd", {}, push["device-token"]),
      element("dt", {}, "to"), element("dd", {}, destination),
      element("dt", {}, "environment"), element("dd", {}, element("strong", {}, environment))),
    element("div", { class: "actions" }, answer,
      element("button", { type: "button", autofocus: true, onclick: () => dialog.close() }, "Close"), send))
  dialog.showModal()
}

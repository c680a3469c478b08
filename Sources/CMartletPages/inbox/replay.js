// SPDX-License-Identifier: Apache-2.0

// Sends a received push again: with a fresh timestamp, or to another device.

import { request } from "./api.js"
import { button, iconButton } from "./components.js"
import { element } from "./dom.js"
import { locate, parse, replaced } from "./json-text.js"
import { fromPush } from "./examples.js"
import { headline, kind } from "./push.js"
import { outcome } from "./outcome.js"

/** The dates of a Live Activity's push besides its timestamp, in seconds since 1970. */
const dates = ["stale-date", "dismissal-date"]

/**
 * The text of a Live Activity's payload with the timestamp `now`; the stale and dismissal dates keep their distance from it.
 *
 * A phone ignores an update whose timestamp is not later than that of the content it shows.
 */
function withTimestamp(text, now) {
  const root = parse(text)
  const number = (name) => {
    const { node, isExact } = locate(root, `/aps/${name}`)
    return isExact && node.type === "number" ? Number(text.slice(node.start, node.end)) : null
  }
  const timestamp = number("timestamp")
  if (timestamp === null) return text
  // A dismissal date far in the past means "remove now" and stays.
  const moved = dates.filter((name) => number(name) > timestamp - 86_400).map((name) => [`/aps/${name}`, number(name) + now - timestamp])
  return replaced(text, { "/aps/timestamp": now, ...Object.fromEntries(moved) })
}

/** The expiration header of a replay: one in the past moves with the time of the push. */
function expiration(push, now) {
  const value = push.headers["apns-expiration"]
  return /^[1-9]\d*$/.test(value ?? "") && Number(value) <= now ? String(Number(value) + now - push.time) : value
}

/** Opens the dialog that sends a push again; `edit` opens the composer with its values. */
export async function replay(push, text, edit) {
  const dialog = element("dialog", { class: "replay", "aria-labelledby": "replay-title", onclose: () => dialog.remove() })
  const isActivity = ["activity", "broadcast"].includes(kind(push)) && push.payload?.aps?.timestamp !== undefined
  const token = element("input", { value: push["device-token"] ?? "", spellcheck: "false", autocomplete: "off", list: "replay-devices", class: "token", required: true })
  const devices = element("datalist", { id: "replay-devices" })
  const fresh = element("input", { type: "checkbox", checked: true })
  const result = element("output", { class: "outcome" })
  const problem = element("p", { class: "problem", role: "alert" })
  const body = () => {
    const now = Math.floor(Date.now() / 1000)
    const values = {
      "apns-push-type": push.headers["apns-push-type"], "apns-topic": push.headers["apns-topic"], "apns-priority": push.headers["apns-priority"],
      "apns-expiration": expiration(push, now), "apns-collapse-id": push.headers["apns-collapse-id"],
    }
    return {
      ...push.channel === undefined ? { "device-token": token.value.trim() } : { app: push.app, channel: push.channel },
      headers: Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)),
      "payload-text": isActivity && fresh.checked ? withTimestamp(text, now) : text,
    }
  }
  const send = async (event) => {
    event.preventDefault()
    problem.textContent = ""
    try {
      const made = await request("/api/v1/pushes", "POST", body())
      result.replaceChildren(await outcome(made, () => dialog.close()))
    } catch (error) {
      problem.textContent = error.message
      result.replaceChildren()
    }
  }
  dialog.append(element("form", { onsubmit: send },
    element("div", { class: "dialog-title" }, element("h2", { id: "replay-title" }, `Replay push ${push.number}`), iconButton("close", "Close", () => dialog.close())),
    element("p", { class: "faint" }, headline(push)),
    push.channel === undefined ? element("label", { class: "field" }, element("span", {}, kind(push) === "activity" ? "Activity token" : "Device token"), token, devices) : null,
    isActivity ? element("label", { class: "replay-check" }, fresh, element("span", {}, "Fresh timestamp ",
      element("small", {}, "The phone ignores content that is not newer than what it shows. The stale and dismissal dates move with it."))) : null,
    problem, result,
    element("div", { class: "actions end" },
      button("Edit first", () => {
        dialog.close()
        edit({ ...fromPush(push, body()["payload-text"]), isChanged: true, ...push.channel === undefined ? { token: token.value } : {} })
      }, { icon: "compose" }),
      element("button", { class: "primary" }, "Replay"))))
  document.body.append(dialog)
  dialog.showModal()
  dialog.querySelector(".primary").focus()
  if (push.channel !== undefined) return
  const known = await request("/api/v1/devices?details=true").catch(() => ({ devices: [] }))
  devices.append(...known.devices.map((each) => (typeof each === "string" ? { token: each } : each)).slice(0, 50)
    .map(({ token: value, name }) => element("option", { value, label: name ?? null })))
}

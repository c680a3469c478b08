// SPDX-License-Identifier: Apache-2.0

// The actions of a device, which the list of devices and the page of one device share.

import { button, menu, toast } from "./components.js"
import { element } from "./dom.js"
import { composeTo, field, formDialog, removeWithUndo, short } from "./pages.js"
import { counted } from "./texts.js"

export const deviceName = (device) => device.name || short(device.token)
export const devicePath = (token) => `/api/v1/devices/${token}`

const suffix = /\.(push-type\.[a-z]+|voip|complication|pushkit\.fileprovider|location-query)$/
/** The apps of a device: those of its pushes and its topics. */
export const appsOf = ({ topics = [], apps = [] }) => [...new Set([...topics.map((topic) => topic.replace(suffix, "")), ...apps])].sort()

/** The actions of a device, as buttons and a menu. */
export function actions(page, device, isLarge = false) {
  const { token } = device
  const style = { class: isLarge ? "" : "small" }
  const isUnregistered = device["unregistered-at"] !== undefined
  const isOnline = device.online !== false
  const change = (body, text, inverse) => page.change(devicePath(token), "PUT", body).then((isDone) => {
    if (isDone) toast(text, { action: { name: "Undo", run: () => page.change(devicePath(token), "PUT", inverse) } })
  })
  const topics = device.topics ?? []
  return element("div", { class: "actions" },
    isOnline
      ? button("Take offline", () => page.change(devicePath(token), "PUT", { online: false }), style)
      : button("Bring online", () => page.change(devicePath(token), "PUT", { online: true }), style),
    menu(`More actions for ${deviceName(device)}`, [
      { name: "Send a push to it", icon: "send", action: () => composeTo({ token, ...destination(device) }) },
      isUnregistered
        ? { name: "Reinstall the app", icon: "replay", action: () => register(page, device) }
        : { name: "Remove the app (410 Unregistered)", icon: "error",
          action: () => change({ "unregistered-at": Date.now() }, `${deviceName(device)} is unregistered`,
            { topics: topics.length ? topics : appsOf(device), environment: device.environment }) },
      { name: device.topics ? "Change its topics" : "Register it for topics", icon: "control", action: () => register(page, device) },
      null,
      { name: "Remove the device", icon: "trash", isDanger: true, action: () => remove(page, device) },
    ], style))
}

/** The app of a device's pushes, and their type if the token is that of a Live Activity. */
export function destination(device) {
  const app = appsOf(device)[0]
  return { ...(app ? { app } : {}), ...(device.activity ? { type: "liveactivity" } : {}) }
}

function remove(page, device) {
  const lost = [[Object.keys(device.stored ?? {}).length, "stored push"], [device.shown?.length ?? 0, "notification"]]
    .filter(([count]) => count).map(([count, what]) => counted(count, what))
  removeWithUndo(page, `Removed ${deviceName(device)}${lost.length ? ` with ${lost.join(" and ")}` : ""}. Its pushes stay in the inbox.`,
    devicePath(device.token))
  if (location.hash.startsWith("#/devices/")) location.hash = "#/devices"
}

/** Opens the form that registers a device, filled in for a known device. */
export function register(page, device = null) {
  formDialog(device ? `Register ${deviceName(device)}` : "Register a device", "Register", [
    field("Device token", {
      name: "token", required: true, placeholder: "5d3a6a1c8f9a42d6", class: "token", value: device?.token ?? "", readonly: device !== null,
    }, "Hexadecimal digits"),
    field("Topics", { name: "topics", required: true, placeholder: "com.example.app", value: device ? (device.topics ?? appsOf(device)).join(", ") : "" },
      "Separated by commas or spaces"),
    device ? null : field("Nickname", { name: "name", placeholder: "Kim’s phone", maxlength: 60 }, "Optional"),
  ].filter(Boolean), ({ token, topics, name = "" }, problem) => page.change(devicePath(encodeURIComponent(token.trim())), "PUT", {
    // Without the environment the simulator would set its own.
    topics: topics.split(/[\s,]+/).filter(Boolean), environment: device?.environment, ...(name.trim() ? { name: name.trim() } : {}),
  }, problem))
}

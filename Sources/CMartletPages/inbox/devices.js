// SPDX-License-Identifier: Apache-2.0

// The devices that the simulator knows, registered or from pushes.

import { request } from "./api.js"
import { button, chip, emptyState, relativeTime, table } from "./components.js"
import { openDevice } from "./device.js"
import { actions, appsOf, devicePath, register } from "./device-actions.js"
import { element } from "./dom.js"
import {
  activityGlance, composeTo, deviceState, deviceStateText, device as link, editableName, glance, isOnScreen, isRemoved, ListPage, newestPushes,
  rowsShown, search, short,
} from "./pages.js"
import { counted, grouped } from "./texts.js"

export const open = (container, [token]) => (token ? openDevice(container, token) : openList(container))

function openList(container) {
  const screens = new Screens()
  const page = new ListPage(container, {
    title: "Devices",
    lead: "Every device token is accepted. A registered device accepts only the topics of its apps.",
    placeholder: "Nickname, token, app or state",
    textsOf: (device) => [device.name, device.token, tokenKinds[device.kind], ...appsOf(device), deviceStateText(device)],
    actions: [button("Register a device", () => register(page), { class: "primary", icon: "plus" })],
  }, (devices) => (devices.length ? deviceTable(page, devices, screens) : noDevices(page)))
  return page.follow(async (signal) => {
    const { devices } = await request("/api/v1/devices?details=true", "GET", undefined, signal)
    devices.sort((one, other) => kindsInOrder.indexOf(one.kind) - kindsInOrder.indexOf(other.kind) || (other.last ?? 0) - (one.last ?? 0))
    await screens.load(devices.filter((each) => !isActivity(each)).slice(0, rowsShown), signal)
    return devices
  }, (devices) => page.showItems(devices.filter((each) => !isActivity(each) && !isRemoved(devicePath(each.token)))))
}

/** Whether a token is in the list of Live Activities instead. */
const isActivity = ({ kind, activity }) => kind === "activity" && activity !== undefined

/** The newest notification of each device, fetched once for each push. */
class Screens {
  #pushes = new Map()

  async load(devices, signal) {
    const missing = devices.map(({ shown }) => shown?.at(-1)).filter((number) => number !== undefined && !this.#pushes.has(number))
    if (!missing.length) return
    const numbers = [...new Set(missing)]
    for (const push of await newestPushes(`number:${numbers.join(",")}`, numbers.length, signal)) this.#pushes.set(push.number, push)
    // A push that is no longer stored is not requested again.
    for (const number of numbers) if (!this.#pushes.has(number)) this.#pushes.set(number, null)
  }

  /** What the screen of a device shows, in miniature. */
  of({ activity, shown = [], topics, apps }) {
    if (activity && isOnScreen(activity)) return activityGlance(appsOf({ topics, apps })[0] ?? "", activity["content-state"])
    const push = this.#pushes.get(shown.at(-1))
    if (!push) return element("span", { class: "faint" }, activity ? "Activity ended" : "Nothing")
    const others = shown.length - 1
    return [glance(push), others > 0 ? element("small", { title: counted(others, "more notification") }, `+${grouped(others)}`) : ""]
  }
}

function deviceTable(page, devices, screens) {
  return table("Devices", [
    { name: "Device", isHeader: true, value: (device) => nameCell(page, device) },
    { name: "App", value: (device) => appsCell(device) },
    { name: "State", value: deviceState },
    { name: "Pushes", isNumber: true, value: ({ token, pushes }) =>
      (pushes === undefined ? search(`device:${token}`, "show") : search(`device:${token}`, grouped(pushes))) },
    { name: "Last push", value: ({ last }) => (last ? relativeTime(last * 1000) : "") },
    { name: "On screen", value: (device) => element("span", { class: "screen-cell" }, screens.of(device)) },
    { name: "", value: (device) => actions(page, device) },
  ], devices, ({ token }) => ({ "data-key": token, "data-href": `#/devices/${token}` }))
}

function appsCell(device) {
  const apps = appsOf(device)
  if (!apps.length) return element("span", { class: "faint" }, "any")
  return element("span", { class: "ellipsized", title: apps.join(", ") }, apps[0], apps.length > 1 ? element("small", {}, ` +${apps.length - 1}`) : "")
}

/** The kinds of tokens that are not those of devices. */
const tokenKinds = { activity: "Live Activity", "push-to-start": "push-to-start token" }
/** The kinds of tokens in the order of the list. */
const kindsInOrder = ["device", "push-to-start", "activity"]

function nameCell(page, device) {
  const { token, name, kind = "device" } = device
  const more = [name ? element("small", { class: "token" }, short(token)) : "", kind === "device" ? "" : chip(tokenKinds[kind], "accent")]
  return editableName(name ?? "", element("span", { class: "named" }, link(token, name), ...more), `Nickname of ${short(token)}`,
  (text) => page.change(devicePath(token), "PUT", { name: text }))
}

const noDevices = (page) => emptyState("device", "No devices yet",
  "A device appears here when a push is sent to it, or when you register it.",
  button("Register a device", () => register(page), { class: "primary", icon: "plus" }),
  button("Send a test push", () => composeTo(), { icon: "send" }))

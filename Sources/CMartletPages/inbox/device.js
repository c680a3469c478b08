// SPDX-License-Identifier: Apache-2.0

// One device: its facts, what its phone shows, what APNs stores for it, and everything that was delivered to it.

import { request } from "./api.js"
import { absoluteTime, button, chip, copied, facts, relativeTime, table } from "./components.js"
import { actions, appsOf, destination, deviceName, devicePath } from "./device-actions.js"
import { element } from "./dom.js"
import { icon } from "./icons.js"
import {
  activity as activityLink, activityGlance, composeTo, deviceState, editableName, glance, isOnScreen, newestPushes, Page, push as pushLink, replaceKeepingFocus,
  rowsOr, search, section, short,
} from "./pages.js"
import { headline } from "./push.js"
import { counted } from "./texts.js"
import { eventText, verdictText } from "./verdict.js"

const eventsShown = 200

export function openDevice(container, token) {
  const path = devicePath(token)
  const page = new Page(container, { title: short(token), back: { name: "Devices", href: "#/devices" } })
  const get = (address, signal) => request(address, "GET", undefined, signal)
  return page.follow(async (signal) => {
    const device = { token, ...await get(path, signal) }
    const [{ events }, { pushes }, stored] = await Promise.all(
      [get(`${path}/log`, signal), get(`${path}/notifications`, signal), storedPushes(device, signal)])
    return { device, events, notifications: pushes, stored }
  }, ({ device, events, notifications, stored }) => {
    document.title = `${deviceName(device)} – Martlet`
    if (!page.title.querySelector("[data-editing]")) {
      page.title.replaceChildren(editableName(device.name ?? "", element("span", {}, deviceName(device)), "Nickname",
        (name) => page.change(path, "PUT", { name })))
    }
    return replaceKeepingFocus(page.body,
      element("div", { class: "state-bar", "data-key": "state" }, deviceState(device),
        device.environment ? chip(device.environment) : null, device.activity ? chip("Live Activity", "accent") : null,
        element("span", { class: "grow" }),
        button("Send a push", () => composeTo({ token, ...destination(device) }), { class: "primary", icon: "send" }), actions(page, device, true)),
      element("div", { class: "columns" },
        element("div", { class: "stack" }, factsSection(device), onScreen(device, notifications), storedSection(device, stored)),
        element("div", { class: "stack" }, logSection(token, events), activitiesSection(device))))
  })
}

/** The pushes that APNs stores for a device. */
async function storedPushes({ stored = {} }, signal) {
  const numbers = Object.values(stored)
  return numbers.length ? newestPushes(`number:${numbers.join(",")}`, numbers.length, signal) : []
}

function factsSection(device) {
  const since = device["unregistered-at"]
  return section("Device", facts({
    token: copied(device.token, "the token", element("span", { class: "token" }, device.token)),
    apps: appsOf(device).join(", "),
    topics: device.topics?.join(", ") ?? "any: it is not registered",
    "unregistered since": since === undefined ? null : absoluteTime(since),
    pushes: device.pushes === undefined ? search(`device:${device.token}`, "Show them")
      : search(`device:${device.token}`, counted(device.pushes, "push")),
    "last push": device.last ? relativeTime(device.last * 1000) : null,
    channels: device.channels?.join(", "),
  }))
}

function onScreen(device, notifications) {
  const { activity } = device
  return section("Notification Center",
    activity && isOnScreen(activity)
      ? element("div", { class: "screen-item" }, activityGlance(appsOf(device)[0] ?? "", activity["content-state"]), activityLink(device.token, "activity"))
      : null,
    rowsOr(notifications, "No notifications.", () => element("ol", { class: "screen-items" }, notifications.map((push) =>
      element("li", { class: "screen-item", "data-key": `shown ${push.number}` }, glance(push), element("span", { class: "faint" }, relativeTime(push.time * 1000)),
        pushLink(push.number))))))
}

function storedSection(device, stored) {
  if (!stored.length) {
    return device.online === false ? section("Stored by APNs", element("p", { class: "faint" }, "Nothing is stored for the device.")) : null
  }
  return section("Stored by APNs", table("Stored pushes", [
    { name: "Push", isHeader: true, value: (push) => element("a", { href: `#/push/${push.number}` }, headline(push)) },
    { name: "Received", value: (push) => relativeTime(push.time * 1000) },
    { name: "Expires", value: expiry },
  ], stored, ({ number }) => ({ "data-key": `stored ${number}` })))
}

function expiry(push) {
  const until = push.verdict?.until ?? Number(push.headers["apns-expiration"])
  return until > 0 ? absoluteTime(until * 1000) : element("span", { class: "faint" }, "not stated")
}

/** The icons and tones of delivery events. */
const eventKinds = {
  delivered: ["check", "good"], "delivered-from-storage": ["check", "good"], "stored-device-offline": ["stored", "warning"],
  ignored: ["hidden", "bad"], "replaced-on-device": ["replaced", ""], "activity-ended": ["check", ""], refused: ["error", "bad"], unanswered: ["warning", "bad"],
  released: ["check", "good"],
}

function logSection(token, events) {
  return section("Delivery log", rowsOr(events, "Nothing was sent to this device yet.", () => element("ol", { class: "log" },
    events.slice(0, eventsShown).map(({ "time-ms": milliseconds, number, kind, note, push }, index) => {
      // The verdict is that of today, which belongs to the last event of the push.
      const isLast = events.findIndex((each) => each.number === number) === index
      const [name, tone] = eventKinds[kind] ?? ["trash", "bad"]
      return element("li", { "data-tone": tone, "data-key": `${number} ${kind} ${milliseconds}` }, icon(name),
        element("div", {}, element("a", { href: `#/push/${number}` }, headline(push)),
          element("div", { class: "faint" }, `push ${number} · `, isLast ? element("span", { class: "outcome" }, verdictText(push.verdict))
            : [eventText(kind), note ? `${note.startsWith("by push ") ? "" : ":"} ${note}` : ""])),
        element("span", { class: "faint" }, absoluteTime(milliseconds)))
    }))),
  events.length > eventsShown ? element("p", {}, search(`device:${token}`, `All ${counted(events.length, "event")} in the inbox`)) : null)
}

function activitiesSection(device) {
  const started = device["started-activities"] ?? []
  if (!device.activity && !started.length) return null
  return section("Live Activities", element("ul", { class: "plain" },
    device.activity ? element("li", {}, activityLink(device.token, "The activity of this token"), device.activity.ended ? " (ended)" : "") : null,
    started.toReversed().map((each) => element("li", {}, activityLink(each.id, each["attributes-type"] || short(each.id)),
      element("span", { class: "faint" }, " started by "), pushLink(each["started-by"])))))
}

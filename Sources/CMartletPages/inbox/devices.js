// SPDX-License-Identifier: Apache-2.0

// The devices, with their state, the pushes stored for them and the pushes they show.

import { request } from "./api.js"
import { copyButton, facts } from "./components.js"
import { element } from "./dom.js"
import {
  activity, button, clock, copyAttributes, field, heading, listed, notice, pill, push, refreshed, replaceKeepingFocus,
  search, short,
} from "./pages.js"

const cardsShown = 200
const numbersShown = 8

export function open(container, [token]) {
  const { element: noticeElement, attempt } = notice()
  const list = element("div", { class: "cards" })
  const filter = field("Filter", { type: "search", value: token ?? "", oninput: () => show() })
  const count = element("span", { class: "faint" })
  let devices = []
  const change = (token, body, method = "PUT") => attempt(async () => {
    await request(`/api/v1/devices/${token}`, method, body)
    await refresh.again()
  })
  const show = () => {
    const wanted = filter.querySelector("input").value.trim().toLowerCase()
    const found = devices.filter((device) => JSON.stringify(device).toLowerCase().includes(wanted))
    count.textContent = `${found.length} of ${devices.length}`
    replaceKeepingFocus(list, found.length
      ? found.slice(0, cardsShown).map((device) => card(device, change))
      : element("p", { class: "empty" }, devices.length ? "No matching devices." : "No devices yet."))
  }
  container.replaceChildren(
    heading("Devices", `The simulator accepts any device token. Register a device to accept only its topics, take it
      offline to see what APNs stores for it, or remove its app to get 410 Unregistered.`),
    newDevice(change), noticeElement, element("div", { class: "bar" }, filter, count), list)
  const refresh = refreshed(() => request("/api/v1/devices?details=true"), (value) => {
    devices = value?.devices ?? []
    show()
  })
  return refresh.end
}

function newDevice(change) {
  return element("form", {
    class: "tools", "aria-label": "Register a device",
    onsubmit: (event) => {
      event.preventDefault()
      const { token, topics } = Object.fromEntries(new FormData(event.target))
      change(token.trim(), { topics: topics.split(/[\s,]+/).filter(Boolean) })
    },
  },
    field("Device token", { name: "token", required: true, placeholder: "5d3a6a1c8f9a42d6", class: "token" }),
    field("Topics", { name: "topics", required: true, placeholder: "com.example.app" }),
    element("button", {}, "Register"))
}

function card(device, change) {
  const { token } = device
  const isUnregistered = device["unregistered-since"] !== undefined
  const started = device["started-activities"] ?? []
  return element("article", { class: "card", "data-key": token, "aria-label": `Device ${short(token)}` },
    element("h3", { class: "token", title: token }, short(token)), copyButton("Copy", token, copyAttributes(`token ${short(token)}`)),
    element("p", { class: "pills" },
      isUnregistered ? pill(`unregistered since ${clock(device["unregistered-since"] / 1000)}`, "bad") : null,
      device.online ? pill("online", "good") : pill("offline", "warning"),
      pill(device.environment), device.activity ? pill("Live Activity", "accent") : null),
    facts({
      topics: device.topics?.join(", ") ?? "any",
      stored: listed(Object.entries(device.stored).map(([topic, number]) =>
        element("span", {}, `${topic}: `, push(number)))),
      showing: pushLinks(device.shown),
      activity: device.activity ? [activity(token), device.activity.ended ? " (ended)" : ""] : null,
      "started activities": listed(started.slice(-numbersShown).map((each) =>
        element("span", {}, `${each["attributes-type"]} `, activity(each.id)))),
      channels: device.channels?.join(", "),
    }),
    element("div", { class: "actions" },
      device.online
        ? button("Take offline", () => change(token, { online: false }))
        : button("Bring online", () => change(token, { online: true })),
      isUnregistered
        ? button("Reinstall app", () => change(token, { topics: device.topics ?? [] }), {
          disabled: !device.topics, title: device.topics ? "" : "The device has no topics: register it above",
        })
        : button("Remove app", () => change(token, { "unregistered-since": Date.now() }), {
          title: "Pushes to this device return 410 Unregistered",
        }),
      button("Delete", () => change(token, undefined, "DELETE")), search(`device:${token}`, "Show pushes")))
}

/** Links to the latest of the pushes, and the number of the others. */
function pushLinks(all) {
  const last = all.slice(-numbersShown).reverse()
  return [...listed(last.map(push)), all.length > last.length ? ` and ${all.length - last.length} more` : ""]
    .filter(Boolean)
}

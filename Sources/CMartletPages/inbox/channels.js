// SPDX-License-Identifier: Apache-2.0

// The broadcast channels of all apps, with their subscribers and latest broadcasts.

import { request, pushes as fetchPushes } from "./api.js"
import { copyButton, facts } from "./components.js"
import { element } from "./dom.js"
import {
  activity, button, copyAttributes, field, heading, listed, notice, pill, push, refreshed, replaceKeepingFocus, search,
} from "./pages.js"

/** The names of the message storage policies 0 and 1. */
const policies = ["no message stored", "most recent message stored"]
const broadcastsShown = 5

export function open(container) {
  const { element: noticeElement, attempt } = notice()
  const list = element("div", { class: "cards" })
  const act = (path, method, body) => attempt(async () => {
    await request(path, method, body)
    await refresh.again()
  })
  container.replaceChildren(
    heading("Channels", `A broadcast is delivered to every Live Activity that is subscribed to its channel. Clients manage the
      same channels with channel management requests.`),
    newChannel(act), noticeElement, list)
  const refresh = refreshed(async () => {
    const [{ channels }, { pushes }] = await Promise.all([request("/api/v1/channels"), fetchPushes("is:broadcast", 50)])
    const broadcasts = pushes.map(({ number, channel, app }) => ({ number, channel, app }))
    return { channels, broadcasts }
  }, (value) => {
    const channels = value?.channels ?? []
    replaceKeepingFocus(list, channels.length
      ? channels.map((channel) => card(channel, value.broadcasts, act))
      : element("p", { class: "empty" }, "No channels yet."))
  })
  return refresh.end
}

function newChannel(act) {
  return element("form", {
    class: "tools", "aria-label": "Create a channel",
    onsubmit: (event) => {
      event.preventDefault()
      const { app, policy } = Object.fromEntries(new FormData(event.target))
      act("/api/v1/channels", "POST", { app: app.trim(), "message-storage-policy": Number(policy) })
    },
  },
    field("App", { name: "app", required: true, placeholder: "com.example.app" }),
    element("label", { class: "field" }, element("span", {}, "Storage"),
      element("select", { name: "policy" }, policies.map((text, value) => element("option", { value }, text)))),
    element("button", {}, "Create channel"))
}

function card({ app, channel, "message-storage-policy": policy, subscribers, "subscriber-count": count }, broadcasts, act) {
  const latest = broadcasts.filter((each) => each.channel === channel && each.app === app)
  const address = `/api/v1/channels?${new URLSearchParams({ app, channel })}`
  return element("article", { class: "card", "data-key": `${app} ${channel}`, "aria-label": `Channel ${channel}` },
    element("h3", { class: "token" }, channel), copyButton("Copy", channel, copyAttributes(`channel ID ${channel}`)),
    element("p", { class: "pills" }, pill(policies[policy], policy ? "accent" : ""), pill(`${count} subscribed`)),
    facts({
      app,
      subscribers: listed(subscribers.slice(0, 10).map(activity)),
      broadcasts: listed(latest.slice(0, broadcastsShown).map(({ number }) => push(number))),
    }),
    element("form", {
      class: "inline", "aria-label": `Subscribe an activity to ${channel}`,
      onsubmit: (event) => {
        event.preventDefault()
        const token = new FormData(event.target).get("token").trim()
        subscribe(token, channel, act)
      },
    },
      element("input", {
        name: "token", required: true, class: "token", placeholder: "activity token", autocomplete: "off",
        "aria-label": "Activity token",
      }),
      element("button", {}, "Subscribe")),
    element("div", { class: "actions" },
      button("Delete", () => act(address, "DELETE")), search(`channel:${channel}`, "Show broadcasts")))
}

/** Subscribes a device token to one more channel. */
async function subscribe(token, channel, act) {
  const { devices } = await request("/api/v1/devices")
  const { channels } = devices.includes(token.toLowerCase()) ? await request(`/api/v1/devices/${token}`) : {}
  act(`/api/v1/devices/${token}`, "PUT", { channels: [...new Set([...(channels ?? []), channel])] })
}

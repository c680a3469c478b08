// SPDX-License-Identifier: Apache-2.0

// The broadcast channels of all apps, and one channel with its subscribers and broadcasts.

import { request } from "./api.js"
import { button, chip, copied, emptyState, relativeTime, table } from "./components.js"
import { element } from "./dom.js"
import {
  activity as activityLink, choice, composeTo, ellipsized, field, formDialog, isRemoved, newestPushes, Page, push as pushLink, removeWithUndo, replaceKeepingFocus,
  rowsOr, section,
} from "./pages.js"
import { headline } from "./push.js"
import { counted, grouped } from "./texts.js"
import { verdictLine } from "./verdict.js"

/** The names of the message storage policies 0 and 1. */
const policies = ["Stores nothing", "Stores the newest"]
const broadcastsShown = 100

const address = ({ app, channel }) => `#/channels/${encodeURIComponent(app)}/${encodeURIComponent(channel)}`
const path = ({ app, channel }) => `/api/v1/channels?${new URLSearchParams({ app, channel })}`

export const open = (container, [app, channel]) => (channel ? openChannel(container, app, channel) : openList(container))

function openList(container) {
  const page = new Page(container, {
    title: "Channels",
    lead: "A broadcast goes to every Live Activity that subscribes to its channel. Clients create the same channels with channel management requests.",
    actions: [button("Create a channel", () => create(page), { class: "primary", icon: "plus" })],
  })
  return page.follow(async (signal) => {
    return (await request("/api/v1/channels", "GET", undefined, signal)).channels
  }, (channels) => {
    const stored = channels.filter((channel) => !isRemoved(path(channel)))
    page.showCount(grouped(stored.length))
    return replaceKeepingFocus(page.body, stored.length ? channelTable(page, stored) : emptyState("broadcast", "No channels yet",
      "Create a channel here, or with a channel management request of your client.",
      button("Create a channel", () => create(page), { class: "primary", icon: "plus" })))
  })
}

/** Opens the composer for a broadcast. */
const send = ({ app, channel }) => composeTo({ app, channel, isBroadcast: true, type: "liveactivity", text: broadcastExample() })

function channelTable(page, channels) {
  return table("Channels", [
    { name: "Channel", isHeader: true, value: (each) => element("a", { class: "token", href: address(each) }, each.channel) },
    { name: "App", value: ({ app }) => ellipsized(app) },
    { name: "Storage", value: storage },
    { name: "Subscribers", isNumber: true, value: (each) => {
      const count = each["subscriber-count"]
      return count ? element("a", { href: address(each) }, grouped(count)) : "0"
    } },
    { name: "Last broadcast", value: ({ "last-broadcast": last }) =>
      (last ? element("span", {}, pushLink(last.number), " ", element("span", { class: "faint" }, relativeTime(last["time-ms"]))) : "") },
    { name: "", value: (each) => element("div", { class: "actions" },
      button("Send", () => send(each), { class: "small", icon: "send", "aria-label": `Send a broadcast to ${each.channel}` }),
      button("Delete", () => remove(page, each), { class: "small danger", "aria-label": `Delete channel ${each.channel}` })) },
  ], channels, (each) => ({ "data-key": `${each.app} ${each.channel}`, "data-href": address(each) }))
}

const storage = (channel) => {
  const policy = channel["message-storage-policy"]
  return chip(policies[policy] ?? `policy ${policy}`, policy ? "accent" : "")
}

function create(page) {
  formDialog("Create a channel", "Create channel", [
    field("App", { name: "app", required: true, placeholder: "com.example.app" }, "The app’s bundle identifier"),
    choice("Storage", { name: "policy" }, policies),
  ], ({ app, policy }, problem) =>
    page.change("/api/v1/channels", "POST", { app: app.trim(), "message-storage-policy": Number(policy) }, problem))
}

function remove(page, each) {
  const count = each["subscriber-count"]
  removeWithUndo(page, `Deleted channel ${each.channel}${count ? ` with ${counted(count, "subscription")}` : ""}.`, path(each))
}

function openChannel(container, app, channel) {
  const each = { app, channel }
  let known = { ...each, "subscriber-count": 0 }
  const deleteButton = button("Delete channel", () => {
    remove(page, known)
    location.hash = "#/channels"
  }, { class: "danger", icon: "trash" })
  const page = new Page(container, {
    title: copied(channel, "the channel ID", element("span", { class: "token-title" }, channel)), back: { name: "Channels", href: "#/channels" },
    actions: [deleteButton, button("Send a broadcast", () => send(each),
      { class: "primary", icon: "send" })],
  })
  const list = element("div", { class: "stack" })
  const subscribing = subscribeForm(page, channel)
  page.body.append(list)
  return page.follow(async (signal) => {
    const [{ channels }, pushes] = await Promise.all([
      request("/api/v1/channels", "GET", undefined, signal), newestPushes(`is:broadcast channel:${channel}`, broadcastsShown, signal)])
    const found = channels.find((other) => other.app === app && other.channel === channel)
    return { found: found ?? null, pushes: pushes.filter((push) => push.app === app && push.channel === channel) }
  }, ({ found, pushes }) => {
    document.title = `Channel ${channel} – Martlet`
    known = found ?? known
    deleteButton.hidden = !found
    if (!list.isConnected) page.body.replaceChildren(list)
    return replaceKeepingFocus(list,
      ...(found ? [element("div", { class: "state-bar" }, chip(app), storage(found)),
        section(`Subscribers: ${grouped(found["subscriber-count"])}`, ...subscribers(page, found), subscribing)]
        : [emptyState("broadcast", "No such channel", `${app} has no channel ${channel}: it was deleted, or the simulator was restarted.`)]),
      section("Broadcasts", rowsOr(pushes, "No broadcasts yet.", () => broadcastTable(pushes))))
  })
}

const broadcastExample = () => JSON.stringify({
  aps: { event: "update", timestamp: Math.floor(Date.now() / 1000), "content-state": { headline: "Kick-off", score: "0:0" } },
}, null, 2)

function subscribeForm(page, channel) {
  const problem = element("p", { class: "problem", role: "alert" })
  return element("form", {
    class: "inline-form", "aria-label": `Subscribe an activity to ${channel}`,
    onsubmit: async (event) => {
      event.preventDefault()
      const input = event.target.elements.token
      if (await page.attempt(() => changeChannels(input.value.trim(), (channels) => channels.add(channel)), problem)) input.value = ""
    },
  }, element("input", { name: "token", required: true, class: "token", placeholder: "Activity token", autocomplete: "off", "aria-label": "Activity token" }),
  element("button", {}, "Subscribe"), problem)
}

/** Changes the set of channels to which a token subscribes. */
async function changeChannels(token, change) {
  const { devices } = await request("/api/v1/devices")
  const { channels } = devices.includes(token.toLowerCase()) ? await request(`/api/v1/devices/${token}`) : {}
  const changed = new Set(channels ?? [])
  change(changed)
  await request(`/api/v1/devices/${encodeURIComponent(token)}`, "PUT", { channels: [...changed] })
}

function subscribers(page, { channel, subscribers, "subscriber-count": count }) {
  if (!count) return [element("p", { class: "faint" }, "No Live Activity subscribes to this channel.")]
  return [table("Subscribers", [
    { name: "Activity", isHeader: true, value: (token) => activityLink(token) },
    { name: "", value: (token) => element("div", { class: "actions" }, button("Unsubscribe", () =>
      page.attempt(() => changeChannels(token, (channels) => channels.delete(channel))), { class: "small", "aria-label": `Unsubscribe ${token}` })) },
  ], subscribers, (token) => ({ "data-key": token, "data-href": `#/activities/${token}` })),
  count > subscribers.length ? element("p", { class: "faint" }, `The first ${grouped(subscribers.length)} of ${counted(count, "subscriber")}.`) : ""]
}

function broadcastTable(pushes) {
  return table("Broadcasts", [
    { name: "Push", isHeader: true, value: (push) => element("a", { href: `#/push/${push.number}` }, headline(push)) },
    { name: "Received", value: ({ time }) => relativeTime(time * 1000) },
    { name: "Outcome", value: verdictLine },
  ], pushes, ({ number }) => ({ "data-key": `broadcast ${number}`, "data-href": `#/push/${number}` }))
}

// The broadcast channels of every app: who listens, and what was sent last.

import { ask, pushes as fetchPushes } from "./api.js"
import { element } from "./dom.js"
import {
  activity, button, copyButton, facts, field, heading, listed, notice, pill, push, refreshed, renew, search,
} from "./pages.js"

const policies = ["stores nothing", "stores the newest broadcast"]
const lastShown = 5

export function open(place) {
  const { place: noticePlace, attempt } = notice()
  const list = element("div", { class: "cards" })
  const act = (path, method, body) => attempt(async () => {
    await ask(path, method, body)
    await refresh.again()
  })
  place.replaceChildren(
    heading("Channels", `A broadcast reaches every Live Activity that listens on its channel. These are the channels that
      clients manage at the port for that, too.`),
    newChannel(act), noticePlace, list)
  const refresh = refreshed(async () => {
    const [{ channels }, { pushes }] = await Promise.all([ask("/api/v1/channels"), fetchPushes("is:broadcast", 50)])
    const told = pushes.map(({ number, channel, app }) => ({ number, channel, app }))
    return { channels, told }
  }, (value) => {
    const channels = value?.channels ?? []
    renew(list, channels.length
      ? channels.map((channel) => card(channel, value.told, act))
      : element("p", { class: "empty" }, "No app has a channel yet."))
  })
  return refresh.end
}

function newChannel(act) {
  return element("form", {
    class: "tools", "aria-label": "Make a channel",
    onsubmit: (event) => {
      event.preventDefault()
      const { app, policy } = Object.fromEntries(new FormData(event.target))
      act("/api/v1/channels", "POST", { app: app.trim(), "message-storage-policy": Number(policy) })
    },
  },
    field("App", { name: "app", required: true, placeholder: "com.example.app" }),
    element("label", { class: "field" }, element("span", {}, "Storage"),
      element("select", { name: "policy" }, policies.map((text, value) => element("option", { value }, text)))),
    element("button", {}, "Make a channel"))
}

function card({ app, channel, "message-storage-policy": policy, subscribers, "subscriber-count": count }, told, act) {
  const own = told.filter((each) => each.channel === channel && each.app === app)
  const address = `/api/v1/channels?${new URLSearchParams({ app, channel })}`
  return element("article", { class: "card", "data-key": `${app} ${channel}`, "aria-label": `Channel ${channel}` },
    element("h3", { class: "token" }, channel), copyButton(channel, `the channel ${channel}`),
    element("p", { class: "pills" }, pill(policies[policy], policy ? "accent" : ""), pill(`${count} listening`)),
    facts({
      app,
      listeners: listed(subscribers.slice(0, 10).map(activity)),
      broadcasts: listed(own.slice(0, lastShown).map(({ number }) => push(number))),
    }),
    element("form", {
      class: "inline", "aria-label": `Have an activity listen on ${channel}`,
      onsubmit: (event) => {
        event.preventDefault()
        const token = new FormData(event.target).get("token").trim()
        listen(token, channel, act)
      },
    },
      element("input", {
        name: "token", required: true, class: "token", placeholder: "token of an activity", autocomplete: "off",
        "aria-label": "Token of an activity",
      }),
      element("button", {}, "Have it listen")),
    element("div", { class: "actions" },
      button("Delete", () => act(address, "DELETE")), search(`channel:${channel}`, "Its broadcasts")))
}

/** Has a token listen on one more channel. */
async function listen(token, channel, act) {
  const { devices } = await ask("/api/v1/devices")
  const { channels } = devices.includes(token.toLowerCase()) ? await ask(`/api/v1/devices/${token}`) : {}
  act(`/api/v1/devices/${token}`, "PUT", { channels: [...new Set([...(channels ?? []), channel])] })
}

// The devices there are: what state they are in, what waits for them, and what they show.

import { ask } from "./api.js"
import { element } from "./dom.js"
import {
  activity, button, clock, copyButton, facts, field, heading, listed, notice, pill, push, refreshed, renew, search, short,
} from "./pages.js"

const shownCards = 200
const numbersShown = 8

export function open(place, [token]) {
  const { place: noticePlace, attempt } = notice()
  const list = element("div", { class: "cards" })
  const filter = field("Filter", { type: "search", value: token ?? "", oninput: () => show() })
  const count = element("span", { class: "faint" })
  let devices = []
  const change = (token, body, method = "PUT") => attempt(async () => {
    await ask(`/api/v1/devices/${token}`, method, body)
    await refresh.again()
  })
  const show = () => {
    const wanted = filter.querySelector("input").value.trim().toLowerCase()
    const found = devices.filter((device) => JSON.stringify(device).toLowerCase().includes(wanted))
    count.textContent = `${found.length} of ${devices.length}`
    renew(list, found.length
      ? found.slice(0, shownCards).map((device) => card(device, change))
      : element("p", { class: "empty" }, devices.length ? "None of them." : "Nothing is known of any device yet."))
  }
  place.replaceChildren(
    heading("Devices", `Any token is taken as it comes. Make one known to hold it to its topics, take it offline to see
      what APNs keeps for it, or have its app removed to get 410.`),
    newDevice(change), noticePlace, element("div", { class: "bar" }, filter, count), list)
  const refresh = refreshed(() => ask("/api/v1/devices?details=true"), (value) => {
    devices = value?.devices ?? []
    show()
  })
  return refresh.end
}

function newDevice(change) {
  return element("form", {
    class: "tools", "aria-label": "Make a device known",
    onsubmit: (event) => {
      event.preventDefault()
      const { token, topics } = Object.fromEntries(new FormData(event.target))
      change(token.trim(), { topics: topics.split(/[\s,]+/).filter(Boolean) })
    },
  },
    field("Device token", { name: "token", required: true, placeholder: "5d3a6a1c8f9a42d6", class: "token" }),
    field("Topics", { name: "topics", required: true, placeholder: "com.example.app" }),
    element("button", {}, "Make known"))
}

function card(device, change) {
  const { token } = device
  const isGone = device["unregistered-since"] !== undefined
  const started = device["started-activities"] ?? []
  return element("article", { class: "card", "data-key": token, "aria-label": `Device ${short(token)}` },
    element("h3", { class: "token", title: token }, short(token)), copyButton(token, `the token ${short(token)}`),
    element("p", { class: "pills" },
      isGone ? pill(`gone since ${clock(device["unregistered-since"] / 1000)}`, "bad") : null,
      device.online ? pill("online", "good") : pill("away", "warning"),
      pill(device.environment), device.activity ? pill("a Live Activity", "accent") : null),
    facts({
      topics: device.topics?.join(", ") ?? "any",
      waiting: listed(Object.entries(device.stored).map(([topic, number]) =>
        element("span", {}, `${topic}: `, push(number)))),
      shows: numbers(device.shown),
      activity: device.activity ? [activity(token), device.activity.ended ? " (ended)" : ""] : null,
      started: listed(started.slice(-numbersShown).map((each) =>
        element("span", {}, `${each["attributes-type"]} `, activity(each.id)))),
      "listens on": device.channels?.join(", "),
    }),
    element("div", { class: "actions" },
      device.online
        ? button("Take offline", () => change(token, { online: false }))
        : button("Bring online", () => change(token, { online: true })),
      isGone
        ? button("Install again", () => change(token, { topics: device.topics ?? [] }), {
          disabled: !device.topics, title: device.topics ? "" : "It has no topics: make it known above",
        })
        : button("Remove the app", () => change(token, { "unregistered-since": Date.now() }), {
          title: "Pushes to it get 410 Unregistered from now on",
        }),
      button("Forget", () => change(token, undefined, "DELETE")), search(`device:${token}`, "Its pushes")))
}

function numbers(all) {
  const last = all.slice(-numbersShown).reverse()
  return [...listed(last.map(push)), all.length > last.length ? ` and ${all.length - last.length} more` : ""]
    .filter(Boolean)
}

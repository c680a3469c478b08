// SPDX-License-Identifier: Apache-2.0

// The list of the simulated phones with the result of all pushes to them, and the page of one phone with its cards and
// notifications.

import { request } from "./api.js"
import { absoluteTime, chip, facts, table } from "./components.js"
import { element } from "./dom.js"
import { activityGlance, Page, replaceKeepingFocus, rowsOr, rowsShown, section } from "./pages.js"
import { localizedText } from "./strings.js"
import { counted, durationText, grouped } from "./texts.js"

const address = ({ number }) => `#/phones/${number}`
/** The tones of the states of a card. */
const cardTones = { active: "good", stale: "warning", ended: "" }

export const open = (container, [number]) => (number ? openPhone(container, number) : openList(container))

function openList(container) {
  const page = new Page(container, {
    title: "Phones",
    lead: "Each simulated phone shows the pushes to its tokens as iOS does, and its app reports tokens and activities to the back end.",
  })
  const fetchPhones = (signal) => request(`/api/v1/phones?limit=${rowsShown}`, "GET", undefined, signal)
  return page.follow(fetchPhones, ({ total, app, account, staleness, phones }) => {
    page.showCount(grouped(total))
    return replaceKeepingFocus(page.body, element("div", { class: "stack" },
      element("div", { class: "columns" },
        section("Content", facts({
          app,
          "stale surfaces": tinted(account["stale-surfaces"], "warning"),
          "median staleness": durationText(staleness.median),
          "95th percentile": durationText(staleness["percentile-95"]),
          "longest staleness": durationText(staleness.longest),
          "longest with unreachable phones": durationText(account["longest-staleness"]),
          ...contentFacts(account),
        })),
        section("Pushes", facts(pushFacts(account)))),
      section(`The longest staleness first: ${grouped(phones.length)} of ${counted(total, "phone")}`, phoneTable(phones))))
  })
}

/** A number that is a chip when it is not 0. */
const tinted = (count, tone = "bad") => (count ? chip(grouped(count), tone) : "0")

const contentFacts = (account) => ({
  duplicates: [tinted(account.duplicates), `, for ${durationText(account["longest-duplication"])} at most`],
  "stranded cards": [tinted(account["stranded-cards"]), `, for ${durationText(account["longest-stranding"])} at most`],
  cards: `${grouped(account["cards-started"])} started, ${grouped(account["cards-removed"])} removed`,
  "widget reloads": grouped(account["widget-reloads"]),
  "control reloads": grouped(account["control-reloads"]),
})

const pushFacts = (account) => ({
  received: grouped(account.pushes),
  "with an effect": grouped(account.effective),
  "without an effect": [tinted(account.wasted, "warning"),
    ...Object.entries(account.dropped).map(([cause, count]) => element("div", { class: "faint" }, `${cause.replaceAll("-", " ")} ${grouped(count)}`))],
  lost: grouped(account.lost),
  waiting: grouped(account.waiting),
  refused: grouped(account.refused),
  "to invalid tokens": grouped(account["to-invalid-tokens"]),
})

function phoneTable(phones) {
  return table("Phones", [
    { name: "Phone", isHeader: true, value: (each) => element("a", { href: address(each) }, each.user) },
    { name: "State", value: state },
    { name: "Cards", isNumber: true, value: ({ cards }) => grouped(cards) },
    { name: "Pushes", isNumber: true, value: ({ account }) => grouped(account.pushes) },
    { name: "Without effect", isNumber: true, value: ({ account }) => tinted(account.wasted, "warning") },
    { name: "Stale", isNumber: true, value: ({ account }) => tinted(account["stale-surfaces"], "warning") },
    { name: "Longest staleness", isNumber: true, value: ({ account }) => durationText(account["longest-reachable-staleness"]) },
    { name: "Duplicates", isNumber: true, value: ({ account }) => tinted(account.duplicates) },
    { name: "Stranded", isNumber: true, value: ({ account }) => tinted(account["stranded-cards"]) },
  ], phones, (each) => ({ "data-key": `${each.number}`, "data-href": address(each) }))
}

const state = (phone) => element("span", { class: "chips" },
  phone.online ? "" : chip("offline", "warning"),
  chip(phone["app-state"] === "absent" ? "app deleted" : `app ${phone["app-state"].replace("-", " ")}`))

function openPhone(container, number) {
  const page = new Page(container, { title: `Phone ${number}`, back: { name: "Phones", href: "#/phones" } })
  return page.follow((signal) => request(`/api/v1/phones/${encodeURIComponent(number)}`, "GET", undefined, signal), (phone) => {
    const { account, permissions, fixed, cards, notifications } = phone
    return replaceKeepingFocus(page.body, element("div", { class: "stack" },
      element("div", { class: "state-bar" }, state(phone)),
      section("Cards", rowsOr(cards, "No card is on the screen.", () => cardTable(cards))),
      section("Notifications", rowsOr(notifications, "No notification is on the screen.", () => notificationTable(notifications))),
      element("div", { class: "columns" },
        section("Content", facts({
          user: phone.user,
          "not allowed": Object.keys(permissions).filter((name) => !permissions[name]).join(", ").replaceAll("-", " "),
          fixed: Object.entries(fixed).map(([name, isOn]) => `${name.replaceAll("-", " ")} ${isOn ? "on" : "off"}`).join(", "),
          "stale surfaces": tinted(account["stale-surfaces"], "warning"),
          "longest staleness": `${durationText(account["longest-reachable-staleness"])}, with unreachable time ${durationText(account["longest-staleness"])}`,
          ...contentFacts(account),
        })),
        section("Pushes", facts(pushFacts(account))))))
  })
}

const cardTable = (cards) => table("Cards", [
  { name: "Surface", isHeader: true, value: ({ surface }) => surface },
  { name: "State", value: (card) => chip(card.state, cardTones[card.state]) },
  { name: "Content", value: (card) => activityGlance("", card["content-state"]) },
  { name: "Started", value: (card) => [absoluteTime(card["started-at-ms"]), ` by ${card["started-by"] === "push" ? "a push" : "the app"}`] },
], cards, ({ id }) => ({ "data-key": id }))

const notificationTable = (notifications) => table("Notifications", [
  { name: "Title", isHeader: true, value: (alert) => localizedText(alert, "title")?.text ?? "" },
  { name: "Text", value: (alert) => localizedText(alert, "body")?.text ?? "" },
], notifications)

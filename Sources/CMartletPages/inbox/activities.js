// SPDX-License-Identifier: Apache-2.0

// The list of Live Activities.

import { request } from "./api.js"
import { banner, button, chip, emptyState, relativeTime, table } from "./components.js"
import { appsOf } from "./device-actions.js"
import { element } from "./dom.js"
import { activity as link, activityGlance, composeTo, ellipsized, isOnScreen, ListPage, now, replaceKeepingFocus, search, short } from "./pages.js"
import { completeTime, counted, grouped } from "./texts.js"
import { openTimeline } from "./timeline.js"

export const open = (container, [token]) => (token ? openTimeline(container, token) : openList(container))

function openList(container) {
  const page = new ListPage(container, {
    title: "Activities", lead: "The Live Activities that pushes were sent to, with what each shows now.",
    placeholder: "Nickname, token, app, state or content",
    textsOf: (each) => [each.name, each.token, ...appsOf(each), stateOf(each.activity), ...textsIn(each.activity?.["content-state"])],
  }, (activities) => (activities.length ? activityTable(activities) : noActivities()))
  const notice = element("div", { class: "notice" })
  page.body.prepend(notice)
  const get = (path, signal) => request(path, "GET", undefined, signal)
  // A search of many pushes takes longer than the list, which does not wait for it.
  const endSearch = page.follow(async (signal) => (await get(`/api/v1/pushes?view=summary&limit=1&query=${encodeURIComponent(misdirected)}`, signal)).total,
    (total) => replaceKeepingFocus(notice, total ? misdirectedBanner(total) : null))
  const endList = page.follow(async (signal) => (await get("/api/v1/activities", signal)).activities, (activities) => {
    const last = (each) => each.last ?? each.activity?.timestamp
    return page.showItems(activities.toSorted((one, other) => last(other) - last(one)))
  })
  return () => {
    endSearch()
    endList()
  }
}

/** The query for pushes to tokens of devices, to those that start activities, and to those of other apps. */
const misdirected = "type:liveactivity rule:activity-device-token OR rule:activity-token-wrong OR rule:device-token-of-other-topic"

const misdirectedBanner = (total) => banner("warning", [
  element("strong", {}, `${counted(total, "Live Activity push")} ${total === 1 ? "was" : "were"} sent to a token of the wrong kind or app`),
  ", so no activity shows ", total === 1 ? "it" : "them", ". ", search(misdirected, total === 1 ? "Show the push" : "Show the pushes")])

const appOf = (each) => appsOf(each)[0] ?? ""

function activityTable(activities) {
  // Only a start names the type.
  const hasTypes = activities.some((each) => each["attributes-type"])
  return table("Activities", [
    { name: "Activity", isHeader: true, value: ({ token, name }) => element("span", { class: "named" }, link(token, name),
      name ? element("small", { class: "token" }, short(token)) : "") },
    { name: "App", value: (each) => ellipsized(appOf(each)) },
    ...(hasTypes ? [{ name: "Type", value: (each) => (each["attributes-type"] ? ellipsized(each["attributes-type"]) : "") }] : []),
    { name: "State", value: ({ activity }) => state(activity) },
    { name: "Shows", value: (each) => element("span", { class: "screen-cell" }, each.activity && isOnScreen(each.activity)
      ? activityGlance(appOf(each), each.activity["content-state"])
      : element("span", { class: "faint" }, each.activity ? "Nothing: it was removed" : "Nothing yet")) },
    { name: "Last push", value: ({ last }) => (last ? relativeTime(last * 1000) : "") },
    // The activity has also counted the pushes that are no longer stored.
    { name: "Pushes", isNumber: true, value: ({ token, channels, pushes, activity, "started-by": start }) => {
      const count = grouped(Math.max(pushes, activity?.pushes ?? 0))
      // Only the page of the activity has the broadcasts that it received.
      if (channels?.length) return element("a", { href: `#/activities/${token}` }, count)
      return search(start ? `device:${token} OR number:${start}` : `device:${token}`, count)
    } },
    { name: "Not shown", isNumber: true, value: ({ activity, refused = 0 }) => {
      const count = (activity?.ignored ?? 0) + refused
      return count ? chip(grouped(count), "bad") : "0"
    } },
  ], activities, ({ token }) => ({ "data-key": token, "data-href": `#/activities/${token}` }))
}

/** The texts and numbers in a content state. */
const textsIn = (value) => (value !== null && typeof value === "object" ? Object.values(value).flatMap(textsIn) : [String(value ?? "")])

const staleDate = (activity, shown) => activity?.["stale-date"] ?? shown?.payload?.aps?.["stale-date"]

/** The state of an activity: not shown yet, active, ended, removed from the screen, or stale since the date of the push that it shows. */
function stateOf(activity, shown = null) {
  if (!activity && !shown) return "not shown yet"
  // The simulator knows no activity whose pushes were imported.
  if (activity?.ended ?? shown?.payload?.aps?.event === "end") return activity && !isOnScreen(activity) ? "removed" : "ended"
  return staleDate(activity, shown) < now() ? "stale" : "active"
}

/** The state of an activity as a chip; `shown` is the push whose content an activity shows that the simulator does not know. */
export function state(activity, shown = null) {
  const text = stateOf(activity, shown)
  return text === "stale" ? chip(text, "warning", { title: completeTime(staleDate(activity, shown) * 1000) })
    : chip(text, text === "active" ? "good" : "")
}

const noActivities = () => emptyState("activity", "No Live Activities yet",
  "An activity appears here when a push of the type liveactivity is sent to its token.",
  button("Send a push to one", () => composeTo({ type: "liveactivity" }), { icon: "send" }))

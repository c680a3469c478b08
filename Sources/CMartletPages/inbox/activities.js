// SPDX-License-Identifier: Apache-2.0

// The list of Live Activities.

import { request } from "./api.js"
import { button, chip, completeTime, emptyState, relativeTime, table } from "./components.js"
import { appsOf } from "./device-actions.js"
import { element } from "./dom.js"
import {
  activity as link, activityGlance, composeTo, ListPage, newestPushes, now, search, short,
} from "./pages.js"
import { app } from "./push.js"
import { verdictAt } from "./steps.js"
import { openTimeline } from "./timeline.js"

const pushesRead = 1000

export const open = (container, [token]) => (token ? openTimeline(container, token) : openList(container))

function openList(container) {
  let facts = new Map()
  const page = new ListPage(container, {
    title: "Activities", lead: "The Live Activities that have received pushes, with what each shows now.",
    placeholder: "Nickname, token, app, state or content",
    textsOf: (each) => {
      const { app, shown } = factsOf(each, facts)
      return [each.name, each.token, ...appsOf(each), app, stateOf(each.activity, shown), ...textsIn(each.activity["content-state"])]
    },
  }, (activities) => (activities.length ? activityTable(activities, facts) : noActivities()))
  let [newest, known] = [undefined, []]
  return page.follow(async (signal) => {
    const [{ activities }, [last]] = await Promise.all([request("/api/v1/activities", "GET", undefined, signal), newestPushes("", 1, signal)])
    // All pushes are requested again only when there are other ones.
    if (newest !== last?.number) {
      known = (await Promise.all(["type:liveactivity -is:broadcast", "is:broadcast"].map((query) => newestPushes(query, pushesRead, signal)))).flat()
      newest = last?.number
    }
    return { activities, pushes: known.map((push) => ({
      key: push.channel ?? push["device-token"], time: push.time, app: app(push), payload: { aps: push.payload?.aps },
      isIgnored: push.channel === undefined && verdictAt(push, push["device-token"]).kind === "not-shown",
    })) }
  }, ({ activities, pushes }) => {
    facts = pushFacts(pushes)
    const last = (each) => each.last ?? factsOf(each, facts).last ?? each.activity.timestamp
    return page.showItems(activities.toSorted((one, other) => last(other) - last(one)))
  })
}

/** The number of pushes, the ignored ones, the last time, the app, the type and the newest content of each token and channel. */
function pushFacts(pushes) {
  const facts = new Map()
  for (const { key, time, app, payload, isIgnored } of pushes) {
    const known = facts.get(key) ?? { count: 0, ignored: 0, last: time, app, type: undefined, shown: undefined }
    known.count += 1
    known.ignored += isIgnored ? 1 : 0
    known.type ??= payload.aps?.["attributes-type"]
    if (!isIgnored) known.shown ??= { payload }
    facts.set(key, known)
  }
  return facts
}

/** The facts of an activity from the pushes to its token and to its channels. */
function factsOf({ token, channels = [] }, facts) {
  const all = [token, ...channels].map((key) => facts.get(key)).filter(Boolean)
  return {
    count: all.reduce((sum, { count }) => sum + count, 0), ignored: facts.get(token)?.ignored ?? 0, app: all[0]?.app, type: all.find(({ type }) => type)?.type,
    last: all.length ? Math.max(...all.map(({ last }) => last)) : undefined, shown: all.find(({ shown }) => shown)?.shown, hasBroadcasts: channels.some((channel) => facts.has(channel)),
  }
}

function activityTable(activities, facts) {
  const of = (each) => factsOf(each, facts)
  const appOf = (each) => appsOf(each)[0] ?? of(each).app ?? ""
  return table("Activities", [
    { name: "Activity", isHeader: true, value: ({ token, name }) => element("span", { class: "named" }, link(token, name),
      name ? element("small", { class: "token" }, short(token)) : "") },
    { name: "App", value: appOf },
    { name: "Type", value: (each) => each["attributes-type"] ?? of(each).type ?? "" },
    { name: "State", value: (each) => state(each.activity, of(each).shown) },
    { name: "Shows", value: (each) => element("span", { class: "screen-cell" }, activityGlance(appOf(each), each.activity["content-state"])) },
    { name: "Last push", value: (each) => {
      const last = each.last ?? of(each).last
      return last ? relativeTime(last * 1000) : ""
    } },
    { name: "Pushes", isNumber: true, value: (each) => {
      const text = Math.max(each.pushes ?? 0, of(each).count).toLocaleString()
      return search(each.channels?.length ? `channel:${each.channels[0]}` : `device:${each.token}`, text)
    } },
    { name: "Not shown", isNumber: true, value: (each) => {
      const { ignored, hasBroadcasts } = of(each)
      // The outcome of a broadcast at one device is on the page of the activity.
      if (!ignored && hasBroadcasts) return ""
      return ignored ? element("span", { class: "chip", "data-tone": "bad" }, ignored.toLocaleString()) : "0"
    } },
  ], activities, ({ token }) => ({ "data-key": token, "data-href": `#/activities/${token}` }))
}

/** The texts and numbers in a content state. */
const textsIn = (value) => (value !== null && typeof value === "object" ? Object.values(value).flatMap(textsIn) : [String(value ?? "")])

const staleDate = (activity, shown) => activity?.["stale-date"] ?? shown?.payload?.aps?.["stale-date"]

/** The state of an activity: active, ended, or stale since the date of the push that it shows. */
function stateOf(activity, shown) {
  // The simulator knows no activity whose pushes were imported.
  if (activity?.ended ?? shown?.payload?.aps?.event === "end") return "ended"
  return staleDate(activity, shown) < now() ? "stale" : "active"
}

/** The state of an activity as a chip. */
export function state(activity, shown) {
  const text = stateOf(activity, shown)
  return text === "stale" ? chip(text, "warning", { title: completeTime(staleDate(activity, shown) * 1000) })
    : chip(text, text === "active" ? "good" : "")
}

const noActivities = () => emptyState("activity", "No Live Activities yet",
  "An activity appears here when a push of the type liveactivity is sent to its token.",
  button("Send a push to one", () => composeTo({ type: "liveactivity" }), { icon: "send" }))

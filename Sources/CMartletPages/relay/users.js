// SPDX-License-Identifier: Apache-2.0

// The phones of one user and the last pushes to them, which are requested by a form: without whole tokens and payloads.

import { chip, chips, copied, emptyState, table } from "./components.js"
import { element, released } from "./dom.js"
import { ageElement, answerText, outcomeTones, preciseClockElement, updateWhenChanged } from "./figures.js"
import { jobElement } from "./jobs.js"
import { longTable } from "./list.js"
import { appPath, request } from "./relay.js"
import { counted, grouped } from "./texts.js"

/** What was found last, with the time of the answer. */
let overview = null
let problem = ""
let isSearching = false
/** The number of the latest search or sign-out, so that answers to earlier ones are ignored. */
let latest = 0

/** Removes what was found, because another key may not see it. */
export function forgetUser(form) {
  latest += 1
  overview = null
  problem = ""
  isSearching = false
  form.reset()
}

/** Shows the user that was found last, and a form that searches if the key permits it. */
export function showUser(container, form, status) {
  const { caller, apps, now } = status
  form.hidden = !caller.scopes.includes("installations")
  const { app: choice, user } = form.elements
  choice.hidden = apps.length < 2
  updateWhenChanged(choice, apps.map(({ name }) => name), () => apps.map(({ name }) => element("option", {}, name)))
  form.onsubmit = (event) => {
    event.preventDefault()
    search(choice.value, user.value, () => showUser(container, form, status))
  }
  updateWhenChanged(container, [overview, problem, isSearching, form.hidden], () => {
    if (form.hidden) return element("p", {}, "Looking up a user needs a key with the scope ", element("code", {}, "installations"), ".")
    if (problem) return element("p", { class: "problem", role: "alert" }, problem)
    if (isSearching) return element("p", { class: "faint", role: "status" }, "Looking up…")
    return overview ? found(overview, now) : element("p", { class: "faint" }, "The audit log of the relay records who has looked up a user, without the user.")
  })
}

async function search(app, user, show) {
  const own = ++latest
  isSearching = true
  problem = ""
  show()
  try {
    const answer = await request(appPath(app, `users/${encodeURIComponent(user)}/overview`))
    await released()
    if (own !== latest) return
    overview = { ...answer, time: Date.now() }
  } catch (error) {
    if (own !== latest) return
    problem = error.message
  }
  isSearching = false
  show()
}

/** The phones of a user and the pushes to them. */
function found({ app, user, installations, pushes, complete, time }, now) {
  if (installations.length + pushes.length === 0) {
    return emptyState("search", "Nothing is stored", `No phone of ${app} has the user “${user}”, and no push to the user waits or was abandoned. Upper-case and lower-case letters differ.`)
  }
  return [
    element("h3", {}, `${counted(installations.length, "phone")} of ${user} in ${app}`),
    installations.length ? table("Phones of the user", phoneColumns(now), installations, ({ id }) => ({ "data-id": id })) : null,
    element("h3", {}, "Last pushes"),
    ...pushes.length ? longTable("List of pushes", table("Pushes to the user", pushColumns, pushes, ({ id }) => ({ "data-id": id })))
      : [element("p", {}, "None.")],
    element("p", { class: "faint" }, "Looked up at ", preciseClockElement(time), "; look up again for later changes. Listed are the pushes that wait or were abandoned, and those of the latest 10 jobs of the app.",
      complete ? null : " More of them wait or were abandoned.",
      " The relay does not store the user with the outcome of another push: ", element("code", {}, "martlet relay search --id ID"), " finds it by its identifier."),
  ]
}

/** The surfaces of the activities that run, and the number of those that have ended. */
function activityTexts(activities) {
  const running = activities.filter(({ ended }) => !ended).map(({ surface }) => surface)
  const ended = activities.length - running.length
  return ended ? [...running, `${grouped(ended)} ended`] : running
}

const phoneColumns = (now) => [
  { name: "Last seen", isHeader: true, value: (phone) => ageElement(phone["seen-at"], now, " ago") },
  { name: "Environment", value: ({ environment }) => chip(environment, environment === "production" ? "accent" : "") },
  { name: "Phone", value: (phone) => [phone.model, phone["system-version"]].filter(Boolean).join(", ") || "unknown" },
  { name: "App version", value: (phone) => phone["app-version"] ?? "unknown" },
  { name: "Tokens", value: (phone) => chips(Object.entries(phone["short-tokens"]).map(([kind, token]) =>
    `${kind} ${typeof token === "string" ? token : grouped(Object.keys(token).length)}`)) },
  { name: "Live Activities", value: ({ activities }) => chips(activityTexts(Object.values(activities))) },
  { name: "Permissions", value: ({ permissions }) => element("span", { class: "chips" }, Object.keys(permissions).length
    ? Object.entries(permissions).map(([name, isGranted]) => chip(`${isGranted ? "" : "no "}${name}`, isGranted ? "good" : "warning"))
    : element("span", { class: "faint" }, "unknown")) },
  { name: "Tags", value: ({ tags }) => chips(tags) },
]

/** The texts and tones of states that are not outcomes, as in the list of jobs. */
const states = { accepted: ["waiting", "accent"], "in-flight": ["being sent", "accent"] }

const pushColumns = [
  { name: "Accepted", isHeader: true, value: (push) => preciseClockElement(push["accepted-at"]) },
  { name: "Push", value: ({ id }) => copied(id, "identifier", element("code", {}, id)) },
  { name: "State", value: ({ state }) => chip(...states[state] ?? [state, outcomeTones[state]]) },
  { name: "Ended", value: (push) => (push["ended-at"] === undefined ? "" : preciseClockElement(push["ended-at"])) },
  { name: "Apple's last answer", value: answerText },
  { name: "Cause", value: ({ cause }) => cause ?? "" },
  { name: "Job", value: ({ job }) => (job ? jobElement(job) : "") },
]

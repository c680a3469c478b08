// SPDX-License-Identifier: Apache-2.0

// The jobs: pushes to many phones, each with its progress and a button that cancels it.

import { announce, button, chip, chips, confirmed, copied, emptyState, table } from "./components.js"
import { element, released, serverURL } from "./dom.js"
import { ageElement, outcomeTones, preciseClockElement, updateWhenChanged } from "./figures.js"
import { longTable } from "./list.js"
import { appPath, request } from "./relay.js"
import { counted, grouped } from "./texts.js"

/** The number of jobs of an app that are listed. */
const limit = 20
/** The number of characters of an audience that are shown; hovering shows all. */
const shownAudience = 100
/** The time between requests for the jobs while none makes progress, in milliseconds; otherwise each status requests them. */
const interval = 10_000
/** The listed jobs; null before the first answer. */
let jobs = null
/** Whether an app has older jobs than those that are listed. */
let hasMore = false
let problem = ""
/** The problems of cancelled jobs, and the jobs that are being cancelled, by their keys. */
const problems = new Map()
const cancelling = new Set()
let requestedAt = 0
let isRequested = false
/** The number of the latest request or sign-out, so that answers to earlier ones are ignored. */
let latest = 0
/** Shows the jobs with the last status. */
let showAgain = () => {}

/** The key of a job: identifiers are unique in an app only. */
const keyOf = ({ app, id }) => `${app} ${id}`

const isScheduled = (job, now) => job.state === "expanding" && job["starts-at"] > now

/** Returns whether a listed job makes progress. */
const hasActiveJobs = (now) => jobs?.some((job) => job["ended-at"] === undefined && !isScheduled(job, now)) ?? false

/** Removes the jobs, because another key may not see them. */
export function forgetJobs() {
  latest += 1
  jobs = null
  problem = ""
  requestedAt = 0
  isRequested = false
  problems.clear()
}

/** Requests the latest jobs of apps and shows them; the status does not wait for that, because the store may not answer. */
async function load(apps) {
  const own = ++latest
  isRequested = true
  requestedAt = Date.now()
  try {
    const lists = await Promise.all(apps.map(({ name }) => request(`${appPath(name, "jobs")}?limit=${limit}`)))
    await released()
    if (own !== latest) return
    jobs = lists.flatMap((list) => list.jobs).sort((first, second) => second["created-at"] - first["created-at"])
    hasMore = lists.some(({ cursor }) => cursor !== undefined)
    problem = ""
  } catch (error) {
    if (own !== latest) return
    problem = error.message
  }
  isRequested = false
  showAgain()
}

/** Shows the jobs, newest first, and requests them when they may have changed. */
export function showJobs(container, { caller, now, apps }) {
  showAgain = () => show(container, caller, now, apps)
  if (!isRequested && (Date.now() - requestedAt >= interval || hasActiveJobs(now))) load(apps)
  showAgain()
}

function show(container, caller, now, apps) {
  const facts = [jobs, hasMore, problem, [...problems], [...cancelling], caller, apps.map(({ name }) => name), jobs?.map((job) => isScheduled(job, now))]
  updateWhenChanged(container, facts, () => {
    const alert = problem ? element("p", { class: "problem", role: "alert" }, `The list of jobs is not current: ${problem}`) : null
    if (!jobs) return alert
    if (jobs.length === 0) return [alert, ...noJobs(apps[0]?.name ?? "orders")]
    const mayCancel = caller.scopes.includes("send")
    return [
      alert,
      mayCancel ? null : element("p", { class: "faint" }, "Cancelling a job needs a key with the scope ", element("code", {}, "send"), "."),
      ...longTable("List of jobs", table("Jobs", columns(now, mayCancel, apps), jobs, (job) => ({ "data-job": job.id }))),
      hasMore ? element("p", { class: "faint" }, `The newest ${limit} jobs of each app are listed.`) : null,
    ]
  })
}

/** The explanation of jobs, with a request that creates one. */
function noJobs(app) {
  const text = "A job sends a push to all phones that match an expression. The relay stores its pushes page by page, behind all other pushes."
  const body = JSON.stringify({ app, to: { where: "beta && app-version>=2.1" }, payload: { aps: { alert: "Hello" } } })
  return [emptyState("send", "No jobs", text),
    element("pre", { tabindex: 0 }, `curl -H "authorization: Bearer $KEY" ${serverURL("/v1/pushes")} --data '${body}'`)]
}

/** The end of the identifier of a job, by which its pushes are found in the list of a user; a click copies all of it. */
export const jobElement = (id) => copied(id, "identifier of the job", element("code", { title: id }, `…${id.slice(-12)}`))

function columns(now, mayCancel, apps) {
  return [
    { name: "Created", isHeader: true, value: (job) => ageElement(job["created-at"], now, " ago") },
    { name: "App", value: ({ app, id }) => element("span", { class: "names" }, element("span", { class: "lane" }, element("span", { title: app }, app)), jobElement(id)) },
    { name: "Audience", value: ({ audience }) => element("code", { title: audience },
      audience.length > shownAudience ? `${audience.slice(0, shownAudience)}…` : audience) },
    { name: "State", value: (job) => element("span", { class: "chips" }, chip(...stateOf(job, now)), timeOf(job, now)) },
    // A scheduled job has matched nothing yet.
    { name: "Matched", isNumber: true, value: (job) => (isScheduled(job, now) ? "–" : grouped(job.matched)) },
    { name: "Stored", isNumber: true, value: (job) => (isScheduled(job, now) ? "–" : grouped(job.stored)) },
    { name: "Left out", value: (job) => (isScheduled(job, now) ? "–" : chips(Object.entries(job["left-out"]).map(([reason, count]) => `${reason} ${grouped(count)}`))) },
    { name: "Outcomes", value: (job) => (isScheduled(job, now) ? "–" : outcomes(job)) },
    ...(mayCancel ? [{ name: "Control", value: (job) => control(job, apps) }] : []),
  ]
}

/** The text and the tone of the state of a job. */
function stateOf(job, now) {
  const isEnded = job["ended-at"] !== undefined
  if (job.state === "cancelled") return isEnded ? ["Cancelled"] : ["Cancelling", "warning"]
  if (isEnded && job.matched === 0) return ["Ended: no phone matched", "warning"]
  if (isEnded) return job.outcomes.delivered ? ["Ended", "good"] : ["Ended: nothing delivered", "warning"]
  if (job.state === "expanded") return ["Sending", "accent"]
  return isScheduled(job, now) ? ["Scheduled", "accent"] : ["Expanding", "accent"]
}

/** The time of the end, or the earliest time of the start, after which phones wait for their local time or quiet hours. */
function timeOf(job, now) {
  if (job["ended-at"] !== undefined) return element("small", {}, ageElement(job["ended-at"], now, " ago"))
  if (job["starts-at"] === undefined) return null
  const rest = job.state === "expanded" ? "; phones may wait for their local time" : ""
  return element("small", {}, "not before ", preciseClockElement(job["starts-at"]), rest)
}

/** The numbers of pushes by outcome, and of those that have not ended. */
function outcomes({ outcomes: counts, waiting }) {
  const ended = Object.entries(counts).map(([state, count]) => chip(`${state} ${grouped(count)}`, outcomeTones[state]))
  return element("span", { class: "chips" }, waiting ? chip(`waiting ${grouped(waiting)}`, "accent") : null,
    ended.length || waiting ? ended : element("span", { class: "faint" }, "none"))
}

function control(job, apps) {
  if (job.state === "cancelled" || job["ended-at"] !== undefined) return null
  const found = problems.get(keyOf(job))
  return element("span", { class: "actions" },
    button("Cancel", () => cancel(job, apps), { class: "small", icon: "close", "aria-label": `Cancel the job ${job.id}`, disabled: cancelling.has(keyOf(job)) }),
    found ? element("span", { class: "problem", role: "alert" }, found) : null)
}

/** Cancels a job after a question. */
async function cancel(job, apps) {
  const waiting = job.waiting ? `, and its ${counted(job.waiting, "waiting push is", "waiting pushes are")} cancelled, except for what is being sent` : ""
  const text = `No further push of the job is stored${waiting}. This cannot be undone.`
  if (!await confirmed("Cancel this job?", [element("p", {}, `${job.app} to `, element("code", {}, job.audience)), text], "Cancel the job", "close", "danger")) return
  cancelling.add(keyOf(job))
  showAgain()
  try {
    await request(appPath(job.app, `jobs/${job.id}`), { method: "DELETE" })
    problems.delete(keyOf(job))
    announce("The job is cancelled")
  } catch (error) {
    problems.set(keyOf(job), error.message)
  }
  cancelling.delete(keyOf(job))
  await load(apps)
  // The button is gone, and with it the focus.
  if (document.activeElement === document.body) document.getElementById("jobs-title").focus()
}

// SPDX-License-Identifier: Apache-2.0

// The numbers of phones by app, environment, version and permission, which the relay counts on request.

import { chips, emptyState, table } from "./components.js"
import { element, released } from "./dom.js"
import { preciseClockElement, updateWhenChanged } from "./figures.js"
import { appPath, request } from "./relay.js"
import { grouped } from "./texts.js"

/** The time in milliseconds after which a count fails: it reads up to 100,000 installations of an app. */
const timeout = 60_000
/** The last numbers: the expression, the time of the answer, and those of each app. */
let counted = null
let problem = ""
let isCounting = false
/** The number of the latest count or sign-out, so that answers to earlier ones are ignored. */
let latest = 0

/** Removes the numbers, because another key may not see them. */
export function forgetPhones() {
  latest += 1
  counted = null
  problem = ""
  isCounting = false
}

/** Shows the last numbers, and a form that counts again if the key permits it. */
export function showPhones(container, form, status) {
  const { caller, apps } = status
  form.hidden = !caller.scopes.includes("send")
  form.onsubmit = (event) => {
    event.preventDefault()
    // A disabled button would lose the focus.
    if (!isCounting) count(apps, form.elements.where.value.trim(), () => showPhones(container, form, status))
  }
  updateWhenChanged(container, [counted, problem, isCounting, form.hidden], () => {
    if (form.hidden) return element("p", {}, "Counting phones needs a key with the scope ", element("code", {}, "send"), ".")
    if (problem) return element("p", { class: "problem", role: "alert" }, problem)
    if (isCounting) return element("p", { class: "faint", role: "status" }, "Counting…")
    if (!counted) return emptyState("device", "Not counted", "A count reads up to 100,000 installations of each app, so the relay counts on request only.")
    return numbers(counted)
  })
}

/** The apps with phones that match, the names of the others, and what was counted when. */
function numbers({ where, time, apps }) {
  const found = apps.filter(({ matched, complete }) => matched > 0 || !complete)
  const rest = apps.filter((each) => !found.includes(each)).map(({ app }) => app)
  return [
    element("p", { class: "faint" }, "Phones that match ", element("code", {}, where), ", counted at ", preciseClockElement(time), "."),
    found.length ? table("Phones", columns, found, ({ app }) => ({ "data-app": app })) : null,
    rest.length ? element("p", { class: found.length ? "faint" : null }, `No phone of ${names(rest)} matches.`) : null,
    found.some(({ complete }) => !complete)
      ? element("p", { class: "faint" }, "Of an app marked with “at least”, only the first 100,000 installations were read.") : null,
  ]
}

const names = (list) => new Intl.ListFormat("en", { type: "disjunction" }).format(list)

/** Counts the phones of one app after the other, so that the relay does one count at a time. */
async function count(apps, where, show) {
  const own = ++latest
  const found = []
  isCounting = true
  problem = ""
  show()
  try {
    for (const { name } of apps) {
      const answer = await request(appPath(name, "audiences/count"), { method: "POST", content: { where: where || "all" }, timeout })
      await released()
      if (own !== latest) return
      found.push({ app: name, ...answer })
    }
    counted = { where: where || "all", time: Date.now(), apps: found }
  } catch (error) {
    if (own !== latest) return
    problem = error.message
  }
  isCounting = false
  show()
}

const versions = (list) => chips(list.map(({ version, installations }) => `${version ?? "unknown"} ${grouped(installations)}`))

const columns = [
  { name: "App", isHeader: true, value: ({ app }) => element("span", { class: "lane" }, element("span", { title: app }, app)) },
  { name: "Phones", isNumber: true, value: ({ matched, complete }) => `${complete ? "" : "at least "}${grouped(matched)}` },
  { name: "An alert reaches", isNumber: true, value: ({ reachable }) => grouped(reachable) },
  { name: "Left out", value: (app) => chips(Object.entries(app["left-out"]).map(([reason, number]) => `${reason} ${grouped(number)}`)) },
  { name: "Environment", value: ({ environments }) => chips(Object.entries(environments).map(([name, number]) => `${name} ${grouped(number)}`)) },
  { name: "System", value: (app) => versions(app["system-versions"]) },
  { name: "App version", value: (app) => versions(app["app-versions"]) },
  { name: "Permissions", value: ({ permissions }) => chips(Object.entries(permissions)
    .filter(([, { granted, denied }]) => granted || denied).map(([name, { granted, denied }]) => `${name} ${grouped(granted)} of ${grouped(granted + denied)}`)) },
]

// SPDX-License-Identifier: Apache-2.0

// The notification categories of apps, which only the app registers: the user enters them, and the browser stores them.

import { button } from "./components.js"
import { element } from "./dom.js"

const storageKey = "martlet.previews.categories"
/** The maximum number of actions of a category (Apple, `UNNotificationCategory`). */
const maximumActions = 10

/** Stored categories by app and identifier: {actions: [{title, isDestructive}], isInCarPlay}. */
let apps
try { apps = JSON.parse(localStorage.getItem(storageKey)) } catch { /* The categories are not readable. */ }
apps = Object(apps)

/** The category of an app; undefined if it is not known. */
export function category(app, id) {
  const known = Object.hasOwn(apps, app) && Object.hasOwn(apps[app], id) ? apps[app][id] : undefined
  return Array.isArray(known?.actions) ? known : id === "surface-update" ? { actions: [] } : undefined
}

function store(app, categories) {
  apps = { ...apps, [app]: { ...apps[app], ...categories } }
  try { localStorage.setItem(storageKey, JSON.stringify(apps)) } catch { /* Storage is not available. */ }
}

/** The form in which the user names the actions of a category; calls `changed` when they are stored. */
export function categoryForm(app, id, changed) {
  const known = category(app, id)
  const text = element("textarea", { rows: 4, spellcheck: "false" })
  text.value = known?.actions.map(({ title, isDestructive }) => (isDestructive ? `!${title}` : title)).join("\n") ?? ""
  const inCarPlay = element("input", { type: "checkbox", checked: known?.isInCarPlay === true })
  const problem = element("p", { class: "problem", role: "alert" })
  const save = () => {
    try {
      store(app, /^\s*\{/.test(text.value) ? fromRegistry(text.value) : { [id]: { actions: actions(text.value.split("\n")
        .map((line) => ({ title: line.replace("!", "").trim(), options: { destructive: line.startsWith("!") } }))), isInCarPlay: inCarPlay.checked } })
      changed()
    } catch (error) {
      problem.textContent = `This is not the JSON of NotificationCategories: ${error.message}`
    }
  }
  return element("details", { class: "category-form", open: !known },
    element("summary", {}, known ? "Change the actions" : "Name the actions"),
    element("label", { class: "field" }, element("span", {}, `Actions of ${id}, one on each line`), text,
      element("small", {}, "! before a name marks a destructive action. The JSON of NotificationCategories sets the whole app.")),
    element("label", {}, inCarPlay, " Allowed in CarPlay"), problem, button("Store the actions", save, { class: "small" }))
}

/** Actions of a list of {title, options}, as in the JSON of `NotificationCategories`. */
const actions = (list) => list.filter(({ title }) => title).slice(0, maximumActions)
  .map(({ title, options }) => ({ title: String(title), isDestructive: options?.destructive === true }))

const fromRegistry = (text) => Object.fromEntries(JSON.parse(text).categories.map((each) =>
  [each.id, { actions: actions(each.actions), isInCarPlay: each.options?.allowInCarPlay === true }]))

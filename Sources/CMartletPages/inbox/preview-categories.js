// SPDX-License-Identifier: Apache-2.0

// The notification categories of apps with their actions, which only the app registers. The browser stores what the user
// enters: actions by name, or the JSON of the app's LiveSurfaces categories.

import { button } from "./components.js"
import { element } from "./dom.js"

const storageKey = "martlet.previews.categories"
/** The maximum number of actions of a category (Apple, `UNNotificationCategory`). */
const maximumActions = 10

/** Stored categories by app and identifier: {actions: [{title, isDestructive}], isInCarPlay}. */
let apps = stored()

function stored() {
  try {
    const found = JSON.parse(localStorage.getItem(storageKey))
    return found && typeof found === "object" ? found : {}
  } catch {
    return {}
  }
}

/** The category of an app; undefined if it is not known. */
export function category(app, id) {
  const own = Object.hasOwn(apps, app) ? apps[app] : {}
  if (Object.hasOwn(own, id)) return own[id]
  return id === "surface-update" ? { actions: [], isInCarPlay: false } : undefined
}

function save(app, categories) {
  apps = { ...apps, [app]: { ...apps[app], ...categories } }
  try { localStorage.setItem(storageKey, JSON.stringify(apps)) } catch { /* Storage is not available. */ }
}

/** The form in which the user names the actions of a category; calls `changed` when they are stored. */
export function categoryForm(app, id, changed) {
  const known = category(app, id)
  const lines = known?.actions.map(({ title, isDestructive }) => (isDestructive ? `!${title}` : title)).join("\n") ?? ""
  const text = element("textarea", { rows: 4, spellcheck: "false", "aria-describedby": "category-help" })
  text.value = lines
  const inCarPlay = element("input", { type: "checkbox", checked: known?.isInCarPlay === true })
  const problem = element("p", { class: "problem", role: "alert" })
  const store = () => {
    const given = text.value.trim()
    try {
      save(app, given.startsWith("{") ? fromRegistry(given)
        : { [id]: { actions: given.split("\n").map(fromLine).filter(Boolean).slice(0, maximumActions), isInCarPlay: inCarPlay.checked } })
      changed()
    } catch (error) {
      problem.textContent = error.message
    }
  }
  return element("details", { class: "category-form", open: known ? null : true },
    element("summary", {}, known ? "Change the actions" : "Name the actions"),
    element("label", { class: "field" }, element("span", {}, `Actions of ${id}, one on each line`), text,
      element("small", { id: "category-help" }, "! before a name marks a destructive action. The JSON of LiveSurfaces categories sets those of the whole app. Stored by this browser.")),
    element("label", { class: "check" }, inCarPlay, " Allowed in CarPlay"),
    problem, button("Store the actions", store, { class: "small" }))
}

function fromLine(line) {
  const isDestructive = line.startsWith("!")
  const title = line.slice(isDestructive ? 1 : 0).trim().slice(0, 80)
  return title ? { title, isDestructive } : null
}

/** The categories in the JSON of `NotificationCategories`, {"categories": [{"id", "actions": [{"title", "options"}]}]}. */
function fromRegistry(text) {
  let json
  try { json = JSON.parse(text) } catch { throw new Error("This is not valid JSON.") }
  if (!Array.isArray(json.categories)) throw new Error("categories must be an array.")
  return Object.fromEntries(json.categories.filter(({ id }) => typeof id === "string").map(({ id, actions, options }) => [id, {
    actions: (Array.isArray(actions) ? actions : []).slice(0, maximumActions)
      .map((action) => ({ title: String(action?.title ?? action?.id ?? ""), isDestructive: action?.options?.destructive === true }))
      .filter(({ title }) => title),
    isInCarPlay: options?.allowInCarPlay === true,
  }]))
}

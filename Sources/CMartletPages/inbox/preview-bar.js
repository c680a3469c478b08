// SPDX-License-Identifier: Apache-2.0

// The settings of previews: surface, device, appearance, text size and language, stored by the browser.

import { segments } from "./components.js"
import { element } from "./dom.js"
import { devices } from "./preview-screen.js"
import { languageName, phoneLanguages } from "./preview-language.js"
import { knownLanguages, selectLanguage } from "./strings.js"

const storageKey = "martlet.previews"
/** The choice of all surfaces side by side. */
export const everySurface = "all"
const choices = {
  device: Object.entries(devices).map(([value, { name }]) => [value, name]),
  scheme: [["light", "Light"], ["dark", "Dark"]],
  text: [["small", "Small"], ["default", "Default"], ["large", "Large"], ["accessibility", "Accessibility"], ["accessibility-5", "Largest"]],
}
const names = { device: "Phone", scheme: "Appearance", text: "Text size", language: "Language" }

/** The current settings; `surfaces` has the chosen surface of each kind of push. */
export const settings = {
  device: "402x874", scheme: matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light", text: "default",
  language: "en", surfaces: {}, ...storedSettings(),
}
selectLanguage(settings.language)

function storedSettings() {
  let found
  try { found = JSON.parse(localStorage.getItem(storageKey)) } catch { /* The settings are not readable. */ }
  const isKnown = ([name, value]) => choices[name]?.some(([known]) => known === value)
    ?? typeof value === { language: "string", surfaces: "object" }[name]
  return Object.fromEntries(Object.entries(found ?? {}).filter(([, value]) => value !== null && value !== "").filter(isKnown))
}

function change(name, value) {
  settings[name] = value
  try { localStorage.setItem(storageKey, JSON.stringify(settings)) } catch { /* Storage is not available. */ }
}

/** The chosen surface of a kind of push: a title, or `everySurface`; the first one if the chosen one is not there. */
export function chosenSurface(kind, surfaces) {
  const chosen = settings.surfaces[kind]
  return chosen === everySurface || surfaces.some(({ title }) => title === chosen) ? chosen : surfaces[0]?.title
}

/** The choice of a surface; calls `changed` after the user has chosen one. */
export function surfaceChoice(kind, surfaces, changed) {
  const options = Object.fromEntries([...surfaces.map(({ title, label }) => [title, label ?? title]), [everySurface, "All"]])
  return segments("Surface", options, chosenSurface(kind, surfaces), (title) => {
    change("surfaces", { ...settings.surfaces, [kind]: title })
    changed()
  })
}

/** The settings bar; calls `changed` after a setting has changed. */
export function bar(changed) {
  return element("div", { class: "preview-bar", role: "group", "aria-label": "Preview settings" },
    Object.entries(choices).map(([name, options]) => picker(name, options, changed)),
    picker("language", languageOptions(), () => selectLanguage(settings.language)))
}

/** The languages whose words are known, and those of the apps' strings. */
const languageOptions = () => [...new Set([...phoneLanguages, ...knownLanguages(), settings.language])]
  .map((language) => [language, languageName(language)]).sort(([, one], [, other]) => one.localeCompare(other, "en"))

function picker(name, options, changed) {
  const select = element("select", {
    "aria-label": names[name],
    onchange: () => {
      change(name, select.value)
      changed()
    },
  }, options.map(([value, text]) => element("option", { value, selected: value === settings[name] }, text)))
  return element("label", {}, `${names[name]} `, select)
}

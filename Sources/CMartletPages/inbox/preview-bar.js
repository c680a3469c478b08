// SPDX-License-Identifier: Apache-2.0

// The settings of previews: device, appearance, text size and language, stored by the browser.

import { element } from "./dom.js"
import { devices } from "./preview-screen.js"
import { selectLanguage, knownLanguages } from "./strings.js"

const storageKey = "martlet.previews"
const choices = {
  device: Object.entries(devices).map(([value, { name }]) => [value, name]),
  scheme: [["light", "Light"], ["dark", "Dark"]],
  text: [["small", "Small"], ["default", "Default"], ["large", "Large"], ["accessibility", "Accessibility"]],
}
const names = { device: "Phone", scheme: "Appearance", text: "Text size", language: "Language" }

/** The current settings. */
export const settings = {
  device: "393x852", scheme: matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light", text: "default",
  language: "", ...storedSettings(),
}
selectLanguage(settings.language)

function storedSettings() {
  let found
  try { found = JSON.parse(localStorage.getItem(storageKey)) } catch { found = null }
  const isKnown = ([name, value]) => (name === "language" ? typeof value === "string"
    : choices[name]?.some(([known]) => known === value))
  return Object.fromEntries(Object.entries(found ?? {}).filter(isKnown))
}

/** The settings bar; calls `changed` after a setting has changed. */
export function bar(changed) {
  return element("div", { class: "preview-bar", role: "group", "aria-label": "Preview settings" },
    Object.entries(choices).map(([name, options]) => picker(name, options, changed)),
    picker("language", languageOptions(), () => selectLanguage(settings.language)))
}

function languageOptions() {
  const known = knownLanguages()
  const all = settings.language && !known.includes(settings.language) ? [...known, settings.language] : known
  return [["", known.length ? "Default" : "No strings"], ...all.map((language) => [language, language])]
}

function picker(name, options, changed) {
  const select = element("select", {
    "aria-label": names[name],
    onchange: () => {
      settings[name] = select.value
      try { localStorage.setItem(storageKey, JSON.stringify(settings)) } catch { /* Storage is not available. */ }
      changed()
    },
  }, options.map(([value, text]) => element("option", { value, selected: value === settings[name] }, text)))
  return element("label", {}, `${names[name]} `, select)
}

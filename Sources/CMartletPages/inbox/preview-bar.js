// What the previews are looked at with: phone, light, size of text and language, remembered by the browser.

import { element } from "./dom.js"
import { devices } from "./preview-screen.js"
import { choose, knownLanguages } from "./strings.js"

const memory = "martlet.previews"
const looks = {
  device: Object.entries(devices).map(([value, { name }]) => [value, name]),
  scheme: [["light", "Light"], ["dark", "Dark"]],
  text: [["small", "Small"], ["default", "Default"], ["large", "Large"], ["accessibility", "Accessibility"]],
}
const names = { device: "Phone", scheme: "Appearance", text: "Text size", language: "Language" }

/** What is chosen now. */
export const settings = {
  device: "393x852", scheme: matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light", text: "default",
  language: "", ...remembered(),
}
choose(settings.language)

function remembered() {
  let found
  try { found = JSON.parse(localStorage.getItem(memory)) } catch { found = null }
  const isKnown = ([name, value]) => (name === "language" ? typeof value === "string"
    : looks[name]?.some(([known]) => known === value))
  return Object.fromEntries(Object.entries(found ?? {}).filter(isKnown))
}

/** The bar; calls back after something else was chosen. */
export function bar(changed) {
  return element("div", { class: "preview-bar", role: "group", "aria-label": "How the previews are shown" },
    Object.entries(looks).map(([name, options]) => picker(name, options, changed)),
    picker("language", languageOptions(), () => choose(settings.language)))
}

function languageOptions() {
  const known = knownLanguages()
  const all = settings.language && !known.includes(settings.language) ? [...known, settings.language] : known
  return [["", known.length ? "The app's first" : "No strings given"], ...all.map((language) => [language, language])]
}

function picker(name, options, changed) {
  const select = element("select", {
    "aria-label": names[name],
    onchange: () => {
      settings[name] = select.value
      try { localStorage.setItem(memory, JSON.stringify(settings)) } catch { /* Some browsers keep nothing. */ }
      changed()
    },
  }, options.map(([value, text]) => element("option", { value, selected: value === settings[name] }, text)))
  return element("label", {}, `${names[name]} `, select)
}

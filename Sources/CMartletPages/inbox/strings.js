// SPDX-License-Identifier: Apache-2.0

// The localized strings of apps: resolves the localization keys of pushes in the language of the phone.

import { simulatorEvents, strings, stringTable } from "./api.js"

/** The languages of each app that has strings. */
let languages = {}
/** The string table of each app, in the language that `languageOf` returns. */
let tables = {}
let selectedLanguage = "en"
const listeners = []

/** Calls the listener when strings may have changed. */
export const onStringsChange = (listener) => { listeners.push(listener) }

/** The languages of all apps; an app's `Base` is not the language of a phone. */
export const knownLanguages = () => [...new Set(Object.values(languages).flat())].filter((each) => each !== base)
export const phoneLanguage = () => selectedLanguage

/** Selects the language of the phone. */
export function selectLanguage(language) {
  selectedLanguage = language
  load().catch(() => {})
}

/** Loads the languages and string tables from the simulator. */
async function load() {
  const { strings: list } = await strings()
  languages = Object.groupBy(list, ({ app }) => app)
  for (const app of Object.keys(languages)) languages[app] = languages[app].map(({ language }) => language)
  const found = await Promise.all(Object.keys(languages).map(async (app) => {
    const language = languageOf(app)
    return [app, language ? await stringTable(app, language).catch(() => ({})) : {}]
  }))
  tables = Object.fromEntries(found)
  for (const listener of listeners) listener()
}

for (const name of ["open", "previews"]) simulatorEvents.addEventListener(name, () => load().catch(() => {}))

/** The name of the strings in an app's development language, if they have no language of their own (Apple). */
const base = "Base"
/** A language and its script; the tag itself if the browser does not know it. */
function scriptOf(language) {
  try {
    const { language: name, script } = new Intl.Locale(language).maximize()
    return `${name}-${script}`
  } catch {
    return language
  }
}

/** The app's language on the phone: the phone's, one that differs by region only, the development language if known, or any. */
function languageOf(app) {
  const available = languages[app] ?? []
  return available.find((each) => each === selectedLanguage) ?? available.find((each) => scriptOf(each) === scriptOf(selectedLanguage))
    ?? available.find((each) => each === base) ?? available.find((each) => scriptOf(each) === scriptOf("en")) ?? available[0]
}

/** The language of an app's strings if it is neither the phone's nor the development language; undefined without strings. */
export function substituteLanguage(app) {
  const found = languageOf(app)
  return found && found !== base && scriptOf(found) !== scriptOf(selectedLanguage) ? found : undefined
}

/**
 * A text of an alert, `title`, `subtitle` or `body`, as {text}; null if the alert does not have it.
 *
 * `missing` is a message about a localization key without a string, or a placeholder without an argument.
 */
export function localizedText(alert, name, app) {
  const prefix = name === "body" ? "" : `${name}-`
  const key = alert[`${prefix}loc-key`]
  if (typeof key !== "string") return typeof alert[name] === "string" ? { text: alert[name] } : null
  const string = Object.hasOwn(tables[app] ?? {}, key) ? tables[app][key] : undefined
  const given = alert[`${prefix}loc-args`]
  const args = Array.isArray(given) ? given : []
  if (string === undefined) {
    const missing = `No string for ${prefix}loc-key ${key}. Upload the app's strings with PUT /api/v1/strings/${app}/LANGUAGE.`
    return { text: [key, ...args.map(String)].join(" "), missing }
  }
  const filled = format(typeof string === "string" ? string : plural(string, args, languageOf(app)), args)
  return filled.open
    ? { text: filled.text, missing: `No argument for ${filled.open} in ${prefix}loc-args.` } : { text: filled.text }
}

function plural(forms, args, language) {
  const number = args.map(Number).find(Number.isFinite)
  const rules = new Intl.PluralRules(Intl.PluralRules.supportedLocalesOf(language)[0] ?? "en")
  return (number === undefined ? undefined : forms[rules.select(number)]) ?? forms.other
}

/** Replaces placeholders such as %@, %1$@ and %d by arguments; `open` is the first placeholder without one. */
function format(text, args) {
  let next = 0
  let open
  const filled = text.replace(/%(?:%|#@\w+@|(?:(\d+)\$)?(?:@|l{0,2}[dui]|[.\d]*l?f))/g, (placeholder, position) => {
    if (placeholder === "%%") return "%"
    const value = placeholder.startsWith("%#") ? undefined : args[position ? position - 1 : next++]
    if (value === undefined) open ??= placeholder
    return value === undefined ? `⟨${placeholder}⟩` : String(value)
  })
  return { text: filled, open }
}

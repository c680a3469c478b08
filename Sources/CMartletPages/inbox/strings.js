// The words of apps: keys in pushes are told as the phone would tell them, in the language that was chosen.

import { happenings, strings, table } from "./api.js"

/** Languages by app, as far as the simulator has strings. */
let languages = {}
/** Tables by app and language. */
let tables = {}
let chosen = ""
const listeners = []

/** Calls back when words may have changed. */
export const onWords = (listener) => { listeners.push(listener) }

/** Every language there is. */
export const knownLanguages = () => [...new Set(Object.values(languages).flat())].sort()

/** Chooses a language; an empty one for the first that an app has. */
export function choose(language) {
  chosen = language
  load().catch(() => {})
}

/** Asks the simulator for all there is now. */
async function load() {
  const { strings: list } = await strings()
  languages = Object.groupBy(list, ({ app }) => app)
  for (const app of Object.keys(languages)) languages[app] = languages[app].map(({ language }) => language)
  const found = await Promise.all(Object.keys(languages).map(async (app) => {
    const language = languageOf(app)
    return [app, language ? await table(app, language).catch(() => ({})) : {}]
  }))
  tables = Object.fromEntries(found)
  for (const listener of listeners) listener()
}

for (const name of ["open", "previews"]) happenings.addEventListener(name, () => load().catch(() => {}))

/** The language that an app would speak: the chosen one, or without its region, or English, or any. */
function languageOf(app) {
  const own = languages[app] ?? []
  const wanted = chosen && (own.find((each) => each === chosen) ?? own.find((each) => each === chosen.split("-")[0]))
  return wanted || own.find((each) => each === "en") || own[0]
}

/** A text of an alert, `title`, `subtitle` or `body`: {text}, and {missing} for a key without words; null for none. */
export function wording(alert, name, app) {
  const prefix = name === "body" ? "" : `${name}-`
  const key = alert[`${prefix}loc-key`]
  if (typeof key !== "string") return typeof alert[name] === "string" ? { text: alert[name] } : null
  const words = Object.hasOwn(tables[app] ?? {}, key) ? tables[app][key] : undefined
  const given = alert[`${prefix}loc-args`]
  const args = Array.isArray(given) ? given : []
  if (words === undefined) return { text: [key, ...args.map(String)].join(" "), missing: `${prefix}loc-key ${key}` }
  const filled = format(typeof words === "string" ? words : plural(words, args, languageOf(app)), args)
  return filled.open ? { text: filled.text, missing: `${filled.open} of ${prefix}loc-args` } : { text: filled.text }
}

function plural(forms, args, language) {
  const number = args.map(Number).find(Number.isFinite)
  const rules = new Intl.PluralRules(Intl.PluralRules.supportedLocalesOf(language)[0] ?? "en")
  return (number === undefined ? undefined : forms[rules.select(number)]) ?? forms.other
}

/** Puts arguments where a format has %@, %1$@, %d and the like; `open` is the first place that has none. */
function format(text, args) {
  let next = 0
  let open
  const filled = text.replace(/%(?:%|#@\w+@|(?:(\d+)\$)?(?:@|l{0,2}[dui]|[.\d]*l?f))/g, (place, position) => {
    if (place === "%%") return "%"
    const value = place.startsWith("%#") ? undefined : args[position ? position - 1 : next++]
    if (value === undefined) open ??= place
    return value === undefined ? `⟨${place}⟩` : String(value)
  })
  return { text: filled, open }
}

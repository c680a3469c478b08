// SPDX-License-Identifier: Apache-2.0

// The layout of a Live Activity's values: by the user's template, by LiveSurfaces, or guessed from their names.

import { clock } from "./preview-language.js"

/** The values of each slot, and the source of the layout. */
export function slots(push, context) {
  const aps = push.payload?.aps ?? {}
  const state = object(aps["content-state"])
  const attributes = object(context.attributes ?? aps.attributes)
  if (context.template) return { by: context["attributes-type"] ? `template for ${context["attributes-type"]}` : `template for ${context["template-type"]}, whose values the content state has`, ...filled(context.template, state, attributes) }
  const isLiveSurface = typeof state.headline === "string" && typeof state.subhead === "string" && "stage" in state
  if (isLiveSurface) {
    return { by: "LiveSurfaces", ...projection(state, { ...context.surfaces?.liveActivity?.attributes, ...attributes }) }
  }
  return { by: "guessed from the names of the values; upload a template to define it", ...guessed(state, attributes) }
}

const object = (value) => (value && typeof value === "object" ? value : {})
const stages = { prompted: "Ready", inProgress: "Live", completing: "Wrap" }

/** The content state of a LiveSurfaces snapshot. */
function projection(state, attributes) {
  const stage = stages[state.stage] ?? textOf(state.stage)
  const percent = percentage(state.progress)
  return {
    lock: { title: state.headline, subtitle: state.subhead, trailing: textOf(attributes.modeLabel) ?? stage, progress: state.progress },
    island: {
      leading: stage, trailing: percent, center: state.headline, bottom: state.subhead, progress: state.progress,
      "compact-leading": stage, "compact-trailing": percent, minimal: percent?.replace(" %", ""), ring: state.progress,
    },
  }
}

/** A layout that is guessed from the names and types of the values. */
function guessed(state, attributes) {
  const entries = Object.entries(state).filter(([, value]) => value !== null && typeof value !== "object")
  const all = [...entries, ...Object.entries(attributes).filter(([, value]) => typeof value === "string")]
  const pick = (pattern, from = all) => from.find(([name, value]) => pattern.test(name) && value !== "")
  const named = pick(/headline|title|status|stage|phase|name/i)
  const further = pick(/subhead|subtitle|message|detail|description|driver|stop|address/i, all.filter((each) => each !== named))
  const [title, subtitle] = named ? [named, further] : [further]
  const progress = pick(/progress|fraction|percent|completion/i, entries.filter(([, value]) => fraction(value) !== undefined))
  const when = pick(/eta|arriv|deadline|end|date|time|until|remaining|minutes|seconds/i, entries)
  const used = [title, subtitle, progress, when]
  const numbers = entries.filter((each) => typeof each[1] === "number" && !used.includes(each))
  const rest = entries.filter((each) => !used.includes(each))
  const eta = when ? moment(...when) : undefined
  const percent = progress ? percentage(progress[1]) : undefined
  const first = textOf(numbers[0]?.[1])
  const name = textOf(title?.[1])
  return {
    lock: {
      title: name, subtitle: textOf(subtitle?.[1]), trailing: eta ?? percent ?? first, progress: progress?.[1],
      bottom: rest.slice(0, 4).map(([key, value]) => `${key} ${value}`).join("  ") || undefined,
    },
    island: {
      trailing: eta ?? percent ?? first, center: name, bottom: textOf(subtitle?.[1]), progress: progress?.[1],
      "compact-trailing": eta ?? percent ?? first, minimal: eta ?? percent?.replace(" %", "") ?? first,
      ring: progress?.[1],
    },
  }
}

/** A template with its paths replaced by values. */
function filled(template, state, attributes) {
  const value = (path) => {
    const names = path.split(".")
    const [root, rest] = names[0] === "attributes" ? [attributes, names.slice(1)] : [state, names]
    return rest.reduce((found, name) =>
      (found && typeof found === "object" && Object.hasOwn(found, name) ? found[name] : undefined), root)
  }
  const missing = []
  const fill = (text) => text.replace(/\{\{([^{}]*)\}\}/g, (placeholder, path) => {
    const found = value(path)
    if (found === undefined || found === null) missing.push(path)
    return textOf(found) ?? "–"
  })
  const surfaces = Object.fromEntries(Object.entries(template).map(([surface, texts]) =>
    [surface, Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, fill(text)]))]))
  if (surfaces.island) surfaces.island.ring ??= surfaces.island.progress
  return { ...surfaces, missing: [...new Set(missing)] }
}

/** A number from 0 to 1 from a fraction, a percentage or a text such as 4/5; undefined for anything else. */
export function fraction(value) {
  const parts = typeof value === "string" && value.includes("/") ? value.split("/").map(Number) : null
  const number = parts ? parts[0] / parts[1] : Number.parseFloat(value)
  if (!Number.isFinite(number) || number < 0 || typeof value === "boolean") return undefined
  const isPercentage = typeof value === "string" && value.includes("%")
  if (number > 1 || isPercentage) return number <= 100 ? number / 100 : undefined
  return number
}

const percentage = (value) => (fraction(value) === undefined ? undefined : `${Math.round(fraction(value) * 100)} %`)

/** A date in seconds since 1970, or since 2001 as Swift encodes it, as a time; minutes with a unit; else the value. */
function moment(name, value) {
  if (typeof value === "number" && /min/i.test(name)) return `${value} min`
  const seconds = typeof value === "number" && value > 3e8 && value < 4e9 ? (value < 1e9 ? value + 978307200 : value) : null
  return seconds ? clock(new Date(seconds * 1000)) : textOf(value)
}

function textOf(value) {
  if (value === undefined || value === null || value === "") return undefined
  return typeof value === "object" ? JSON.stringify(value) : String(value)
}

// SPDX-License-Identifier: Apache-2.0

// Suggestions for the search field: fields and values of the search language, and recent searches.

import { exactTerm } from "./query.js"

const limit = 12

/**
 * The suggestions at a position in a query: each has the new `query` and `caret`, a `label` and a `summary`.
 *
 * `fields` describes the language; `valuesOf` returns the values of a field that occur in the pushes as
 * {value, label}; `recent` are the latest searches.
 */
export function suggestions(query, caret, { fields, valuesOf, recent }) {
  const term = query.slice(0, caret).match(/(?:[^\s"]|"[^"]*"?)*$/)[0]
  const before = query.slice(0, caret - term.length)
  const after = query.slice(caret)
  const sign = term.match(/^[-!]/)?.[0] ?? ""
  const typed = term.slice(sign.length)
  const made = (text, label, summary, isComplete) => {
    const start = `${before}${sign}${text}${isComplete && !after.startsWith(" ") ? " " : ""}`
    return { query: start + after, caret: start.length, label: sign + label, summary }
  }
  const [, name, value] = typed.match(/^([^:"]+):(.*)$/s) ?? []
  if (name !== undefined) {
    return values(name, value, fields, valuesOf).slice(0, limit).map(({ text, label, summary }) => made(text, label, summary, true))
  }
  if (typed.includes('"')) return []
  const found = fields.filter((field) => field.name.startsWith(typed.toLowerCase()))
    .map((field) => made(`${field.name}:`, `${field.name}:`, field.summary, false))
  if (query.trim() === "") {
    return [...recent.map((text) => ({ query: text, caret: text.length, label: text, summary: "recent", isRecent: true })), ...found]
  }
  // A word such as "refused" is completed to the term that has it as its value.
  const words = typed.length < 2 ? [] : fields.flatMap((field) => (field.values ?? []).filter((each) => each.startsWith(typed.toLowerCase()))
    .map((each) => made(`${field.name}:${each}`, `${field.name}:${each}`, field.summary, true)))
  return typed ? [...found, ...words].slice(0, limit) : []
}

/** The values of a field that continue what is typed. */
function values(name, typed, fields, valuesOf) {
  const field = fields.find((each) => each.name === name)
  const prefix = typed.replace(/^"?=?"?/, "").toLowerCase()
  if (field?.values?.length) {
    return field.values.filter((value) => value.startsWith(prefix) && value !== prefix)
      .map((value) => ({ text: `${name}:${value}`, label: `${name}:${value}`, summary: "" }))
  }
  const known = valuesOf(name).flatMap(({ value, label }) => {
    const text = exactTerm(name, value)
    const isMatch = value.toLowerCase().includes(prefix) || label.toLowerCase().includes(prefix)
    return text && isMatch && text !== `${name}:${typed}` ? [{ text, label: text, summary: label === value ? "" : label }] : []
  })
  if (known.length || !field?.example || prefix) return known
  return [{ text: field.example, label: field.example, summary: "example" }]
}

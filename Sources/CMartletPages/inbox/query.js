// SPDX-License-Identifier: Apache-2.0

// The terms of a search query, separated as the simulator separates them.

/** The terms of a query and the words OR between them, unchanged. */
const words = (query) => query.match(/(?:[^\s"]|"[^"]*"?)+/g) ?? []

/** The terms of a query, unchanged; alternatives with OR between them are one term. */
export function terms(query) {
  const found = []
  let isAlternative = false
  for (const word of words(query)) {
    if (found.length && (word === "OR" || isAlternative)) found.push(`${found.pop()} ${word}`)
    else found.push(word)
    isAlternative = word === "OR"
  }
  return found
}

/** The fields whose values are numbers and ranges. */
const numericFields = new Set(["number", "size", "connection"])

/** A term that matches exactly this text; null for a text with quotation marks, which a term cannot contain. */
export function exactTerm(name, text) {
  if (numericFields.has(name)) return `${name}:${text}`
  if (text.includes('"')) return null
  return /\s/.test(text) ? `${name}:"=${text}"` : `${name}:=${text}`
}

/** Whether a query contains every term of a filter. */
export const contains = (query, filter) => terms(filter).every((term) => terms(query).includes(term))

/** The query with a filter added in place of the others, or removed if the query contains it. */
export function toggled(query, filter, others) {
  const removed = new Set([filter, ...others.filter((other) => contains(query, other))].flatMap(terms))
  const remaining = terms(query).filter((term) => !removed.has(term))
  return [...remaining, ...(contains(query, filter) ? [] : terms(filter))].join(" ")
}

/**
 * An explanation of what is wrong with a query; empty for a query that appears valid.
 *
 * `fields` is the description of the language from the simulator; empty if it is not known.
 */
export function problem(query, fields) {
  if (fields.length === 0) return ""
  const all = words(query)
  for (const [index, term] of all.entries()) {
    if (term === "OR") {
      if (index > 0 && index < all.length - 1 && all[index - 1] !== "OR") continue
      return "OR must be between two terms, as in status:400 OR status:410."
    }
    if ((term.match(/"/g) ?? []).length % 2) return `A quotation mark is missing at the end of ${term}`
    const [, name, value] = term.match(/^[-!]?([^:"]+):(.*)$/s) ?? []
    if (name === undefined) continue
    const field = fields.find((each) => each.name === name)
    if (!field) {
      const similar = fields.filter((each) => each.name.startsWith(name.slice(0, 2))).map((each) => `${each.name}:`)
      return `There is no field ${name}: in the search language${similar.length ? `; did you mean ${similar.join(" or ")}?` : "."}`
    }
    if (field.values?.length && !field.values.includes(value.replaceAll('"', "").replace(/^=/, ""))) {
      return value ? `${name}:${value} is not known; use ${listed(field.values)}.` : `${name}: needs a value: ${listed(field.values)}.`
    }
    if (numericFields.has(name) && !/^"?\d+(-\d*)?(,\d+(-\d*)?)*"?$/.test(value)) {
      return `${name}:${value} must be numbers and ranges, as in ${name}:3,7-9 or ${name}:43-`
    }
  }
  return ""
}

const listed = (values) => (values.length < 2 ? values.join("") : `${values.slice(0, -1).join(", ")} or ${values.at(-1)}`)

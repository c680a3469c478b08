// SPDX-License-Identifier: Apache-2.0

// The terms of a search query, separated as the simulator separates them.

/** The terms of a query, unchanged. */
export const terms = (query) => query.match(/(?:[^\s"]|"[^"]*"?)+/g) ?? []

/** A term that matches exactly this text; null for a text with quotation marks, which a term cannot contain. */
export function exactTerm(name, text) {
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

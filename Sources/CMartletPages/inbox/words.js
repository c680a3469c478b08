// The words of a query, as the simulator takes it apart.

/** The words as they were written. */
export const words = (query) => query.match(/(?:[^\s"]|"[^"]*"?)+/g) ?? []

/** A word that is true of exactly this text; null for a text that no word can hold. */
export function word(name, text) {
  if (text.includes('"')) return null
  return /\s/.test(text) ? `${name}:"=${text}"` : `${name}:=${text}`
}

export const holds = (query, wanted) => words(wanted).every((word) => words(query).includes(word))

/** A query with one part in place of others, or without it when it is there already. */
export function toggled(query, wanted, others) {
  const gone = new Set([wanted, ...others.filter((other) => holds(query, other))].flatMap(words))
  const kept = words(query).filter((word) => !gone.has(word))
  return [...kept, ...(holds(query, wanted) ? [] : words(wanted))].join(" ")
}

// Asks the simulator, and listens to it.

/** The answer to a request; an error with what the simulator says is wrong. */
export async function ask(path, method = "GET", body = undefined, signal = undefined) {
  const answer = await fetch(path, { method, body: body === undefined ? undefined : JSON.stringify(body), signal })
  const text = await answer.text()
  const value = text ? JSON.parse(text) : null
  if (!answer.ok) throw new Error(value?.detail ?? `the simulator answered ${answer.status}`)
  return value
}

/** The payload as it came: a browser's own JSON would change long numbers and forget names that come twice. */
export async function payload(number, signal) {
  const answer = await fetch(`/api/v1/pushes/${number}/payload`, { signal })
  if (!answer.ok) throw new Error(answer.status === 404 ? `Push ${number} is no longer stored.` : `The simulator answered ${answer.status}.`)
  return answer.text()
}
/** Where this simulator answers as APNs. */
export const info = () => ask("/api/v1/info")
/** What a phone knows besides a push. */
export const context = (number, signal) => ask(`/api/v1/pushes/${number}/context`, "GET", undefined, signal)
/** The languages that apps have strings in, and the strings of one. */
export const strings = () => ask("/api/v1/strings")
export const table = (app, language) => ask(`/api/v1/strings/${app}/${language}`)
/** So many pushes with lower numbers than one. */
export const pushes = (query, limit, before = Number.MAX_SAFE_INTEGER) =>
  ask(`/api/v1/pushes?${new URLSearchParams({ query, limit, before })}`)
/** The numbers of all pushes that a query is true of. */
export const numbers = async (query) =>
  (await ask(`/api/v1/pushes/numbers?${new URLSearchParams({ query })}`)).numbers
/** Pushes as lines of an export, byte by byte. */
export const exported = async (query) =>
  (await fetch(`/api/v1/export.jsonl?${new URLSearchParams({ query })}`)).text()
export const removePush = (number) => remove(`/api/v1/pushes/${number}`, (each) => each === number)
/** Removes the pushes that a query is true of; `isAffected` tells of a number whether its push may be one of them. */
export const removePushes = (query, isAffected = () => true) =>
  remove(`/api/v1/pushes?${new URLSearchParams({ query })}`, isAffected)

function remove(path, isAffected) {
  happenings.dispatchEvent(new CustomEvent("removing", { detail: isAffected }))
  return ask(path, "DELETE")
}

/**
 * Tells of `open` when the simulator is there, or there again, of `chaos` when what goes wrong was changed, of
 * `previews` when what they are made of besides pushes was, and of `removing` before pushes are removed.
 */
export const happenings = new EventTarget()

/**
 * Calls the handlers `open`, `lost`, `push`, `changed` and `forgotten` as things happen; returns what ends it.
 *
 * The browser comes back by itself when the simulator was away.
 */
export function follow(query, handlers) {
  const source = new EventSource(`/api/v1/events?${new URLSearchParams({ query })}`)
  source.addEventListener("open", handlers.open)
  source.addEventListener("error", handlers.lost)
  for (const name of ["push", "changed", "forgotten"]) {
    source.addEventListener(name, (event) => handlers[name](JSON.parse(event.data)))
  }
  for (const name of ["open", "chaos", "previews"]) {
    source.addEventListener(name, () => happenings.dispatchEvent(new Event(name)))
  }
  return () => source.close()
}

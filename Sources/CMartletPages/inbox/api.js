// SPDX-License-Identifier: Apache-2.0

// Requests to the simulator, and the events that it sends.

import { serverURL } from "./dom.js"

/** The simulator does not answer, or refuses a request; the message is for the user. */
export class SimulatorError extends Error {}
/** The simulator does not answer. */
export class SimulatorAway extends SimulatorError {}

/** Sends a request; throws an error with a message for the user if the simulator does not answer. */
export async function send(path, options = {}) {
  try {
    return await fetch(serverURL(path), options)
  } catch (error) {
    if (options.signal?.aborted) throw error
    throw new SimulatorAway("The simulator does not answer. Is it running?")
  }
}

/** Sends a request and returns the JSON of the response; throws an error with the simulator's `detail`. */
export async function request(path, method = "GET", body = undefined, signal = undefined, more = {}) {
  const response = await send(path, { method, body: body === undefined ? undefined : JSON.stringify(body), signal, ...more })
  const text = await response.text()
  const value = text ? JSON.parse(text) : null
  if (!response.ok) throw new SimulatorError(value?.detail ?? `The simulator returned status ${response.status}.`)
  return value
}

/** The payload as it was received. Parsing it would round long numbers and drop duplicate members. */
export async function payload(number, signal) {
  const response = await send(`/api/v1/pushes/${number}/payload`, { signal })
  if (response.status === 404) throw new SimulatorError(`Push ${number} is no longer stored.`)
  if (!response.ok) throw new SimulatorError(`The simulator returned status ${response.status}.`)
  return response.text()
}
/** The parameters of requests for pushes in lists. */
const view = { view: "summary" }
/** The seconds by which the reader's clock is ahead of UTC. */
export const utcOffset = () => -60 * new Date().getTimezoneOffset()
/** The parameters of a request with a query, whose times are those of the reader's clock. */
const queryParameters = (query, more = {}) => new URLSearchParams({ query, "utc-offset": utcOffset(), ...more })

/** The addresses and the environment of the simulator. */
export const info = () => request("/api/v1/info")
/** The data that a device combines with a push: its thread, stored surfaces, attributes and template. */
export const context = (number, signal) => request(`/api/v1/pushes/${number}/context`, "GET", undefined, signal)
/** The languages of the apps' strings, and the strings of one language. */
export const strings = () => request("/api/v1/strings")
export const stringTable = (app, language) => request(`/api/v1/strings/${app}/${language}`)
/** The fields of the search language. */
export const language = async () => (await request("/api/v1/query")).fields
/** The summaries of up to `limit` pushes that match a query and have numbers below `before`, newest first. */
export const pushes = (query, limit, before = Number.MAX_SAFE_INTEGER) =>
  request(`/api/v1/pushes?${queryParameters(query, { limit, before, ...view })}`)
/** The numbers of all pushes that match a query. */
export const numbers = async (query) =>
  (await request(`/api/v1/pushes/numbers?${queryParameters(query)}`)).numbers
/** The pushes that match a query, counted by the values of the fields that narrow a search. */
export const facets = (query) => request(`/api/v1/pushes/facets?${queryParameters(query)}`)
/** The pushes that match a query as lines of an export file. */
export const exported = async (query) => {
  const response = await send(`/api/v1/export.jsonl?${queryParameters(query)}`)
  if (!response.ok) throw new SimulatorError(`The simulator returned status ${response.status}.`)
  return response.text()
}
/** Adds the pushes of an export file. */
export const importPushes = async (file) => {
  const response = await send("/api/v1/import", { method: "POST", body: file })
  const { detail, imported } = await response.json()
  if (!response.ok) throw new SimulatorError(detail)
  return imported
}

/** Deletes a push; the inbox offers to undo that, and sends the request later. */
export const removePush = (number) => simulatorEvents.dispatchEvent(new CustomEvent("remove", { detail: [number] }))
/** Deletes the pushes that match a query immediately; `more` are options of the request. */
export const removePushes = (query, more) =>
  request(`/api/v1/pushes?${queryParameters(query)}`, "DELETE", undefined, undefined, more)

/**
 * Dispatches `open` when the connection to the simulator is established, `chaos` when the faults change, `devices` when the
 * nickname of a device changes, `previews` when the strings, surfaces or templates of previews change, and `remove` with
 * the numbers of pushes that the user deletes.
 */
export const simulatorEvents = new EventTarget()

/**
 * The time in milliseconds after the last event `alive` when the connection counts as lost; the simulator sends the event
 * every three seconds.
 */
const silenceLimit = 9000
/** The time after which a refused subscription is tried again, and the longest time to find the reason, in milliseconds. */
const retryDelay = 3000

/**
 * Subscribes to the simulator's events with the handlers `open`, `lost`, `push`, `changed` and `forgotten`; `lost` receives
 * the simulator's message if it refuses, and an empty text otherwise.
 */
export function follow(query, handlers) {
  const path = `/api/v1/events?${queryParameters(query, view)}`
  const source = new EventSource(serverURL(path))
  let silence = 0
  source.addEventListener("open", handlers.open)
  // The browser does not notice that a simulator is suspended or its machine is gone, and keeps the connection.
  source.addEventListener("alive", () => {
    clearTimeout(silence)
    silence = setTimeout(() => {
      source.close()
      handlers.lost("")
      follow(query, handlers)
    }, silenceLimit)
  })
  source.addEventListener("error", async () => {
    clearTimeout(silence)
    // The browser reconnects after a lost connection, but not after a refusal.
    if (source.readyState !== EventSource.CLOSED) {
      handlers.lost("")
      return
    }
    handlers.lost(await refusal(path))
    setTimeout(() => follow(query, handlers), retryDelay)
  })
  for (const name of ["push", "changed", "forgotten"]) {
    source.addEventListener(name, (event) => handlers[name](JSON.parse(event.data)))
  }
  for (const name of ["open", "chaos", "devices", "previews"]) {
    source.addEventListener(name, () => simulatorEvents.dispatchEvent(new Event(name)))
  }
}

/** The simulator's message about a request that it refuses, which an `EventSource` does not report; empty without one. */
async function refusal(path) {
  const end = new AbortController()
  setTimeout(() => end.abort(), retryDelay)
  try {
    const response = await fetch(serverURL(path), { signal: end.signal })
    return response.ok ? "" : (await response.json()).detail ?? ""
  } catch {
    return ""
  } finally {
    end.abort()
  }
}

// SPDX-License-Identifier: Apache-2.0

// Requests to the relay, with the API key of this tab.

import { serverURL } from "./dom.js"

const storageKey = "martlet relay key"

export const key = () => sessionStorage.getItem(storageKey)
export const storeKey = (text) => sessionStorage.setItem(storageKey, text)
export const removeKey = () => sessionStorage.removeItem(storageKey)

/** The relay rejects the key. */
export class Unauthorized extends Error {}

/** The relay does not answer. */
export class Unreachable extends Error {}

/** The time after which a request without an answer fails, in milliseconds. */
const usualTimeout = 8000

/**
 * Sends a request, with `content` as JSON, and returns the JSON of the response; throws an error with its `detail`.
 *
 * With `keepalive` the browser sends the request even though the page is closed.
 */
export async function request(path, { method = "GET", content, keepalive = false, timeout = usualTimeout } = {}) {
  const response = await fetch(serverURL(path), {
    method, keepalive, headers: { authorization: `Bearer ${key()}`, ...(content ? { "content-type": "application/json" } : {}) },
    body: content ? JSON.stringify(content) : undefined, signal: AbortSignal.timeout(timeout),
  }).catch(() => { throw new Unreachable("The relay does not answer.") })
  const body = await response.json().catch(() => null)
  if (response.ok) return body
  const detail = body?.detail ?? `The relay returned status ${response.status}.`
  throw response.status === 401 ? new Unauthorized(detail) : new Error(detail)
}

/** The time without a further event after which all stored ones have arrived, and the longest time for them, in milliseconds. */
const eventGap = 700
const longestReplay = 3000

/** Requests the latest outcomes of pushes, oldest first: the relay replays those in memory to a client that has missed events. */
export async function storedOutcomes() {
  const aborter = new AbortController()
  const headers = { authorization: `Bearer ${key()}`, "last-event-id": "0" }
  const signal = AbortSignal.any([aborter.signal, AbortSignal.timeout(usualTimeout)])
  const response = await fetch(serverURL("/v1/events"), { headers, signal })
    .catch(() => { throw new Unreachable("The relay does not answer.") })
  if (!response.ok) throw new Error((await response.json().catch(() => null))?.detail ?? `The relay returned status ${response.status}.`)
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  // Pushes that end meanwhile would otherwise keep the list from being shown.
  const end = Date.now() + longestReplay
  let text = ""
  while (Date.now() < end) {
    const piece = await Promise.race([reader.read(), new Promise((resolve) => { setTimeout(resolve, text ? eventGap : longestReplay, { done: true }) })])
    if (piece.done) break
    text += piece.value
  }
  aborter.abort()
  // The last part may be incomplete.
  const events = text.split("\n\n").slice(0, -1).filter((event) => event.startsWith("event: outcome"))
  return events.map((event) => JSON.parse(event.split("\n").find((line) => line.startsWith("data: ")).slice("data: ".length)))
}

/** The path of an app's part of the API. */
export const appPath = (app, rest) => `/v1/apps/${encodeURIComponent(app)}/${rest}`

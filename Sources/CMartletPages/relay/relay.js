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
const timeout = 8000

/**
 * Sends a request, with `content` as JSON, and returns the JSON of the response; throws an error with its `detail`.
 *
 * With `keepalive` the browser sends the request even though the page is closed.
 */
export async function request(path, { method = "GET", content, keepalive = false } = {}) {
  const response = await fetch(serverURL(path), {
    method, keepalive, headers: { authorization: `Bearer ${key()}`, ...(content ? { "content-type": "application/json" } : {}) },
    body: content ? JSON.stringify(content) : undefined, signal: AbortSignal.timeout(timeout),
  }).catch(() => { throw new Unreachable("The relay does not answer.") })
  const body = await response.json().catch(() => null)
  if (response.ok) return body
  const detail = body?.detail ?? `The relay returned status ${response.status}.`
  throw response.status === 401 ? new Unauthorized(detail) : new Error(detail)
}

/** The path of an app's part of the API. */
export const appPath = (app, rest) => `/v1/apps/${encodeURIComponent(app)}/${rest}`

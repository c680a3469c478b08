// SPDX-License-Identifier: Apache-2.0

// Requests to the relay, with the API key of this tab.

const storageKey = "martlet relay key"

export const key = () => sessionStorage.getItem(storageKey)
export const storeKey = (text) => sessionStorage.setItem(storageKey, text)
export const removeKey = () => sessionStorage.removeItem(storageKey)

/** The relay rejects the key, or the key may not read. */
export class Unauthorized extends Error {}

/** Sends a request and returns the JSON of the response; throws an error with the relay's `detail`. */
export async function request(path, method = "GET") {
  const response = await fetch(path, { method, headers: { authorization: `Bearer ${key()}` } })
  const text = await response.text()
  const body = text ? JSON.parse(text) : null
  if (response.ok) return body
  if (response.status === 401 || response.status === 403 && method === "GET") {
    throw new Unauthorized(body?.detail ?? "The relay rejected the key.")
  }
  throw new Error(body?.detail ?? `The relay returned status ${response.status}.`)
}

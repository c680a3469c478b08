// Asks the relay, with the key that somebody has given for this tab.

const place = "martlet relay key"

export const key = () => sessionStorage.getItem(place)
export const rememberKey = (text) => sessionStorage.setItem(place, text)
export const forgetKey = () => sessionStorage.removeItem(place)

/** The relay does not take the key. */
export class Refused extends Error {}

/** The answer to a request; an error with what the relay says is wrong. */
export async function ask(path, method = "GET") {
  const answer = await fetch(path, { method, headers: { authorization: `Bearer ${key()}` } })
  const text = await answer.text()
  const body = text ? JSON.parse(text) : null
  if (answer.ok) return body
  if (answer.status === 401 || answer.status === 403 && method === "GET") throw new Refused(body?.detail ?? "refused")
  throw new Error(body?.detail ?? `the relay answered ${answer.status}`)
}

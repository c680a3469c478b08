// What the pages besides the inbox share.

import { element } from "./dom.js"

/**
 * Asks again each second while the page is shown and somebody can see it, and shows what is new.
 *
 * Returns what ends it, and `again`, which asks at once.
 */
export function refreshed(fetchValue, show) {
  let timer = 0
  let last = null
  let isOver = false
  const again = async () => {
    clearTimeout(timer)
    if (!document.hidden) {
      try {
        const value = await fetchValue()
        const text = JSON.stringify(value)
        // What stayed the same keeps its place, and what is selected in it.
        if (!isOver && text !== last) show(value)
        last = text
      } catch (error) {
        if (!isOver && last !== error.message) show(null, error)
        last = error.message
      }
    }
    clearTimeout(timer)
    if (!isOver) timer = setTimeout(again, 1000)
  }
  document.addEventListener("visibilitychange", again)
  again()
  const end = () => {
    isOver = true
    clearTimeout(timer)
    document.removeEventListener("visibilitychange", again)
  }
  return { end, again }
}

/** Puts children in the place of others; what had the focus has it still, and what was unfolded is it still. */
export function renew(place, ...children) {
  const focused = place.contains(document.activeElement) ? document.activeElement : null
  const own = focused?.closest("[data-key]")
  const index = own ? alike(focused, own).indexOf(focused) : -1
  const typed = focused?.tagName === "INPUT" ? focused.value : undefined
  const unfolded = new Set([...place.querySelectorAll("details[open][data-key]")].map((each) => each.dataset.key))
  place.replaceChildren(...children.flat())
  for (const details of place.querySelectorAll("details[data-key]")) {
    if (unfolded.has(details.dataset.key)) details.open = true
  }
  if (index < 0) return
  const now = [...place.querySelectorAll("[data-key]")].find((each) => each.dataset.key === own.dataset.key)
  const others = now ? alike(focused, now) : []
  const found = others.find((each) => each.textContent && each.textContent === focused.textContent) ?? others[index]
  if (!found) return
  found.focus()
  if (typed !== undefined && found.tagName === "INPUT") found.value = typed
}

/** The controls of a place that are of the same kind, itself among them when that is what they are. */
const alike = ({ tagName }, place) =>
  (place.tagName === tagName ? [place] : [...place.querySelectorAll(tagName)])

export function heading(title, ...text) {
  return element("div", { class: "heading" }, element("h2", {}, title), element("p", { class: "lead" }, ...text))
}

/** A place for what went wrong with what somebody asked for. */
export function notice() {
  const place = element("p", { class: "notice", role: "status" })
  return {
    place,
    /** Does it, and says why when it cannot be done. */
    async attempt(action) {
      place.textContent = ""
      try {
        return await action()
      } catch (error) {
        place.textContent = error.message
        return undefined
      }
    },
  }
}

export function button(name, onclick, more = {}) {
  return element("button", { type: "button", onclick, ...more }, name)
}

/** A button that copies a text, and says so. */
export function copyButton(text, what) {
  return element("button", {
    type: "button", class: "copy", "aria-label": `Copy ${what}`,
    onclick: async ({ currentTarget }) => {
      await navigator.clipboard.writeText(text)
      currentTarget.textContent = "Copied"
      setTimeout(() => { currentTarget.textContent = "Copy" }, 1500)
    },
  }, "Copy")
}

/** A field with its name over it; attributes go to the input. */
export function field(name, attributes = {}, hint = null) {
  return element("label", { class: "field" }, element("span", {}, name),
    element("input", { autocomplete: "off", spellcheck: "false", ...attributes }),
    hint ? element("small", {}, hint) : null)
}

/** The pushes that a query is true of, as a link. */
export const search = (query, text) => element("a", { href: `#/?query=${encodeURIComponent(query)}` }, text)
export const push = (number) => element("a", { href: `#/push/${number}` }, `push ${number}`)
export const short = (token) => (token.length > 20 ? `${token.slice(0, 8)}…${token.slice(-8)}` : token)
export const device = (token) => element("a", { href: `#/devices/${token}`, class: "token" }, short(token))
export const activity = (token) => element("a", { href: `#/activities/${token}`, class: "token" }, short(token))

export const pill = (text, kind = "") => element("span", { class: "pill", "data-kind": kind }, text)

/** Names with values; those without a value are left out. */
export function facts(values) {
  return element("dl", {}, Object.entries(values)
    .filter(([, value]) => value !== null && value !== undefined && value !== "" && value.length !== 0)
    .flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]))
}

/** Elements with a comma between each two. */
export const listed = (elements) => elements.flatMap((each, index) => (index ? [", ", each] : [each]))

/** How long something took, or takes already. */
export function duration(seconds) {
  if (seconds < 60) return `${Math.max(0, seconds)} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`
  return `${Math.floor(seconds / 86400)} days`
}

export const clock = (seconds) => new Date(seconds * 1000).toLocaleTimeString()
export const now = () => Math.floor(Date.now() / 1000)

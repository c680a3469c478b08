// SPDX-License-Identifier: Apache-2.0

// Functions that the pages other than the inbox share.

import { element } from "./dom.js"

/**
 * Fetches a value every second while the document is visible, and shows it when it has changed.
 *
 * Returns `end`, which stops this, and `again`, which fetches the value immediately.
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
        // Rendering an unchanged value would lose the user's scroll position and text selection.
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

/** Replaces the children of a container, and restores the focus and the open details elements. */
export function replaceKeepingFocus(container, ...children) {
  const focused = container.contains(document.activeElement) ? document.activeElement : null
  const own = focused?.closest("[data-key]")
  const index = own ? sameKind(focused, own).indexOf(focused) : -1
  const typed = focused?.tagName === "INPUT" ? focused.value : undefined
  const unfolded = new Set([...container.querySelectorAll("details[open][data-key]")].map((each) => each.dataset.key))
  container.replaceChildren(...children.flat())
  for (const details of container.querySelectorAll("details[data-key]")) {
    if (unfolded.has(details.dataset.key)) details.open = true
  }
  if (index < 0) return
  const replacement = [...container.querySelectorAll("[data-key]")].find((each) => each.dataset.key === own.dataset.key)
  const others = replacement ? sameKind(focused, replacement) : []
  const found = others.find((each) => each.textContent && each.textContent === focused.textContent) ?? others[index]
  if (!found) return
  found.focus()
  if (typed !== undefined && found.tagName === "INPUT") found.value = typed
}

/** The elements with the same tag within a container, or the container itself if it has that tag. */
const sameKind = ({ tagName }, container) =>
  (container.tagName === tagName ? [container] : [...container.querySelectorAll(tagName)])

export function heading(title, ...text) {
  return element("div", { class: "heading" }, element("h2", {}, title), element("p", { class: "lead" }, ...text))
}

/** An element for the error of the last action. */
export function notice() {
  const notice = element("p", { class: "notice", role: "status" })
  return {
    element: notice,
    /** Runs an action and shows its error. */
    async attempt(action) {
      notice.textContent = ""
      try {
        return await action()
      } catch (error) {
        notice.textContent = error.message
        return undefined
      }
    },
  }
}

export function button(name, onclick, more = {}) {
  return element("button", { type: "button", onclick, ...more }, name)
}

/** The attributes of a small button that copies `what`. */
export const copyAttributes = (what) => ({ class: "copy", "aria-label": `Copy ${what}` })

/** An input with a label above it and an optional hint below it. */
export function field(name, attributes = {}, hint = null) {
  return element("label", { class: "field" }, element("span", {}, name),
    element("input", { autocomplete: "off", spellcheck: "false", ...attributes }),
    hint ? element("small", {}, hint) : null)
}

/** A link to the pushes that match a query. */
export const search = (query, text) => element("a", { href: `#/?query=${encodeURIComponent(query)}` }, text)
export const push = (number) => element("a", { href: `#/push/${number}` }, `push ${number}`)
export const short = (token) => (token.length > 20 ? `${token.slice(0, 8)}…${token.slice(-8)}` : token)
export const device = (token) => element("a", { href: `#/devices/${token}`, class: "token" }, short(token))
export const activity = (token) => element("a", { href: `#/activities/${token}`, class: "token" }, short(token))

export const pill = (text, kind = "") => element("span", { class: "pill", "data-kind": kind }, text)

/** Elements, separated by commas. */
export const listed = (elements) => elements.flatMap((each, index) => (index ? [", ", each] : [each]))

/** A duration as text, rounded down. */
export function duration(seconds) {
  if (seconds < 60) return `${Math.max(0, seconds)} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`
  return `${Math.floor(seconds / 86400)} days`
}

export const clock = (seconds) => new Date(seconds * 1000).toLocaleTimeString()
export const now = () => Math.floor(Date.now() / 1000)

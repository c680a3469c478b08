// What the pages besides the inbox share.

import { element } from "./dom.js"

/**
 * Asks again each second while the page is shown and somebody can see it, and shows what is new.
 *
 * Returns what ends it.
 */
export function refreshed(fetchValue, show) {
  let timer = 0
  let last = null
  let isOver = false
  const look = async () => {
    clearTimeout(timer)
    if (!document.hidden) {
      try {
        const value = await fetchValue()
        const text = JSON.stringify(value)
        // What stayed the same keeps its focus and its place.
        if (!isOver && text !== last) show(value)
        last = text
      } catch {
        last = null
      }
    }
    if (!isOver) timer = setTimeout(look, 1000)
  }
  document.addEventListener("visibilitychange", look)
  look()
  return () => {
    isOver = true
    clearTimeout(timer)
    document.removeEventListener("visibilitychange", look)
  }
}

export function heading(title, text) {
  return [element("h2", {}, title), element("p", { class: "lead" }, text)]
}

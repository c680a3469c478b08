// Puts the page together.

import { removePushes } from "./api.js"
import { Detail } from "./detail.js"
import { element } from "./dom.js"
import { Inbox } from "./inbox.js"
import { List } from "./list.js"

const byID = (id) => document.getElementById(id)
const inbox = new Inbox()
const search = byID("search")
new List(byID("list"), inbox)
new Detail(byID("detail"), inbox)

const filters = {
  All: "", Alerts: "type:alert -is:silent", Silent: "is:silent", Activities: "type:liveactivity",
  Broadcasts: "is:broadcast", Refused: "is:refused", Errors: "has:error", Warnings: "has:warning",
}
byID("filters").append(...Object.entries(filters).map(([name, query]) =>
  element("button", { type: "button", "data-query": query, onclick: () => show(query) }, name)))

function show(query) {
  search.value = query
  for (const button of byID("filters").children) {
    button.setAttribute("aria-pressed", String(button.dataset.query === query))
  }
  inbox.pushes = []
  inbox.select(null)
  inbox.search(query)
}

let typing = 0
search.addEventListener("input", () => {
  clearTimeout(typing)
  typing = setTimeout(() => show(search.value), 200)
})
search.form.addEventListener("submit", (event) => event.preventDefault())
byID("clear").addEventListener("click", () => removePushes(inbox.query))

inbox.addEventListener("state", ({ detail }) => {
  byID("live").dataset.state = detail
  byID("live").textContent = detail === "live" ? "live" : "the simulator is away"
})
inbox.addEventListener("mistake", ({ detail }) => { byID("mistake").textContent = detail })
inbox.addEventListener("change", () => {
  document.title = inbox.unread.size ? `(${inbox.unread.size}) Martlet inbox` : "Martlet inbox"
})

const keys = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1, PageDown: 10, PageUp: -10 }
addEventListener("keydown", (event) => {
  if (event.metaKey || event.ctrlKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) {
    if (event.key === "Escape") event.target.blur()
    return
  }
  if (event.key === "/") search.focus()
  else if (event.key === "Escape") inbox.select(null)
  else if (keys[event.key]) inbox.move(keys[event.key])
  else return
  event.preventDefault()
})

show("")

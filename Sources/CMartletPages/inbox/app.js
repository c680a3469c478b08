// Puts the page together: which part of it an address shows, and what the header says on all of them.

import { ask, happenings } from "./api.js"
import { Address } from "./address.js"
import { element } from "./dom.js"
import { InboxPage } from "./inbox-page.js"
import { showKeys } from "./keys.js"

const byID = (id) => document.getElementById(id)
const inbox = new InboxPage()

/** The pages besides the inbox: each has `open(place, rest)`, which returns what ends it. */
const pages = {
  activities: () => import("./activities.js"), devices: () => import("./devices.js"),
  channels: () => import("./channels.js"), connections: () => import("./connections.js"),
  faults: () => import("./faults.js"), connect: () => import("./connect.js"),
}
const letters = {
  i: "", a: "activities", d: "devices", c: "channels", n: "connections", f: "faults", o: "connect",
}

let close = () => {}
/** Counts the pages that were shown. */
let turn = 0

async function show() {
  const own = ++turn
  const address = Address.current
  const name = address.parts[0]
  const load = Object.hasOwn(pages, name) ? pages[name] : null
  close()
  close = () => {}
  for (const link of byID("pages").children) {
    const isCurrent = link.hash === `#/${load ? name : ""}`
    if (isCurrent) link.setAttribute("aria-current", "page")
    else link.removeAttribute("aria-current")
    if (isCurrent) link.scrollIntoView({ inline: "nearest", block: "nearest" })
  }
  byID("inbox").hidden = load !== null
  byID("page").hidden = load === null
  if (!load) {
    inbox.show(address)
    return
  }
  document.title = `${name[0].toUpperCase()}${name.slice(1)} – Martlet`
  byID("page").dataset.name = name
  byID("page").replaceChildren()
  const [page] = await Promise.all([load(), pageStyle()])
  // Somebody may have gone on meanwhile.
  if (own === turn) close = page.open(byID("page"), address.parts.slice(1)) ?? close
}

let style = null

/** The style of the pages besides the inbox, once one is shown. */
function pageStyle() {
  style ??= new Promise((loaded) => {
    const link = element("link", { rel: "stylesheet", href: "/page/pages.css", onload: loaded, onerror: loaded })
    document.head.append(link)
  })
  return style
}

async function showFaults() {
  const { rules } = await ask("/api/v1/chaos").catch(() => ({ rules: [] }))
  byID("faults-on").hidden = rules.length === 0
  byID("faults-on").textContent = rules.length === 1 ? "1 fault is on" : `${rules.length} faults are on`
}

inbox.addEventListener("state", ({ detail }) => {
  byID("live").dataset.state = detail
  byID("live").textContent = detail === "live" ? "live" : "the simulator is away"
})
for (const event of ["open", "chaos"]) happenings.addEventListener(event, showFaults)
byID("help").addEventListener("click", showKeys)

let isGoing = false
addEventListener("keydown", (event) => {
  if (document.querySelector("dialog[open]")) return
  const isTyping = event.target.matches("input:not([type=range], [type=checkbox]), textarea, select")
  if (event.metaKey || event.ctrlKey || event.altKey || isTyping) {
    if (event.key === "Escape") event.target.blur()
    return
  }
  const wasGoing = isGoing
  isGoing = event.key === "g" && !wasGoing
  if (wasGoing && Object.hasOwn(letters, event.key)) location.hash = `#/${letters[event.key]}`
  else if (event.key === "?") showKeys()
  else if (isGoing || (!byID("inbox").hidden && inbox.press(event.key))) { /* that was all */ }
  else return
  event.preventDefault()
})

addEventListener("hashchange", async () => {
  const wasInbox = !byID("inbox").hidden
  await show()
  // Whoever goes on with the keyboard begins with what is new.
  if (!byID("page").hidden) byID("page").focus({ preventScroll: true })
  else if (!wasInbox) byID("list").focus({ preventScroll: true })
})
// What the header says, it says from the start: the inbox follows the simulator whatever is shown.
if (Object.hasOwn(pages, Address.current.parts[0])) inbox.show(new Address([""]))
show()

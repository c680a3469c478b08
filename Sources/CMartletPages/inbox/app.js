// SPDX-License-Identifier: Apache-2.0

// Shows the page of the current address, and the header that all pages share.

import { SimulatorError, info, request, simulatorEvents } from "./api.js"
import { Address } from "./address.js"
import { button, emptyState, iconButton, toast } from "./components.js"
import { element, loadStyle, serverURL } from "./dom.js"
import { InboxPage } from "./inbox-page.js"
import { showKeys } from "./keys.js"
import { acceptDroppedFiles } from "./push-file.js"
import { counted } from "./texts.js"

const byID = (id) => document.getElementById(id)
const inbox = new InboxPage()

/** The pages other than the inbox: each has `open(container, parts)`, which returns a function that closes the page. */
const pages = {
  activities: () => import("./activities.js"), devices: () => import("./devices.js"),
  phones: () => import("./phones.js"), channels: () => import("./channels.js"), connections: () => import("./connections.js"),
  faults: () => import("./faults.js"), connect: () => import("./connect.js"), compare: () => import("./compare.js"),
}
/** The first parts of the addresses that the inbox shows. */
const inboxParts = ["", "push"]
/** The keys after `g`, with the pages they open. */
const pageKeys = {
  i: "", a: "activities", d: "devices", p: "phones", c: "channels", n: "connections", f: "faults", o: "connect",
}

let close = () => {}
/** The number of pages that were shown so far. */
let navigation = 0

async function show() {
  const thisNavigation = ++navigation
  const address = Address.current
  const name = address.parts[0]
  const load = Object.hasOwn(pages, name) ? pages[name] : null
  const isInbox = inboxParts.includes(name)
  close()
  close = () => {}
  for (const link of byID("pages").children) {
    const isCurrent = (load || isInbox) && link.hash === `#/${load ? name : ""}`
    if (isCurrent) link.setAttribute("aria-current", "page")
    else link.removeAttribute("aria-current")
    if (isCurrent) link.scrollIntoView({ inline: "center", block: "nearest" })
  }
  byID("inbox").hidden = !isInbox
  byID("page").hidden = isInbox
  if (isInbox) {
    inbox.show(address)
    return
  }
  if (!load) {
    document.title = "No such page – Martlet"
    showInstead("info", "No such page", `Martlet has no page with the address ${location.hash}.`, element("a", { href: "#/" }, "Open the inbox"))
    return
  }
  document.title = `${name[0].toUpperCase()}${name.slice(1)} – Martlet`
  byID("page").dataset.name = name
  byID("page").replaceChildren()
  let page = null
  try {
    [page] = await Promise.all([load(), loadStyle("pages")])
  } catch {
    if (thisNavigation === navigation) {
      showInstead("warning", "The simulator cannot be reached", "This page was not loaded yet. Start the simulator, then try again.", button("Try again", retry))
    }
    return
  }
  // The address may have changed while the page was loaded.
  if (thisNavigation === navigation) close = page.open(byID("page"), address.parts.slice(1)) ?? close
}

/** Shows a message in place of a page. */
function showInstead(...message) {
  byID("page").replaceChildren(emptyState(...message))
}

/** Loads the document again once the simulator answers, because a browser may not load a module again that failed. */
async function retry() {
  const answer = await fetch(serverURL("/page/app.js"), { cache: "no-store" }).catch(() => null)
  if (answer?.ok) location.reload()
  else toast("The simulator does not answer.")
}

async function showFaults() {
  const { rules } = await request("/api/v1/chaos").catch(() => ({ rules: [] }))
  byID("faults-on").hidden = rules.length === 0
  byID("faults-on").textContent = `${counted(rules.length, "fault")} active`
}

/** Shows the link to the page of simulated phones if there are some. */
async function showPhones() {
  const { phones } = await info().catch(() => ({}))
  byID("phones-link").hidden = !phones
}

/** The text of each state of the connection to the simulator. */
const states = { live: "Live", delayed: "Live updates are delayed", lost: "Connection lost. Retrying…" }

inbox.addEventListener("state", ({ detail: { state, message } }) => {
  byID("live").dataset.state = state
  byID("live").textContent = message || states[state]
})
simulatorEvents.addEventListener("open", showPhones)
for (const event of ["open", "chaos"]) simulatorEvents.addEventListener(event, showFaults)
acceptDroppedFiles()
byID("help").replaceWith(iconButton("help", "Keyboard shortcuts", showKeys, { key: "?", id: "help" }))
// An action that fails because the simulator does not answer says so.
addEventListener("unhandledrejection", (event) => {
  if (!(event.reason instanceof SimulatorError)) return
  event.preventDefault()
  toast(event.reason.message)
})

let isPageKeyNext = false
addEventListener("keydown", (event) => {
  // The browser closes a dialog or a popover itself.
  if (document.querySelector("dialog[open]") || (event.key === "Escape" && document.querySelector(":popover-open"))) return
  const isTyping = event.target.matches("input:not([type=range], [type=checkbox]), textarea, select")
  if (event.metaKey || event.ctrlKey || event.altKey || isTyping) {
    if (event.key === "Escape") event.target.blur()
    return
  }
  const isPageKey = isPageKeyNext
  isPageKeyNext = event.key === "g" && !isPageKey
  if (isPageKey && Object.hasOwn(pageKeys, event.key)) location.hash = `#/${pageKeys[event.key]}`
  else if (event.key === "?") showKeys()
  else if (isPageKeyNext || (!byID("inbox").hidden && inbox.press(event.key))) { /* The key has been handled. */ }
  else return
  event.preventDefault()
})

addEventListener("hashchange", async () => {
  // A dialog belongs to the page or the push that it was opened over.
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close()
  const wasInbox = !byID("inbox").hidden
  await show()
  // Keyboard navigation continues in the new page.
  if (!byID("page").hidden) byID("page").focus({ preventScroll: true })
  else if (!wasInbox) byID("list").focus({ preventScroll: true })
})
// The header shows the state of the inbox's event connection, so the inbox starts on every page.
if (!inboxParts.includes(Address.current.parts[0])) inbox.show(new Address([""]))
show()

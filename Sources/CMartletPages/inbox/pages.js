// SPDX-License-Identifier: Apache-2.0

// The frame of the pages other than the inbox, and the functions they share.

import { request, SimulatorAway, SimulatorError, simulatorEvents } from "./api.js"
import { banner, button, chip, emptyState, iconButton, toast } from "./components.js"
import { element, released, serverURL } from "./dom.js"
import { icon } from "./icons.js"
import { app, appColour, headline } from "./push.js"
import { grouped, shortTime } from "./texts.js"

const pollMilliseconds = 2000
/** The number of rows of a list that are shown. */
export const rowsShown = 200
/** The number of items of a list from which a field filters them. */
const filterThreshold = 20
/** The texts of the filters by the title of their list, which remain when the user returns to it. */
const filterTexts = new Map()

/** The frame of a page: a heading, the place of messages, and a body that follows the state of the simulator. */
export class Page {
  body = element("div", { class: "page-body" })
  #heading = element("div", { class: "heading" })
  #message = element("div", { class: "message" })
  #away = element("div", { class: "message" })
  #refresh = null

  /** Shows the frame; `back` is {name, href} of the list to which an item belongs. */
  constructor(container, { title, lead = null, actions = [], back = null }) {
    this.title = element("h2", {}, title)
    this.count = element("span", { class: "chip", "data-tone": "", hidden: true })
    this.#heading.append(
      element("div", {}, back ? element("a", { class: "parent-link", href: back.href }, icon("left"), back.name) : "",
        element("div", { class: "title" }, this.title, this.count), lead ? element("p", { class: "lead" }, lead) : ""),
      element("div", { class: "actions" }, actions))
    this.element = element("div", { class: "page" }, this.#heading, this.#away, this.#message, this.body)
    this.element.addEventListener("click", openRow)
    this.element.addEventListener("keydown", moveBetweenRows)
    container.replaceChildren(this.element)
  }

  /** Shows a number beside the title. */
  showCount(text) {
    this.count.hidden = false
    this.count.textContent = text
  }

  /** Runs an action and then refreshes the page; an error is shown in `place`, or above the body. */
  async attempt(action, place = this.#message) {
    place.replaceChildren()
    try {
      await action()
    } catch (error) {
      const text = error instanceof SimulatorAway ? "Nothing was changed: the simulator did not answer." : error.message
      place.replaceChildren(place === this.#message
        ? banner("bad", text, iconButton("close", "Dismiss", () => place.replaceChildren(), { class: "small" })) : text)
      return false
    }
    await this.#refresh?.again()
    return true
  }

  /** Changes something by a request of the simulator's interface. */
  change(path, method = "PUT", body = undefined, place = undefined) {
    return this.attempt(() => request(path, method, body), place)
  }

  /**
   * Fetches a value every two seconds and shows it when it has changed.
   *
   * While the simulator cannot be reached, the page keeps its content and says so. Returns a function that stops this.
   */
  follow(fetchValue, show) {
    let since = null
    this.#refresh = refreshed(fetchValue, (value) => {
      since = Date.now()
      return show(value)
    }, (error) => {
      if (!error) return this.#away.replaceChildren()
      if (!(error instanceof SimulatorAway)) return this.body.replaceChildren(banner("bad", error.message))
      return this.#away.replaceChildren(banner("warning", [
        element("strong", {}, "The simulator cannot be reached. "),
        since ? `This page shows its state of ${shortTime(since)}, and continues when the simulator is back.`
          : "This page continues when the simulator is back.",
      ]))
    })
    return this.#refresh.end
  }
}

/** The frame of a page with a list, and a field that filters it once it has many items. */
export class ListPage extends Page {
  #list = element("div")
  #filter
  #bar
  #items = []
  #content
  #title
  #textsOf

  /**
   * Shows the frame; `content` returns the empty state or the table for the items it receives, and `textsOf` the texts of
   * an item that the filter searches.
   */
  constructor(container, { title, placeholder, textsOf, ...frame }, content) {
    super(container, { title, ...frame })
    this.#title = title
    this.#textsOf = textsOf
    this.#content = content
    this.#filter = element("input", {
      type: "search", "aria-label": `Filter ${title.toLowerCase()}`, placeholder, value: filterTexts.get(title) ?? "",
      oninput: () => {
        filterTexts.set(title, this.#filter.value)
        this.showItems(this.#items)
      },
    })
    this.#bar = element("div", { class: "bar", hidden: true }, this.#filter)
    this.body.append(this.#bar, this.#list)
  }

  /** Shows the items that the filter matches; returns false as `replaceKeepingFocus` does. */
  showItems(items) {
    this.#items = items
    const text = this.#filter.value.trim()
    const wanted = text.toLowerCase()
    const found = text ? items.filter((item) => this.#textsOf(item).some((each) => each?.toLowerCase().includes(wanted))) : items
    const [shown, all] = [found, items].map((list) => grouped(list.length))
    this.showCount(found.length === items.length ? all : `${shown} of ${all}`)
    this.#bar.hidden = items.length <= filterThreshold && !text
    const what = this.#title.toLowerCase()
    if (items.length && !found.length) {
      return replaceKeepingFocus(this.#list, emptyState("search", `No matching ${what}`, `None of the ${what} matches “${text}”.`))
    }
    return replaceKeepingFocus(this.#list, this.#content(found.slice(0, rowsShown)), more(found.length, rowsShown, what))
  }
}

/**
 * Fetches a value regularly while the document is visible, and calls `show` with it when it has changed.
 *
 * `show` returns false to receive the value again. `failed` is called with the error, and with null when requests
 * succeed again. Returns `end`, which stops this and cancels the current request, and `again`, which fetches now.
 */
function refreshed(fetchValue, show, failed) {
  let [timer, last, isOver, lastError] = [0, null, false, null]
  let controller = new AbortController()
  const again = async () => {
    clearTimeout(timer)
    controller.abort()
    if (isOver || document.hidden) return
    const own = controller = new AbortController()
    const start = performance.now()
    const finish = (error) => {
      if (error?.message !== lastError?.message) failed(error)
      lastError = error
    }
    try {
      const value = await fetchValue(own.signal)
      await released()
      if (own.signal.aborted) return
      const text = JSON.stringify(value)
      finish(null)
      // Rendering an unchanged value would lose the user's scroll position and text selection.
      if (text !== last) last = show(value) === false ? null : text
    } catch (error) {
      if (own.signal.aborted) return
      finish(error)
      if (!(error instanceof SimulatorError)) reportError(error)
      // After an error the content may have been replaced.
      if (!(error instanceof SimulatorAway)) last = null
    }
    // A slow answer leaves the simulator time for its clients.
    timer = setTimeout(again, Math.max(pollMilliseconds, 10 * (performance.now() - start)))
  }
  const redraw = () => {
    last = null
    again()
  }
  document.addEventListener("visibilitychange", again)
  simulatorEvents.addEventListener("open", again)
  removalEvents.addEventListener("change", redraw)
  again()
  const end = () => {
    isOver = true
    clearTimeout(timer)
    controller.abort()
    document.removeEventListener("visibilitychange", again)
    simulatorEvents.removeEventListener("open", again)
    removalEvents.removeEventListener("change", redraw)
  }
  return { end, again }
}

/**
 * Replaces the children of a container, and restores the focus and the open details elements.
 *
 * Returns false, and changes nothing, while the user edits a text or has a menu open in the container.
 */
export function replaceKeepingFocus(container, ...children) {
  if (container.querySelector("[data-editing], :popover-open")) return false
  const focused = container.contains(document.activeElement) ? document.activeElement : null
  const own = focused?.closest("[data-key]")
  const index = own ? sameKind(focused, own).indexOf(focused) : -1
  const keys = [...container.querySelectorAll("[data-key]")]
  const unfolded = new Set([...container.querySelectorAll("details[open][data-key]")].map((each) => each.dataset.key))
  container.replaceChildren(...children.flat().filter((child) => child !== null))
  for (const details of container.querySelectorAll("details[data-key]")) {
    if (unfolded.has(details.dataset.key)) details.open = true
  }
  if (index < 0) return true
  const others = [...container.querySelectorAll("[data-key]")]
  // The focus of a row that is gone moves to the row in its place.
  const replacement = others.find((each) => each.dataset.key === own.dataset.key) ?? others[Math.min(keys.indexOf(own), others.length - 1)]
  const candidates = replacement ? sameKind(focused, replacement) : []
  const found = candidates.find((each) => each.textContent && each.textContent === focused.textContent) ?? candidates[index]
  found?.focus({ preventScroll: true })
  return true
}

/** The elements with the same tag within a container, or the container itself if it has that tag. */
const sameKind = ({ tagName }, container) =>
  (container.tagName === tagName ? [container] : [...container.querySelectorAll(tagName)])

/** Follows the link of a row when the user clicks beside its controls. */
function openRow({ target }) {
  if (target.closest("a, button, input, select, .menu") || String(getSelection())) return
  const row = target.closest("tr[data-href]")
  if (row) location.hash = row.dataset.href
}

/** Moves the focus between the links of rows with the arrow keys. */
function moveBetweenRows(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (!step || !event.target.matches("tr[data-href] th a")) return
  const links = [...event.target.closest("tbody").querySelectorAll("tr[data-href] th a")]
  const next = links[links.indexOf(event.target) + step]
  if (!next) return
  event.preventDefault()
  next.focus()
}

// MARK: Removal with undo

const undoSeconds = 10
/** The requests that delete something when the time to undo them has passed, by their path. */
const removals = new Set()
/** Dispatches `change` when the page of a list must show its items anew, because one was removed or is back. */
const removalEvents = new EventTarget()

/** Whether the user has removed the item of this path, which the simulator may still have. */
export const isRemoved = (path) => removals.has(path)

function setRemoved(path, isRemovedNow) {
  if (isRemovedNow) removals.add(path)
  else removals.delete(path)
  removalEvents.dispatchEvent(new Event("change"))
}

/** Removes an item from the page at once, and from the simulator when the user has not undone it for ten seconds. */
export function removeWithUndo(page, text, path) {
  if (removals.has(path)) return
  toast(text, {
    seconds: undoSeconds,
    action: { name: "Undo", run: () => setRemoved(path, false) },
    ended: async () => {
      await page.change(path, "DELETE")
      setRemoved(path, false)
    },
  })
  setRemoved(path, true)
}

addEventListener("pagehide", () => {
  for (const path of removals) fetch(serverURL(path), { method: "DELETE", keepalive: true })
})

/** A form in a dialog; `submit` receives the values of its fields and the place of an error, and returns whether it succeeded. */
export function formDialog(title, submitName, fields, submit) {
  const problem = element("p", { class: "problem", role: "alert" })
  const dialog = element("dialog", { class: "form-dialog", "aria-label": title, onclose: () => dialog.remove() },
    element("form", {
      onsubmit: async (event) => {
        event.preventDefault()
        if (await submit(Object.fromEntries(new FormData(event.target)), problem)) dialog.close()
      },
    }, element("h2", {}, title), fields, problem, element("div", { class: "actions" },
      button("Cancel", () => dialog.close()), element("button", { class: "primary" }, submitName))))
  document.body.append(dialog)
  dialog.showModal()
  dialog.querySelector("input, select")?.focus()
}

/** An input with a label above it and an optional hint below it. */
export function field(name, attributes = {}, hint = null) {
  return element("label", { class: "field" }, element("span", {}, name),
    element("input", { autocomplete: "off", spellcheck: "false", ...attributes }),
    hint ? element("small", {}, hint) : null)
}

/** A choice with a label above it; the options are {value: text}. */
export const choice = (name, attributes, options) => element("label", { class: "field" }, element("span", {}, name),
  element("select", attributes, Object.entries(options).map(([value, text]) => element("option", { value }, text))))

/** A name that the user changes in place; `save` receives the new name, and returns whether it was stored. */
export function editableName(value, shown, label, save) {
  const place = element("span", { class: "editable" })
  const show = () => place.replaceChildren(shown, iconButton("compose", label, edit, { class: "small" }))
  const edit = () => {
    let isOver = false
    const end = async (isSaved) => {
      if (isOver) return
      isOver = true
      const name = input.value.trim()
      show()
      if (isSaved && name !== value) await save(name)
      else place.querySelector("button")?.focus()
    }
    const input = element("input", {
      value, "aria-label": label, maxlength: 60, placeholder: "Nickname", "data-editing": true, autocomplete: "off",
      onblur: () => end(true),
      onkeydown: (event) => {
        if (event.key !== "Enter" && event.key !== "Escape") return
        event.preventDefault()
        event.stopPropagation()
        end(event.key === "Enter")
      },
    })
    place.replaceChildren(input)
    input.focus()
    input.select()
  }
  show()
  return place
}

/** A section with a heading. */
export const section = (title, ...content) =>
  element("section", { class: "card", "aria-label": title }, element("h3", {}, title), ...content)

/** A table that scrolls on its own, and a sentence when it has no rows. */
export const rowsOr = (items, text, table) => (items.length ? table() : element("p", { class: "faint" }, text))

/** The sentence below a list of which only the first items are displayed. */
const more = (total, shown, what) =>
  (total > shown ? element("p", { class: "faint" }, `${grouped(shown)} of ${grouped(total)} ${what}. Filter the list to see others.`) : null)

/** The newest pushes that match a query, at most `limit`. */
export const newestPushes = async (query, limit, signal) =>
  (await request(`/api/v1/pushes?${new URLSearchParams({ query, limit })}`, "GET", undefined, signal)).pushes

/** A link to the pushes that match a query. */
export const search = (query, text) => element("a", { href: `#/?query=${encodeURIComponent(query)}` }, text)
export const push = (number) => element("a", { href: `#/push/${number}` }, `push ${number}`)
export const short = (token) => (token.length > 20 ? `${token.slice(0, 8)}…${token.slice(-8)}` : token)
export const activity = (token, name = null) =>
  element("a", { href: `#/activities/${token}`, class: name ? null : "token", title: token }, name ?? short(token))
export const device = (token, name = null) =>
  element("a", { href: `#/devices/${token}`, class: name ? null : "token", title: token }, name ?? short(token))

/** A text on one line, which is cut at the width of its column. */
export const ellipsized = (text, more = {}) => element("span", { class: "ellipsized", title: text, ...more }, text)

/** The states of a device with their tones; the end of a token selects other answers. */
const deviceTones = { unregistered: "bad", offline: "warning", online: "good" }

/** The state of a device as text. */
export function deviceStateText(device) {
  if (device["unregistered-at"] !== undefined || device.answers === "Unregistered") return "unregistered"
  if (device.answers) return device["needs-connection"] ? `${device.answers} over HTTP/2` : `answers ${device.answers}`
  return device.online === false ? "offline" : "online"
}

/** The state of a device as a chip. */
export const deviceState = (device) => chip(deviceStateText(device), deviceTones[deviceStateText(device)] ?? "bad",
  device["needs-connection"] ? { title: "The end of the token selects this fault. It affects only pushes of clients over HTTP/2." } : {})

/** Whether the phone shows the content of a Live Activity: an ended one stays on the screen until it is removed. */
export const isOnScreen = ({ ended, "removed-at": removal }) => !ended || removal > now()

/** A notification in miniature, as it is on the screen of a device. */
export const glance = (push) => miniature(app(push), headline(push))

/** The content of a Live Activity in miniature. */
export function activityGlance(app, state) {
  const { headline, title, status, progress } = Object(state)
  const texts = [headline, title, status].filter((text) => typeof text === "string" && text)
  const all = Object.entries(Object(state)).filter(([, value]) => ["string", "number"].includes(typeof value))
  const text = texts[0] ?? (all.map(([name, value]) => `${name}: ${value}`).join(", ") || "No content yet")
  return miniature(app, text, typeof progress === "number" && progress >= 0 && progress <= 1
    ? element("progress", { max: 1, value: progress, "aria-label": "progress" }) : null)
}

function miniature(app, text, ...more) {
  const mark = element("span", { class: "glance-app", "aria-hidden": "true" }, app ? app.split(".").pop().slice(0, 1).toUpperCase() : icon("activity", 12))
  mark.style.setProperty("--app", appColour(app))
  return element("span", { class: "glance" }, mark, element("span", { class: "glance-text", title: text }, text), ...more)
}

/** Opens the form for a push with a destination. */
export async function composeTo(start) {
  const [{ compose }, { examples }] = await Promise.all([import("./compose.js"), import("./examples.js")])
  const payload = start?.type === "liveactivity" ? examples["Update activity"].payload() : { aps: { alert: "Hello" } }
  await compose([], { type: "alert", priority: "10", text: JSON.stringify(payload, null, 2), ...start })
}

export const now = () => Math.floor(Date.now() / 1000)

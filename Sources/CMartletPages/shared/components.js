// SPDX-License-Identifier: Apache-2.0

// The elements that all pages share.

import { element } from "./dom.js"
import { icon } from "./icons.js"
import { completeTime, isDate, numberOfSeconds, relativeText, shortTime } from "./texts.js"

/** A list of names with values. */
export const definitionList = (values) => element("dl", { class: "facts" }, Object.entries(values).flatMap(([name, value]) =>
  [element("dt", {}, name), element("dd", {}, value)]))

/** A list of names with values, without the names whose value is empty. */
export const facts = (values) => definitionList(Object.fromEntries(Object.entries(values)
  .filter(([, value]) => value !== null && value !== undefined && value !== "" && value.length !== 0)))

/** A button; `more` has further attributes, such as `class`, and the name of an `icon` before the text. */
export function button(name, onclick, { icon: iconName, ...more } = {}) {
  return element("button", { type: "button", onclick, ...more }, iconName ? icon(iconName) : null, name)
}

/** A button that shows only an icon; `key` is its keyboard shortcut. */
export function iconButton(iconName, name, onclick, { key, class: style = "", ...more } = {}) {
  return element("button", {
    type: "button", class: `icon-button ${style}`, "aria-label": name, title: key ? `${name} (${key})` : name,
    "aria-keyshortcuts": key, onclick, ...more,
  }, icon(iconName))
}

/** A button that copies a text to the clipboard; `text` is a string or a function that returns one. */
export function copyButton(label, text, attributes = {}) {
  return button(label, async ({ currentTarget }) => {
    await navigator.clipboard.writeText(typeof text === "function" ? await text() : text)
    // The text follows the icon.
    const shown = currentTarget.lastChild
    shown.textContent = "Copied"
    setTimeout(() => { shown.textContent = label }, 1500)
  }, attributes)
}

/** A value that a click copies; `name` says what it is, and `shown` is displayed in its place. */
export function copied(value, name, shown = value) {
  const mark = element("span", {}, icon("copy", 12))
  return element("button", {
    type: "button", class: "copied", "aria-label": `Copy ${name} ${value}`, title: "Copy",
    onclick: async () => {
      await navigator.clipboard.writeText(value)
      mark.replaceChildren(icon("check", 12))
      announce(`Copied ${name}`)
      setTimeout(() => mark.replaceChildren(icon("copy", 12)), 1500)
    },
  }, element("span", {}, shown), " ", mark)
}

/** A short label; `tone` is good, warning, bad, accent, or empty for neutral. Where it is cut, hovering shows it whole. */
export const chip = (text, tone = "", more = {}) =>
  element("span", { class: "chip", "data-tone": tone, ...more, title: more.title ?? text }, text)

/** The number of chips in a cell; the others are shown on request. */
const shownChips = 3

/** Texts as chips, the first of them or, on request, all; and further elements. */
export function chips(texts, ...more) {
  const rest = texts.slice(shownChips)
  const folded = rest.length ? element("details", { class: "rest" }, element("summary", {}, `${rest.length} more`),
    rest.map((text) => element("div", {}, text))) : null
  const none = texts.length + more.length ? null : element("span", { class: "faint" }, "none")
  return element("span", { class: "chips" }, texts.slice(0, shownChips).map((text) => chip(text)), folded, more, none)
}

/** A message across the page: `text` is a string or elements. */
export function banner(tone, text, ...actions) {
  const name = { good: "shown", warning: "warning", bad: "error" }[tone] ?? "info"
  return element("div", { class: "banner", "data-tone": tone, role: tone === "bad" ? "alert" : "status" },
    icon(name), element("div", {}, text), ...actions)
}

/** The view of a list without items: an icon, a title, a sentence and actions. */
export function emptyState(iconName, title, text, ...actions) {
  return element("div", { class: "empty" }, icon(iconName, 32), element("strong", {}, title), element("p", {}, text),
    actions.length ? element("div", { class: "actions" }, actions) : null)
}

/**
 * A table; each column is {name, value, isNumber, isHeader}, in which `value` returns the content of a cell for an item.
 *
 * `more` returns attributes of the row of an item, such as `data-key`.
 */
export function table(name, columns, items, more = () => ({})) {
  const style = ({ isNumber }) => (isNumber ? "number" : null)
  return element("table", { class: "table", "aria-label": name },
    element("thead", {}, element("tr", {}, columns.map((column) =>
      element("th", { scope: "col", class: style(column) }, column.name || element("span", { class: "visually-hidden" }, "Actions"))))),
    element("tbody", {}, items.map((item) => element("tr", more(item), columns.map((column) =>
      element(column.isHeader ? "th" : "td", { scope: column.isHeader ? "row" : null, class: style(column), "data-label": column.name },
        column.value(item)))))))
}

/** Handles the arrow keys, Home and End in a container, whose buttons then are one stop of the Tab key. */
function roving(container, isSelected, select) {
  const buttons = () => [...container.querySelectorAll("button:not(:disabled)")]
  for (const each of buttons()) each.tabIndex = isSelected(each) ? 0 : -1
  container.addEventListener("keydown", (event) => {
    const all = buttons()
    const index = all.indexOf(document.activeElement)
    const target = { ArrowRight: index + 1, ArrowDown: index + 1, ArrowLeft: index - 1, ArrowUp: index - 1, Home: 0, End: all.length - 1 }[event.key]
    if (target === undefined || index < 0) return
    event.preventDefault()
    event.stopPropagation()
    select(all[(target + all.length) % all.length])
  })
}

function choice(role, childRole, attribute, style, name, options, selected, changed) {
  const container = element("div", { class: style, role, "aria-label": name })
  const select = (chosen, isUser = true) => {
    for (const each of container.children) {
      each.setAttribute(attribute, String(each === chosen))
      each.tabIndex = each === chosen ? 0 : -1
    }
    if (!isUser) return
    chosen.focus()
    changed(chosen.dataset.value)
  }
  container.append(...Object.entries(options).map(([value, label]) => element("button", {
    type: "button", role: childRole, "data-value": value, [attribute]: String(value === selected), onclick: ({ currentTarget }) => select(currentTarget),
  }, label)))
  roving(container, (each) => each.dataset.value === selected, (each) => select(each))
  return container
}

/** A list of tabs, {value: label}; `changed` is called with the value of a tab that the user selects. */
export const tabs = (name, options, selected, changed) =>
  choice("tablist", "tab", "aria-selected", "tabs", name, options, selected, changed)

/** The choice of one of a few options, {value: label}. */
export const segments = (name, options, selected, changed) =>
  choice("radiogroup", "radio", "aria-checked", "segments", name, options, selected, changed)

/**
 * A button that opens a menu; the items are {name, icon, note, key, action, isDanger, isChecked}, or null for a separating
 * line.
 *
 * `items` may be a function that returns them, or a promise of them, each time the menu is opened, and each time the
 * returned element receives an event `update` while it is open.
 */
export function menu(name, items, { icon: iconName = "more", label = null, class: style = "" } = {}) {
  const list = element("div", { class: "menu", role: "menu", popover: "auto", "aria-label": name })
  let wasOpen = false
  const opener = element("button", {
    type: "button", class: label ? style : `icon-button ${style}`, "aria-label": label ? null : name, title: name, "aria-haspopup": "menu",
    "aria-expanded": "false",
    // The browser closes an open menu before `click`.
    onpointerdown: () => { wasOpen = list.matches(":popover-open") },
    onclick: async () => {
      const isClosing = wasOpen || list.matches(":popover-open")
      wasOpen = false
      if (isClosing) return list.hidePopover()
      if (typeof items === "function") fill(await items())
      if (list.isConnected) list.showPopover()
    },
  }, icon(iconName), label)
  const fill = (current) => list.replaceChildren(...current.map((item) => (item ? element("button", {
    type: "button", role: item.isChecked === undefined ? "menuitem" : "menuitemcheckbox", "aria-checked": item.isChecked?.toString(),
    tabindex: -1, class: item.isDanger ? "danger" : null,
    onclick: () => {
      list.hidePopover()
      opener.focus()
      item.action()
    },
  }, item.icon ? icon(item.icon) : null, element("span", {}, item.name), item.note ? element("small", {}, item.note) : null,
  item.key ? element("kbd", {}, item.key) : null) : element("hr"))))
  const update = async () => {
    if (!list.matches(":popover-open")) return
    const current = await items()
    const index = [...list.children].indexOf(document.activeElement)
    fill(current)
    if (index >= 0) list.children[Math.min(index, list.children.length - 1)].focus()
  }
  if (typeof items !== "function") fill(items)
  list.addEventListener("toggle", ({ newState }) => {
    opener.setAttribute("aria-expanded", String(newState === "open"))
    if (newState !== "open") return
    place(list, opener)
    list.querySelector("button")?.focus()
  })
  // Escape closes the menu and nothing else.
  list.addEventListener("keydown", (event) => { if (event.key === "Escape") event.stopPropagation() })
  roving(list, () => false, (each) => each.focus())
  return element("span", { class: "menu-host", onupdate: () => update().catch(() => {}) }, opener, list)
}

/** Places a popover below the element that opens it, or above it where there is no room. */
export function place(popover, opener) {
  const at = opener.getBoundingClientRect()
  const { offsetWidth: width, offsetHeight: height } = popover
  const top = at.bottom + 4 + height > innerHeight ? Math.max(4, at.top - height - 4) : at.bottom + 4
  popover.style.top = `${top}px`
  popover.style.left = `${Math.max(4, Math.min(at.left, innerWidth - width - 8))}px`
}

/**
 * Asks whether to do something, and returns the answer; `action` is the name of the button that does it. Cancel has the focus.
 *
 * `text` is a string or elements; the style `danger` is for what cannot be undone.
 */
export function confirmed(title, text, action, iconName, style = "") {
  return new Promise((answered) => {
    let isConfirmed = false
    const close = (answer) => {
      isConfirmed = answer
      dialog.close()
    }
    const dialog = element("dialog", {
      class: "confirm", "aria-labelledby": "confirm-title", "aria-describedby": "confirm-text",
      onclose: () => {
        dialog.remove()
        answered(isConfirmed)
      },
    },
    element("h2", { id: "confirm-title" }, title), element("div", { id: "confirm-text" }, text),
    element("div", { class: "actions" }, button("Cancel", () => close(false), { autofocus: true }),
      button(action, () => close(true), { class: `primary ${style}`, icon: iconName })))
    document.body.append(dialog)
    dialog.showModal()
  })
}

const toasts = element("div", { class: "toasts", role: "status" })

/**
 * Shows a message for some seconds; `action` is {name, run}, such as an undo.
 *
 * `ended` is called once when the message disappears without the action. Returns a function that removes it at once.
 */
export function toast(text, { action = null, seconds = 5, ended = () => {} } = {}) {
  if (!toasts.isConnected) document.body.append(toasts)
  let isOver = false
  const end = (isAction) => {
    if (isOver) return
    isOver = true
    clearTimeout(timer)
    made.remove()
    if (!isAction) ended()
  }
  const made = element("div", { class: "toast" }, element("span", {}, text), action ? button(action.name, () => {
    end(true)
    action.run()
  }) : null)
  const timer = setTimeout(() => end(false), seconds * 1000)
  toasts.append(made)
  return () => end(false)
}

const announcement = element("div", { class: "visually-hidden", role: "status" })

/** Has screen readers read a text. */
export function announce(text) {
  if (!announcement.isConnected) document.body.append(announcement)
  announcement.textContent = text
}

/** A time as a distance from now, which stays current; hovering shows the absolute time. */
export function relativeTime(milliseconds) {
  if (!isDate(milliseconds)) return element("span", {}, numberOfSeconds(milliseconds))
  return element("time", {
    datetime: new Date(milliseconds).toISOString(), title: completeTime(milliseconds), "data-relative": milliseconds,
  }, relativeText(milliseconds))
}

/** An absolute time; hovering shows it with date, milliseconds and time zone. */
export function absoluteTime(milliseconds, isDateOnly = false) {
  if (!isDate(milliseconds)) return element("span", {}, numberOfSeconds(milliseconds))
  return element("time", { datetime: new Date(milliseconds).toISOString(), title: completeTime(milliseconds) },
    shortTime(milliseconds, isDateOnly))
}

setInterval(() => {
  if (document.hidden) return
  for (const time of document.querySelectorAll("time[data-relative]")) {
    const text = relativeText(Number(time.dataset.relative))
    if (time.textContent !== text) time.textContent = text
  }
}, 5000)

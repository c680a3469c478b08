// SPDX-License-Identifier: Apache-2.0

// The search field: completion, recent searches, an explanation of errors, and help on the search language.

import { language } from "./api.js"
import { suggestions } from "./completion.js"
import { iconButton, place } from "./components.js"
import { element } from "./dom.js"
import { icon } from "./icons.js"
import { problem } from "./query.js"

const storageKey = "martlet.searches"
/** The number of recent searches. */
const recentCount = 5
/** The time without a keystroke after which the search begins, in milliseconds. */
const delay = 200

export class SearchField {
  #input
  #error
  #box
  #inbox
  #search
  #leave
  #fields = []
  #languageLoad = null
  #timer = 0
  /** The search that is in progress, or the last one. */
  #running = Promise.resolve()
  #suggestions = []
  /** The number of times that the suggestions were opened or closed. */
  #changes = 0
  #active = -1
  /** What is wrong with the last search; empty for a valid one. */
  #message = ""

  /** `search` is called with the text of a valid query, and returns a promise; `leave` gives the focus to the list. */
  constructor(form, inbox, search, leave) {
    this.#inbox = inbox
    this.#search = search
    this.#leave = leave
    this.#input = form.querySelector("input")
    this.#error = form.querySelector(".problem")
    this.#box = form.querySelector("[role=listbox]")
    form.addEventListener("submit", (event) => event.preventDefault())
    this.#input.addEventListener("input", () => {
      clearTimeout(this.#timer)
      this.#timer = setTimeout(() => this.flush(), delay)
      if (this.text.trim()) this.#suggest()
      else this.#close()
    })
    this.#input.addEventListener("focus", () => this.#suggest())
    this.#input.addEventListener("blur", () => this.#close())
    this.#input.addEventListener("click", () => this.#suggest())
    this.#input.addEventListener("keydown", (event) => this.#press(event))
    inbox.addEventListener("error", ({ detail }) => this.#showError(detail))
  }

  get text() { return this.#input.value }
  set text(text) {
    clearTimeout(this.#timer)
    this.#timer = 0
    if (this.#input.value !== text) this.#input.value = text
    this.#close()
  }

  focus() {
    this.#input.focus()
    this.#input.select()
  }

  /** Searches for the current text without waiting for further keystrokes. Returns when the list shows the matches. */
  flush() {
    if (this.#timer) {
      clearTimeout(this.#timer)
      this.#timer = 0
      this.#running = this.#submit(this.text)
    }
    return this.#running
  }

  /** Begins a term of a field at the end of the text, and suggests its values. */
  begin(field) {
    this.text = `${this.text.trimEnd()} ${field}:`.trimStart()
    this.#input.focus()
    this.#input.setSelectionRange(this.text.length, this.text.length)
    this.#suggest()
  }

  /** Searches for a text. */
  run(text) {
    this.text = text
    this.#running = this.#submit(text)
    return this.#running
  }

  async #submit(text) {
    const shown = this.text
    if (text.trim()) await this.#loadLanguage()
    // A later search must not be overtaken.
    if (shown !== this.text) return
    const message = problem(text, this.#fields)
    if (message) this.#inbox.reject(text, message)
    else await this.#search(text)
  }

  /** Loads the description of the language when it is first needed. Without it the simulator explains errors. */
  #loadLanguage() {
    this.#languageLoad ??= language().then((fields) => { this.#fields = fields }).catch(() => {})
    return this.#languageLoad
  }

  #showError(message) {
    this.#message = message
    this.#drawError()
  }

  /** Shows what is wrong with the search, but not while suggestions complete it. */
  #drawError() {
    const message = this.#box.hidden ? this.#message : ""
    this.#error.textContent = message
    if (message) this.#input.setAttribute("aria-invalid", "true")
    else this.#input.removeAttribute("aria-invalid")
  }

  // Completion.

  /** Opens the suggestions; the fields of an empty search only if `isAsked`, because the list would cover the page. */
  #suggest(isAsked = false) {
    const change = ++this.#changes
    // Until the fields are loaded, only recent searches are suggested.
    if (!this.#fields.length) this.#loadLanguage().then(() => this.#fields.length && change === this.#changes && this.#suggest(isAsked))
    const { value, selectionStart } = this.#input
    const valuesOf = (name) => this.#inbox.counts.valuesOf(name, 100).map((each) =>
      ({ value: each, label: name === "device" ? this.#inbox.counts.deviceName(each) : each }))
    this.#suggestions = suggestions(value, selectionStart, { fields: this.#fields, valuesOf, recent: recentSearches() })
      .filter(({ isRecent }) => isRecent || isAsked || value.trim())
    this.#active = -1
    this.#box.replaceChildren(...this.#suggestions.map((each, index) => element("div", {
      role: "option", id: `suggestion-${index}`, "aria-selected": "false",
      // A click must not take the focus from the field.
      onpointerdown: (event) => event.preventDefault(), onclick: () => this.#accept(each),
    }, each.isRecent ? icon("replay", 14) : null, element("span", {}, each.label), element("small", {}, each.summary))))
    this.#setOpen(this.#suggestions.length > 0)
  }

  #setOpen(isOpen) {
    this.#box.hidden = !isOpen
    this.#input.setAttribute("aria-expanded", String(isOpen))
    this.#input.removeAttribute("aria-activedescendant")
    this.#drawError()
  }

  #close() {
    this.#changes += 1
    this.#suggestions = []
    this.#active = -1
    this.#setOpen(false)
  }

  #activate(index) {
    const count = this.#suggestions.length
    this.#active = (index + count) % count
    for (const [position, option] of [...this.#box.children].entries()) option.setAttribute("aria-selected", String(position === this.#active))
    const active = this.#box.children[this.#active]
    active.scrollIntoView({ block: "nearest" })
    this.#input.setAttribute("aria-activedescendant", active.id)
  }

  #accept({ query, caret, isRecent }) {
    this.#input.value = query
    this.#input.setSelectionRange(caret, caret)
    this.#close()
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.flush(), delay)
    if (isRecent || query.slice(0, caret).endsWith(" ")) this.flush()
    else this.#suggest()
  }

  #press(event) {
    const isOpen = this.#suggestions.length > 0
    const active = this.#suggestions[this.#active]
    if (event.key === "ArrowDown" && !isOpen && !event.altKey) {
      this.flush().then(() => this.#leave())
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (!isOpen) this.#suggest(true)
      if (this.#suggestions.length) this.#activate(event.key === "ArrowDown" ? this.#active + 1 : Math.max(this.#active, 0) - 1)
    } else if (event.key === "Enter") {
      if (active) {
        this.#accept(active)
      } else {
        this.#close()
        clearTimeout(this.#timer)
        this.run(this.text).then(() => this.#remember())
      }
    } else if (event.key === "Tab" && active) {
      this.#accept(active)
    } else if (event.key === "Escape" && isOpen) {
      this.#close()
    } else {
      return
    }
    event.preventDefault()
    event.stopPropagation()
  }

  /** Stores the current search among the recent ones if it is valid. */
  #remember() {
    const text = this.text.trim()
    if (!text || this.#inbox.error) return
    try {
      localStorage.setItem(storageKey, JSON.stringify([text, ...recentSearches().filter((each) => each !== text)].slice(0, recentCount)))
    } catch { /* Storage is not available. */ }
  }

  // Help.

  /** A button that opens the description of the search language. */
  helpButton() {
    const help = element("div", { id: "search-help", class: "menu", popover: "auto", role: "dialog", "aria-label": "Search language" })
    let wasOpen = false
    const opener = iconButton("help", "Search help", async () => {
      const isClosing = wasOpen || help.matches(":popover-open")
      wasOpen = false
      if (isClosing) return help.hidePopover()
      await this.#loadLanguage()
      help.replaceChildren(...this.#help(() => help.hidePopover()))
      help.showPopover()
    }, {
      class: "small", "aria-haspopup": "dialog", "aria-expanded": "false",
      // The browser closes an open popover before `click`.
      onpointerdown: () => { wasOpen = help.matches(":popover-open") },
    })
    help.addEventListener("toggle", ({ newState }) => {
      opener.setAttribute("aria-expanded", String(newState === "open"))
      if (newState === "open") place(help, opener)
    })
    return [opener, help]
  }

  #help(close) {
    const example = (text) => element("button", {
      type: "button", class: "example", title: "Search for this",
      onclick: () => {
        close()
        this.#input.focus()
        this.run([this.text.trim(), text].filter(Boolean).join(" "))
      },
    }, element("code", {}, text))
    return [
      element("p", {}, "All terms must match; ", element("code", {}, "OR"), " between terms makes them alternatives. A word finds text of the payload, a device token, an apns-id, a nickname or a tag. ",
        element("code", {}, "-"), " negates a term, ", element("code", {}, '"two words"'), " keeps words together, and ",
        element("code", {}, "="), " demands the whole value."),
      element("dl", { class: "facts" }, this.#fields.flatMap(({ name, summary, example: text, values }) => [
        element("dt", {}, element("code", {}, `${name}:`)),
        element("dd", {}, summary, values?.length ? element("small", {}, ` ${values.join(", ")}`) : null, " ", text ? example(text) : null),
      ])),
    ]
  }
}

function recentSearches() {
  try {
    const stored = JSON.parse(localStorage.getItem(storageKey))
    return Array.isArray(stored) ? stored.filter((each) => typeof each === "string").slice(0, recentCount) : []
  } catch {
    return []
  }
}

// SPDX-License-Identifier: Apache-2.0

// The editor of the composer's payload: a text field with indentation, formatting, and the position of mistakes.

import { button } from "./components.js"
import { element } from "./dom.js"
import { formatted, locate, parse, position } from "./json-text.js"
import { sizeBar } from "./payload.js"

export class PayloadEditor {
  field = element("textarea", { spellcheck: "false", autocomplete: "off", rows: 14, id: "composer-payload", "aria-describedby": "composer-findings composer-keys" })
  #size = element("div", { class: "editor-size" })
  #problem = element("p", { class: "problem", role: "status" })
  container

  constructor() {
    this.field.addEventListener("keydown", (event) => this.#press(event))
    this.container = element("div", { class: "editor" },
      element("div", { class: "editor-tools" }, element("label", { for: "composer-payload" }, "Payload"), this.#size,
        button("Format", () => this.#format(), { class: "small" })),
      this.field, this.#problem, element("small", { id: "composer-keys" }, "Tab indents. Escape leaves the editor."))
  }

  get text() { return this.field.value }
  set text(text) { this.field.value = text }

  /** Shows the size, and the mistake if there is one. Returns the parsed payload, or undefined if it is not JSON. */
  check(limit) {
    this.#size.replaceChildren(sizeBar(this.text, limit))
    let mistake = null
    try {
      parse(this.text)
    } catch (error) {
      const { line, column } = position(this.text, error.offset)
      mistake = element("button", { type: "button", class: "link", onclick: () => this.select(error.offset, error.offset + 1) },
        `Line ${line}, column ${column}: ${error.message}`)
    }
    this.field.setAttribute("aria-invalid", String(mistake !== null))
    this.#problem.replaceChildren(...mistake ? ["Invalid JSON. ", mistake] : [])
    return mistake ? undefined : JSON.parse(this.text)
  }

  /** Selects the value at a place such as `payload/aps/badge`. */
  show(place) {
    try {
      const { node } = locate(parse(this.text), place.slice("payload".length))
      this.select(node.start, node.end)
    } catch { /* The text is not JSON at the moment. */ }
  }

  select(start, end) {
    this.field.focus()
    this.field.setSelectionRange(start, end)
    const lineHeight = parseFloat(getComputedStyle(this.field).lineHeight)
    this.field.scrollTop = Math.max(0, (position(this.text, start).line - 4) * lineHeight)
  }

  #format() {
    try {
      this.#replace(0, this.text.length, formatted(this.text))
    } catch { /* The mistake is shown below the field. */ }
  }

  /** Replaces a range so that the browser's undo works. */
  #replace(start, end, text) {
    this.field.focus()
    this.field.setSelectionRange(start, end)
    document.execCommand("insertText", false, text)
  }

  #press(event) {
    const { selectionStart: start, selectionEnd: end } = this.field
    if (event.key === "Escape") {
      // The dialog stays open: the next Escape closes it.
      event.preventDefault()
      event.stopPropagation()
      this.container.querySelector("button").focus()
    } else if (event.key === "Tab" && !event.ctrlKey && !event.altKey && !event.metaKey) {
      event.preventDefault()
      const first = this.text.lastIndexOf("\n", start - 1) + 1
      if (!event.shiftKey && start === end) return this.#replace(start, end, "  ")
      const lines = this.text.slice(first, end).replace(event.shiftKey ? /^ {1,2}/gm : /^/gm, event.shiftKey ? "" : "  ")
      if (lines === this.text.slice(first, end)) return
      this.#replace(first, end, lines)
      this.field.setSelectionRange(first, first + lines.length)
    } else if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) {
      event.preventDefault()
      const line = this.text.slice(this.text.lastIndexOf("\n", start - 1) + 1, start)
      const indent = /^\s*/.exec(line)[0] + (/[[{]\s*$/.test(line) ? "  " : "")
      this.#replace(start, end, `\n${indent}`)
    }
  }
}

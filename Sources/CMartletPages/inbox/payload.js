// SPDX-License-Identifier: Apache-2.0

// The payload as a tree, with findings beside the values they refer to, and the list of findings.

import { announce, button, chip } from "./components.js"
import { element } from "./dom.js"
import { icon } from "./icons.js"
import { locate, parse } from "./json-text.js"
import { counted, grouped } from "./texts.js"

const severityTone = (severity) => (severity === "error" ? "bad" : severity === "warning" ? "warning" : "")

/**
 * The tree of a payload's text. `findings` is a list of {place, severity, message} from the simulator, and `shown` the
 * place of the value to highlight, such as `payload/aps/sound`.
 */
export function payloadTree(text, findings, shown = null) {
  let root
  try {
    root = parse(text)
  } catch {
    return element("pre", {}, text || "The payload is empty.")
  }
  return new Tree(text, root, findings, shown).container
}

/** The name of a value for people: `aps.alert.title`. */
const path = (pointer) => pointer && pointer.slice(1).split("/").map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
  .map((part, index) => (/^[\w-]+$/.test(part) ? (index ? `.${part}` : part) : `[${JSON.stringify(part)}]`)).join("")

class Tree {
  #text
  #notes = new Map()
  #path = element("code", {})
  #rows = element("div", { class: "tree", role: "tree", "aria-label": "Payload" })
  #current = null
  container

  constructor(text, root, findings, shown) {
    this.#text = text
    for (const finding of findings) {
      if (!finding.place.startsWith("payload")) continue
      const { node } = locate(root, finding.place.slice("payload".length))
      this.#notes.set(node, [...this.#notes.get(node) ?? [], finding])
    }
    this.#rows.append(this.#branch(root, null))
    this.#rows.addEventListener("keydown", (event) => this.#press(event))
    this.container = element("div", { class: "payload-tree" },
      element("div", { class: "tree-tools" }, this.#path, button("Copy path", () => this.#copy(path(this.#node.pointer) || "payload"), { class: "small quiet" }),
        button("Copy value", () => this.#copy(this.#value), { class: "small quiet" }),
        button("Expand all", () => this.#toggleAll(true), { class: "small quiet" }), button("Collapse all", () => this.#toggleAll(false), { class: "small quiet" })),
      this.#rows)
    this.#select(this.#rows.firstElementChild, false)
    if (shown !== null) this.#highlight(root, shown.slice("payload".length))
  }

  /** The item of a node, with its children in a group. */
  #branch(node, parent) {
    const notes = this.#notes.get(node) ?? []
    const name = node.key === undefined ? [] : [element("span", { class: "name" }, node.key), ": "]
    const isEmpty = node.children?.length === 0
    const [open, close] = node.type === "array" ? "[]" : "{}"
    const text = node.children ? isEmpty ? `${open}${close}` : `${open} ${node.children.length} ${close}` : this.#text.slice(node.start, node.end)
    const isFolder = node.children && !isEmpty
    const item = element("div", {
      role: "treeitem", tabindex: -1, "aria-selected": "false", "aria-expanded": isFolder ? "true" : null, "data-found": notes.length > 0,
      "aria-level": (parent ?? 0) + 1, "data-pointer": node.pointer,
    }, element("div", { class: "tree-row", onclick: (event) => this.#click(event, item) },
      element("span", { class: "fold" }, isFolder ? icon("right", 12) : null),
      element("span", {}, name, element("span", { class: `value ${node.children ? "brackets" : node.type}` }, text)),
      notes.map(({ severity, message }) => element("span", { class: "note", "data-tone": severityTone(severity) }, message))))
    item.node = node
    if (isFolder) item.append(element("div", { role: "group" }, node.children.map((child) => this.#branch(child, (parent ?? 0) + 1))))
    return item
  }

  get #node() { return this.#current.node }
  /** The selected value as it was received; a string without its quotation marks. */
  get #value() {
    const text = this.#text.slice(this.#node.start, this.#node.end)
    return this.#node.type === "string" ? JSON.parse(text) : text
  }

  async #copy(text) {
    await navigator.clipboard.writeText(text)
    announce(`Copied ${text}`)
  }

  #select(item, isUser = true) {
    if (this.#current) {
      this.#current.tabIndex = -1
      this.#current.setAttribute("aria-selected", "false")
    }
    this.#current = item
    item.tabIndex = 0
    item.setAttribute("aria-selected", "true")
    this.#path.textContent = path(item.node.pointer) || "payload"
    if (isUser) item.focus()
  }

  #highlight(root, pointer) {
    const { node, isExact } = locate(root, pointer)
    const item = this.#items.find((each) => each.node === node)
    for (let parent = item.parentElement.closest("[role=treeitem]"); parent; parent = parent.parentElement.closest("[role=treeitem]")) this.#toggle(parent, true)
    this.#select(item, false)
    item.dataset.shown = isExact ? "value" : "parent"
    if (!isExact) {
      const missing = pointer.slice(node.pointer.length + 1)
      item.firstElementChild.append(element("span", { class: "note", "data-tone": "accent" }, `${path(`/${missing}`)} is not in the payload`))
    }
    requestAnimationFrame(() => item.firstElementChild.scrollIntoView({ block: "center" }))
  }

  get #items() { return [...this.#rows.querySelectorAll("[role=treeitem]")] }
  get #visible() { return this.#items.filter((item) => !item.parentElement.closest("[aria-expanded=false]")) }

  #click(event, item) {
    this.#select(item)
    if (event.target.closest(".fold")) this.#toggle(item)
  }

  #toggle(item, isOpen = item.getAttribute("aria-expanded") === "false") {
    if (item.hasAttribute("aria-expanded")) item.setAttribute("aria-expanded", String(isOpen))
  }

  #toggleAll(isOpen) {
    for (const item of this.#items) this.#toggle(item, isOpen || item === this.#rows.firstElementChild)
    if (!this.#visible.includes(this.#current)) this.#select(this.#rows.firstElementChild, false)
  }

  #press(event) {
    const visible = this.#visible
    const index = visible.indexOf(this.#current)
    const isOpen = this.#current.getAttribute("aria-expanded")
    const target = {
      ArrowDown: visible[index + 1], ArrowUp: visible[index - 1], Home: visible[0], End: visible.at(-1),
      ArrowRight: isOpen === "true" ? visible[index + 1] : null,
      ArrowLeft: isOpen === "true" ? null : this.#current.parentElement.closest("[role=treeitem]"),
    }
    if (!Object.hasOwn(target, event.key) && event.key !== "Enter") return
    event.preventDefault()
    event.stopPropagation()
    if (event.key === "Enter" || (event.key === "ArrowRight" && isOpen === "false") || (event.key === "ArrowLeft" && isOpen === "true")) this.#toggle(this.#current)
    else if (target[event.key]) this.#select(target[event.key])
  }
}

const severities = { error: "Errors", warning: "Warnings", advice: "Advice" }

/** The findings by severity; `show` opens a place of the push, such as `payload/aps/badge` or `apns-priority`. */
export function findingsList(findings, show = null) {
  if (findings.length === 0) {
    return element("p", { class: "verdict", "data-tone": "good" }, icon("shown"), "No findings.")
  }
  const groups = Object.groupBy(findings, ({ severity }) => severity)
  const order = [...new Set([...Object.keys(severities), ...Object.keys(groups)])]
  return element("div", { class: "findings" }, order.filter((severity) => groups[severity]).map((severity) =>
    element("section", { "data-severity": severity },
      element("h3", {}, severities[severity] ?? severity, " ", chip(String(groups[severity].length), severityTone(severity))),
      element("ul", {}, groups[severity].map((finding) => element("li", { "data-tone": severityTone(severity) },
        element("div", { class: "finding-place" },
          show && /^(payload|apns-)/.test(finding.place)
            ? element("button", { type: "button", class: "link", onclick: () => show(finding.place) }, finding.place) : element("code", {}, finding.place)),
        element("p", {}, finding.message.split(/\b(push \d+)\b/).map((text, index) =>
          (index % 2 ? element("a", { href: `#/push/${text.slice("push ".length)}` }, text) : text))),
        element("p", { class: "finding-source" },
          element("a", { href: finding.page, rel: "noreferrer", target: "_blank" }, "Apple’s documentation"),
          element("code", {}, finding.rule))))))))
}

/** The size of a payload's text relative to its limit. */
export function sizeBar(text, limit) {
  const byteCount = new TextEncoder().encode(text).length
  const excess = byteCount > limit ? `, ${grouped(byteCount - limit)} too many` : ""
  // With the optimum at 0, the bar is green, yellow from nine tenths of the limit, and red above the limit.
  return element("label", { class: "size", "data-tone": excess ? "bad" : null }, `${grouped(byteCount)} of ${counted(limit, "byte")}${excess} `,
    element("meter", { min: 0, optimum: 0, low: limit * 0.9, high: limit, max: limit + 1, value: byteCount }))
}

// SPDX-License-Identifier: Apache-2.0

// The list of pushes. Only the visible rows are in the document, so that scrolling is as fast with thousands.

import { element } from "./dom.js"
import { groupings, height, lines } from "./lines.js"
import { row, rowID } from "./rows.js"

export class List {
  #inbox
  #scroller
  #rows
  #lines = []
  /** The top of each line, and the bottom of the last, in pixels. */
  #tops = [0]
  #collapsed = new Set()
  #grouping = ""
  /** The group with the keyboard cursor; null if the cursor is at the selected push. */
  #group = null
  /** The number of the push at which a range selection begins. */
  #anchor = null

  constructor(scroller, inbox) {
    this.#inbox = inbox
    this.#scroller = scroller
    this.#rows = element("div", { class: "rows", role: "presentation" })
    scroller.append(this.#rows)
    scroller.addEventListener("scroll", () => this.#draw(), { passive: true })
    scroller.addEventListener("keydown", (event) => this.#press(event))
    new ResizeObserver(() => this.#draw()).observe(scroller)
    inbox.addEventListener("change", () => this.show())
    inbox.addEventListener("select", ({ detail }) => {
      if (detail) this.#group = null
      this.#reveal()
    })
  }

  /** The grouping; empty for none. */
  get grouping() { return this.#grouping }
  set grouping(name) {
    this.#grouping = Object.hasOwn(groupings, name) ? name : ""
    this.#collapsed.clear()
    this.#group = null
    this.show()
    this.#reveal()
  }

  /** Lays out the current pushes. */
  show() {
    const { scrollTop } = this.#scroller
    const index = this.#lineAt(scrollTop)
    const [seen, offset] = [this.#lines[index], scrollTop - this.#tops[index]]
    this.#lines = lines(this.#inbox.pushes, this.#grouping, this.#collapsed)
    this.#tops = new Array(this.#lines.length + 1)
    let top = 0
    this.#lines.forEach((line, index) => {
      this.#tops[index] = top
      top += height(line)
    })
    this.#tops[this.#lines.length] = top
    this.#rows.style.height = `${top}px`
    this.#scroller.setAttribute("role", this.#grouping ? "tree" : "listbox")
    if (seen && scrollTop > 0) this.#restorePosition(seen, offset)
    this.#draw()
  }

  /** Keeps a visible line at its position when lines are added above it. */
  #restorePosition(seen, offset) {
    const index = this.#lines.findIndex(({ push, group }) =>
      (push ? push.number === seen.push?.number : group.key === seen.group?.key))
    if (index >= 0) this.#scroller.scrollTop = this.#tops[index] + offset
  }

  #draw() {
    const { selected, unread, marked } = this.#inbox
    const { scrollTop, clientHeight } = this.#scroller
    const first = Math.max(0, this.#lineAt(scrollTop) - 5)
    const last = Math.min(this.#lines.length, this.#lineAt(scrollTop + clientHeight) + 6)
    const state = {
      unread, marked, isTree: this.#grouping !== "", isCurrent: (line) => this.#isCurrent(line),
      isSelected: ({ number }) => (marked.size ? marked.has(number) : number === selected?.number),
    }
    const handlers = { click: (event, line) => this.#click(event, line) }
    this.#rows.replaceChildren(...this.#lines.slice(first, last).map((line, index) =>
      row(line, this.#tops[first + index], state, handlers)))
    if (this.#lines.length === 0) this.#rows.append(element("p", { class: "empty" }, this.#inbox.query ? "No matching pushes." : "No pushes yet."))
    const current = this.#lines[this.#currentIndex]
    this.#scroller.setAttribute("aria-activedescendant", current ? rowID(current) : "")
  }

  /** The index of the line at a height. */
  #lineAt(top) {
    let [low, high] = [0, this.#lines.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#tops[middle + 1] <= top) low = middle + 1
      else high = middle
    }
    return low
  }

  // The keyboard cursor.

  #isCurrent({ push, group }) {
    if (this.#group !== null) return group?.key === this.#group
    return push !== undefined && push.number === this.#inbox.selected?.number
  }

  get #currentIndex() { return this.#lines.findIndex((line) => this.#isCurrent(line)) }

  /** Moves the cursor down by a number of lines. */
  move(count) {
    const line = this.#lines[Math.min(Math.max(this.#currentIndex + count, 0), this.#lines.length - 1)]
    if (line) this.#goTo(line)
  }

  #goTo(line) {
    if (line.push) {
      this.#anchor = line.push.number
      this.#inbox.select(line.push)
      return
    }
    this.#group = line.group.key
    this.#draw()
    this.#reveal()
  }

  /** Scrolls by the least distance that makes the current line visible. */
  #reveal() {
    const current = this.#currentIndex
    if (current < 0) return
    const { scrollTop, clientHeight } = this.#scroller
    const [top, end] = [this.#tops[current], this.#tops[current + 1]]
    if (top < scrollTop) this.#scroller.scrollTop = top
    else if (end > scrollTop + clientHeight) this.#scroller.scrollTop = end - clientHeight
  }

  // Groups.

  #toggle(group) {
    if (!this.#collapsed.delete(group.key)) this.#collapsed.add(group.key)
    this.#group = group.key
    this.show()
  }

  // Marks.

  /** Marks or unmarks the current push, or all pushes of the current group. */
  toggleMark() {
    const line = this.#lines[this.#currentIndex]
    if (line) this.#mark(line)
  }

  #mark({ push, group }) {
    const numbers = group ? group.pushes.map((member) => member.number) : [push.number]
    const marked = new Set(this.#inbox.marked)
    const isAdding = !numbers.every((number) => marked.has(number))
    for (const number of numbers) isAdding ? marked.add(number) : marked.delete(number)
    if (push) this.#anchor = push.number
    this.#inbox.mark(marked)
  }

  markAll() {
    this.#inbox.mark(this.#inbox.pushes.map((push) => push.number))
  }

  /** Marks the range from the anchor to the push a number of pushes below the current one. */
  extend(count) {
    const pushes = this.#lines.filter((line) => line.push)
    const current = pushes.findIndex((line) => line.push.number === this.#inbox.selected?.number)
    const line = pushes[Math.min(Math.max(current + count, 0), pushes.length - 1)]
    if (line) this.#markUpTo(line.push)
  }

  #markUpTo(push) {
    const numbers = this.#lines.flatMap((line) => (line.push ? [line.push.number] : []))
    const begin = numbers.indexOf(this.#anchor ?? this.#inbox.selected?.number)
    const end = numbers.indexOf(push.number)
    this.#anchor = begin < 0 ? push.number : numbers[begin]
    this.#inbox.mark(numbers.slice(...(begin < 0 ? [end, end + 1] : [Math.min(begin, end), Math.max(begin, end) + 1])))
    this.#inbox.select(push)
  }

  // Input.

  #click(event, line) {
    const isMark = event.target.classList.contains("mark")
    if (line.group) {
      if (event.ctrlKey || event.metaKey) this.#mark(line)
      else this.#toggle(line.group)
      return
    }
    if (event.shiftKey) {
      this.#markUpTo(line.push)
      return
    }
    if (isMark || event.ctrlKey || event.metaKey) {
      const { marked, selected } = this.#inbox
      // Adding a push to the selected one marks both.
      if (!isMark && marked.size === 0 && selected && selected.number !== line.push.number) {
        this.#inbox.mark([selected.number])
      }
      this.#mark(line)
      return
    }
    this.#inbox.mark([])
    this.#goTo(line)
  }

  #press(event) {
    const line = this.#lines[this.#currentIndex]
    if ((event.ctrlKey || event.metaKey) && event.key === "a") this.markAll()
    else if (event.ctrlKey || event.metaKey || event.altKey) return
    else if (event.key === "ArrowDown" && event.shiftKey) this.extend(1)
    else if (event.key === "ArrowUp" && event.shiftKey) this.extend(-1)
    else if (event.key === "Home") this.move(-this.#lines.length)
    else if (event.key === "End") this.move(this.#lines.length)
    else if (event.key === " ") this.toggleMark()
    else if (event.key === "Enter" && line?.group) this.#toggle(line.group)
    else if (event.key === "ArrowRight" && line?.group && !line.group.isOpen) this.#toggle(line.group)
    else if (event.key === "ArrowLeft" && line?.group?.isOpen) this.#toggle(line.group)
    else if (event.key === "ArrowLeft" && line?.of) this.#goTo({ group: line.of })
    else return
    event.preventDefault()
    event.stopPropagation()
  }
}

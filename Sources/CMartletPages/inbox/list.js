// SPDX-License-Identifier: Apache-2.0

// The list of pushes. Only the visible rows are in the document, so that scrolling is as fast with thousands.

import { element } from "./dom.js"
import { Lines, groupings } from "./lines.js"
import { row, rowID, rowState } from "./rows.js"

/** The number of rows above and below the visible ones. */
const margin = 6

export class List {
  #inbox
  #scroller
  #rows
  #empty = element("p", { class: "empty", hidden: true })
  #lines = new Lines([], "", new Set())
  /** The rows in the document by their identifier, each with the values that it shows. */
  #drawn = new Map()
  #collapsed = new Set()
  #grouping = ""
  /** The group with the keyboard cursor; null if the cursor is at the selected push. */
  #group = null
  /** The push at which a range selection begins. */
  #anchor = null
  /** Whether the list has scrolled to the selected push, which may be selected before it is listed. */
  #isRevealed = true

  constructor(scroller, inbox) {
    this.#inbox = inbox
    this.#scroller = scroller
    this.#rows = element("div", { class: "rows", role: "presentation" })
    scroller.append(this.#rows)
    scroller.after(this.#empty)
    scroller.addEventListener("scroll", () => {
      // The user looks at other pushes.
      this.#isRevealed = true
      this.#draw()
    }, { passive: true })
    scroller.addEventListener("keydown", (event) => this.#press(event))
    new ResizeObserver(() => this.#draw()).observe(scroller)
    inbox.addEventListener("change", () => this.show())
    inbox.addEventListener("select", ({ detail }) => {
      if (detail) this.#group = null
      this.#isRevealed = false
      this.#reveal()
    })
  }

  focus() { this.#scroller.focus({ preventScroll: true }) }

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
    const index = this.#lines.indexAt(scrollTop)
    const seen = scrollTop > 0 ? this.#lines.at(index) : undefined
    const offset = scrollTop - this.#lines.top(index)
    this.#lines = new Lines(this.#inbox.pushes, this.#grouping, this.#collapsed)
    this.#rows.style.height = `${this.#lines.height}px`
    this.#scroller.setAttribute("role", this.#grouping ? "tree" : "listbox")
    if (seen) this.#restorePosition(seen, offset)
    if (!this.#isRevealed) this.#reveal()
    this.#showEmpty()
    this.#draw()
  }

  /** Keeps a visible line at its position when lines are added above it. */
  #restorePosition(seen, offset) {
    const index = this.#indexOf(seen)
    if (index >= 0) this.#scroller.scrollTop = this.#lines.top(index) + offset
  }

  #showEmpty() {
    const { isLoaded, query } = this.#inbox
    this.#empty.hidden = !isLoaded || this.#lines.count > 0
    if (!this.#empty.hidden) this.#empty.textContent = query ? "No matching pushes." : "No pushes yet."
  }

  /** The index of a line in the current layout; -1 if there is none. */
  #indexOf({ push, group }) {
    return push ? this.#lines.indexOfPush(push) : this.#lines.group(group.key)?.first ?? -1
  }

  #draw() {
    const { selected, unread, marked } = this.#inbox
    const { scrollTop, clientHeight } = this.#scroller
    const first = Math.max(0, this.#lines.indexAt(scrollTop) - margin)
    const last = Math.min(this.#lines.count, this.#lines.indexAt(scrollTop + clientHeight) + margin + 1)
    const state = {
      unread, marked, hasSeveralApps: this.#inbox.counts.values("Apps").size > 1, isTree: this.#grouping !== "", isCurrent: (line) => this.#isCurrent(line),
      isSelected: ({ number }) => (marked.size ? marked.has(number) : number === selected?.number),
    }
    const drawn = new Map()
    for (let index = first; index < last; index += 1) {
      const made = this.#row(this.#lines.at(index), state)
      made.row.style.top = `${this.#lines.top(index)}px`
      drawn.set(made.row.id, made)
    }
    this.#drawn = drawn
    this.#arrange([...drawn.values()].map(({ row }) => row))
    const current = this.#lines.at(this.#currentIndex)
    if (current) this.#scroller.setAttribute("aria-activedescendant", rowID(current))
    else this.#scroller.removeAttribute("aria-activedescendant")
  }

  /** The row of a line: the one in the document if it is current, because a new one would lose its tooltip. */
  #row(line, state) {
    const known = this.#drawn.get(rowID(line))
    const shown = rowState(line, state)
    if (known && known.push === line.push && known.shown === shown && line.push) return known
    return { row: row(line, state, (event, line) => this.#click(event, line)), push: line.push, shown }
  }

  /** Puts the rows into the document in order, and leaves those that are in their place untouched. */
  #arrange(rows) {
    const wanted = new Set(rows)
    for (const child of [...this.#rows.children]) if (!wanted.has(child)) child.remove()
    rows.forEach((row, index) => {
      const there = this.#rows.children[index]
      if (there !== row) this.#rows.insertBefore(row, there ?? null)
    })
  }

  // The keyboard cursor.

  #isCurrent({ push, group }) {
    if (this.#group !== null) return group?.key === this.#group
    return push !== undefined && push.number === this.#inbox.selected?.number
  }

  get #currentIndex() {
    if (this.#group !== null) return this.#lines.group(this.#group)?.first ?? -1
    return this.#inbox.selected ? this.#lines.indexOfPush(this.#inbox.selected) : -1
  }

  /** Takes the focus from the search, and selects the first push if none is selected and its pane is beside the list. */
  enter(isBesidePane) {
    // The search may have ended since the last layout.
    this.show()
    if (isBesidePane && this.#group === null && !this.#inbox.selected) this.move(1)
    this.focus()
  }

  /** Moves the cursor down by a number of lines. */
  move(count) {
    const line = this.#lines.at(Math.min(Math.max(this.#currentIndex + count, 0), this.#lines.count - 1))
    if (line) this.#goTo(line)
  }

  #goTo(line) {
    if (line.push) {
      this.#anchor = line.push
      this.#inbox.select(line.push)
      return
    }
    this.#group = line.group.key
    this.#draw()
    this.#reveal()
  }

  /** Selects the nearest push that is not among these numbers if the selected one is. */
  leave(numbers) {
    if (!numbers.has(this.#inbox.selected?.number)) return
    if (numbers.size >= this.#inbox.pushes.length) {
      this.#inbox.select(null)
      return
    }
    const start = this.#currentIndex
    const isLeft = (index) => {
      const { push } = this.#lines.at(index)
      return push && !numbers.has(push.number)
    }
    let next = start + 1
    while (next < this.#lines.count && !isLeft(next)) next += 1
    if (next === this.#lines.count) {
      next = start - 1
      while (next >= 0 && !isLeft(next)) next -= 1
    }
    const push = start < 0 || next < 0 ? null : this.#lines.at(next).push
    this.#anchor = push
    this.#inbox.select(push)
  }

  /** Scrolls by the least distance that makes the current line visible. */
  #reveal() {
    const current = this.#currentIndex
    if (current < 0) return
    this.#isRevealed = true
    const { scrollTop, clientHeight } = this.#scroller
    const [top, end] = [this.#lines.top(current), this.#lines.top(current + 1)]
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
    const line = this.#lines.at(this.#currentIndex)
    if (line) this.#mark(line)
  }

  #mark({ push, group }) {
    const numbers = group ? group.pushes.map((member) => member.number) : [push.number]
    const marked = new Set(this.#inbox.marked)
    const isAdding = !numbers.every((number) => marked.has(number))
    for (const number of numbers) isAdding ? marked.add(number) : marked.delete(number)
    if (push) this.#anchor = push
    this.#inbox.mark(marked)
  }

  markAll() {
    this.#inbox.mark(this.#inbox.pushes.map((push) => push.number))
  }

  /** Marks the range from the anchor to the next push below or above the current one. */
  extend(step) {
    let index = this.#currentIndex + step
    while (this.#lines.at(index)?.group) index += step
    const line = this.#lines.at(index) ?? this.#lines.at(this.#currentIndex)
    if (line?.push) this.#markUpTo(line.push)
  }

  #markUpTo(push) {
    const anchor = this.#anchor ?? this.#inbox.selected
    const begin = anchor ? this.#lines.indexOfPush(anchor) : -1
    const end = this.#lines.indexOfPush(push)
    this.#anchor = begin < 0 ? push : anchor
    const numbers = []
    for (let index = Math.min(begin < 0 ? end : begin, end); index <= Math.max(begin, end); index += 1) {
      const line = this.#lines.at(index)
      if (line.push) numbers.push(line.push.number)
    }
    this.#inbox.mark(numbers)
    this.#inbox.select(push)
  }

  // Input.

  #click(event, line) {
    const isMark = event.target.closest(".mark") !== null
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
    const line = this.#lines.at(this.#currentIndex)
    if ((event.ctrlKey || event.metaKey) && event.key === "a") this.markAll()
    else if (event.ctrlKey || event.metaKey || event.altKey) return
    else if (event.key === "ArrowDown" && event.shiftKey) this.extend(1)
    else if (event.key === "ArrowUp" && event.shiftKey) this.extend(-1)
    else if (event.key === "Home") this.move(-this.#lines.count)
    else if (event.key === "End") this.move(this.#lines.count)
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

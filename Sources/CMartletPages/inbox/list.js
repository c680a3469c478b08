// The list: only the rows that are in sight are there, so that thousands scroll as a few do.

import { element } from "./dom.js"
import { groupings, height, lines } from "./lines.js"
import { row, rowID } from "./rows.js"

export class List {
  #inbox
  #scroller
  #rows
  #lines = []
  /** Where each line begins, and where the last ends. */
  #tops = [0]
  #collapsed = new Set()
  #grouping = ""
  /** The group that the keys are at; null when they are at the push that is selected. */
  #group = null
  /** The number of the push that stretches begin at. */
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

  /** What the pushes are grouped by; an empty text for nothing. */
  get grouping() { return this.#grouping }
  set grouping(name) {
    this.#grouping = Object.hasOwn(groupings, name) ? name : ""
    this.#collapsed.clear()
    this.#group = null
    this.show()
    this.#reveal()
  }

  /** Lays out what there is now. */
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
    if (seen && scrollTop > 0) this.#keep(seen, offset)
    this.#draw()
  }

  /** Has a line that somebody looks at stay where it was, whatever has come in above it. */
  #keep(seen, offset) {
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
      unread, marked, isTree: this.#grouping !== "", isHere: (line) => this.#isHere(line),
      isChosen: ({ number }) => (marked.size ? marked.has(number) : number === selected?.number),
    }
    const handlers = { click: (event, line) => this.#click(event, line) }
    this.#rows.replaceChildren(...this.#lines.slice(first, last).map((line, index) =>
      row(line, this.#tops[first + index], state, handlers)))
    if (this.#lines.length === 0) this.#rows.append(element("p", { class: "empty" }, this.#inbox.query ? "Nothing is like that." : "Nothing has come in."))
    const here = this.#lines[this.#here]
    this.#scroller.setAttribute("aria-activedescendant", here ? rowID(here) : "")
  }

  /** The line at a height. */
  #lineAt(top) {
    let [low, high] = [0, this.#lines.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#tops[middle + 1] <= top) low = middle + 1
      else high = middle
    }
    return low
  }

  // Where the keys are.

  #isHere({ push, group }) {
    if (this.#group !== null) return group?.key === this.#group
    return push !== undefined && push.number === this.#inbox.selected?.number
  }

  get #here() { return this.#lines.findIndex((line) => this.#isHere(line)) }

  /** Goes to the line so many places further down. */
  move(places) {
    const line = this.#lines[Math.min(Math.max(this.#here + places, 0), this.#lines.length - 1)]
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

  /** Scrolls as little as is needed for the line to be seen. */
  #reveal() {
    const here = this.#here
    if (here < 0) return
    const { scrollTop, clientHeight } = this.#scroller
    const [top, end] = [this.#tops[here], this.#tops[here + 1]]
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

  /** Marks the line that the keys are at, or no longer: of a group all its pushes. */
  toggleMark() {
    const line = this.#lines[this.#here]
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

  /** Marks on from where the stretch began, up to the push so many places further down. */
  extend(places) {
    const pushes = this.#lines.filter((line) => line.push)
    const here = pushes.findIndex((line) => line.push.number === this.#inbox.selected?.number)
    const line = pushes[Math.min(Math.max(here + places, 0), pushes.length - 1)]
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

  // Hands.

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
      // Who adds to what they look at means both.
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
    const line = this.#lines[this.#here]
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

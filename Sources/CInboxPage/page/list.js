// The list: only the rows that are in sight are there, so that thousands scroll as a few do.

import { element, time } from "./dom.js"
import { app, headline, kind } from "./inbox.js"

const rowHeight = 60
const marks = { alert: "●", silent: "○", background: "○", activity: "◉", broadcast: "◎" }

export class List {
  #inbox
  #scroller
  #rows

  constructor(scroller, inbox) {
    this.#inbox = inbox
    this.#scroller = scroller
    this.#rows = element("div", { class: "rows", role: "presentation" })
    scroller.append(this.#rows)
    scroller.addEventListener("scroll", () => this.show(), { passive: true })
    new ResizeObserver(() => this.show()).observe(scroller)
    inbox.addEventListener("change", () => this.show())
    inbox.addEventListener("select", () => this.#reveal())
  }

  show() {
    const { pushes, selected, unread } = this.#inbox
    const first = Math.max(0, Math.floor(this.#scroller.scrollTop / rowHeight) - 5)
    const count = Math.ceil(this.#scroller.clientHeight / rowHeight) + 10
    this.#rows.style.height = `${pushes.length * rowHeight}px`
    const rows = pushes.slice(first, first + count).map((push, index) =>
      this.#row(push, first + index, pushes.length, push.number === selected?.number, unread.has(push.number)))
    this.#rows.replaceChildren(...rows)
    if (pushes.length === 0) this.#rows.append(element("p", { class: "empty" }, "Nothing has come in."))
    this.#scroller.setAttribute("aria-activedescendant", selected ? `push-${selected.number}` : "")
  }

  #row(push, index, total, isSelected, isUnread) {
    const isAccepted = push.status === 200
    const row = element("div", {
      id: `push-${push.number}`, class: "row", role: "option", "data-number": push.number,
      "data-unread": isUnread, "aria-selected": String(isSelected), "aria-posinset": index + 1, "aria-setsize": total,
      onclick: () => this.#inbox.select(push),
    },
      element("span", { class: "mark", title: kind(push) }, marks[kind(push)] ?? "◇"),
      element("span", { class: "headline" }, headline(push)),
      element("span", { class: "time" }, time(push.time)),
      element("span", { class: "app" }, app(push)),
      element("span", { class: "verdict", "data-accepted": isAccepted },
        isAccepted ? "200" : `${push.status || "no answer"} ${push.reason ?? ""}`),
      push.findings.length ? element("span", { class: "count", title: "findings" }, push.findings.length) : null)
    row.style.top = `${index * rowHeight}px`
    return row
  }

  /** Scrolls as little as is needed for the selected row to be seen. */
  #reveal() {
    const index = this.#inbox.pushes.findIndex((push) => push.number === this.#inbox.selected?.number)
    if (index < 0) return
    const top = index * rowHeight
    const { scrollTop, clientHeight } = this.#scroller
    if (top < scrollTop) this.#scroller.scrollTop = top
    else if (top + rowHeight > scrollTop + clientHeight) this.#scroller.scrollTop = top + rowHeight - clientHeight
  }
}

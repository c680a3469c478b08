// SPDX-License-Identifier: Apache-2.0

// The timeline of one Live Activity: its pushes in order, and what is on the screen after each.

import { request } from "./api.js"
import { state as stateChip } from "./activities.js"
import { budget } from "./budget.js"
import { absoluteTime, banner, chip, copied, emptyState, facts } from "./components.js"
import { element } from "./dom.js"
import { icon } from "./icons.js"
import { isOnScreen, Page, push as pushLink, replaceKeepingFocus, section, short } from "./pages.js"
import { previews } from "./preview.js"
import { app } from "./push.js"
import { changes, isShown, steps, summary } from "./steps.js"
import { verdictLine, verdictText, verdictTone } from "./verdict.js"

/** The number of pushes up to which the marks have icons. */
const maximumIcons = 40
const icons = {
  shown: "shown", replaced: "shown", ended: "shown", delivered: "shown", stored: "stored", "not-shown": "hidden", refused: "error", discarded: "trash",
  unanswered: "warning",
}

export function openTimeline(container, token) {
  const page = new Page(container, { title: short(token), back: { name: "Activities", href: "#/activities" } })
  const view = new Timeline(token, page)
  page.body.append(view.container)
  const end = page.follow((signal) => request(`/api/v1/activities/${token}`, "GET", undefined, signal), (value) => {
    if (!view.container.isConnected) page.body.replaceChildren(view.container)
    return view.show(value)
  })
  const press = (event) => view.press(event)
  addEventListener("keydown", press)
  return () => {
    removeEventListener("keydown", press)
    view.close()
    end()
  }
}

class Timeline {
  container = element("div", { class: "activity-timeline" })
  #token
  #page
  #steps = []
  /** The state of the activity; undefined for one that the simulator does not know. */
  #activity = undefined
  #range = element("input", { type: "range", min: 0, "aria-label": "Push", oninput: () => this.#showStep() })
  #marks = element("ol", { class: "marks", "aria-label": "Pushes" })
  #head = element("div", { class: "stack" })
  #list = element("ol", { class: "log steps", "aria-label": "All pushes" })
  #facts = element("section", { class: "card", "aria-label": "Selected push", "aria-live": "polite" })
  #state = element("section", { class: "tree card", "aria-label": "Content state" })
  #preview = element("section", { "aria-label": "Preview" })
  #budget = element("section", { class: "card", "aria-label": "Budget" })
  #shown = null
  #previewed = null
  #controller = new AbortController()

  constructor(token, page) {
    this.#token = token
    this.#page = page
  }

  close() {
    this.#controller.abort()
  }

  show(value) {
    const wasAtEnd = Number(this.#range.value) >= this.#steps.length - 1
    this.#steps = steps(value.pushes)
    this.#activity = value.activity
    if (this.#steps.length === 0) {
      this.container.replaceChildren(emptyState("activity", "No pushes left", "The pushes of this activity are no longer stored."))
      return
    }
    if (!this.#range.isConnected) this.#lay()
    this.#showHead(value)
    this.#range.max = this.#steps.length - 1
    // A selection of the newest push follows new pushes.
    if (wasAtEnd) this.#range.value = this.#steps.length - 1
    this.#marks.toggleAttribute("data-dense", this.#steps.length > maximumIcons)
    replaceKeepingFocus(this.#marks, this.#steps.map((step, index) => this.#mark(step, index)))
    replaceKeepingFocus(this.#list, this.#steps.map((step, index) => this.#item(step, index)).reverse())
    this.#budget.replaceChildren(...budget(this.#steps.map(({ push }) => push)))
    this.#shown = null
    this.#showStep()
  }

  #lay() {
    this.container.replaceChildren(this.#head, element("div", { class: "scrubber card" }, this.#marks, this.#range),
      element("div", { class: "timeline-columns" },
        element("div", { class: "stack" }, section("Pushes", this.#list), this.#budget),
        element("div", { class: "stack" }, this.#facts, this.#state), this.#preview))
  }

  #showHead(value) {
    const { tone, facts: found } = summary(this.#steps)
    const newest = this.#steps.at(-1).push
    const type = value["attributes-type"]
    const title = value.name ?? type ?? short(this.#token)
    this.#page.title.textContent = title
    document.title = `Activity ${title} – Martlet`
    replaceKeepingFocus(this.#head,
      element("div", { class: "state-bar", "data-key": "state" }, stateChip(value.activity, this.#steps.at(-1).shown), chip(app(newest)),
        type && type !== title ? chip(type) : null,
        copied(this.#token, "the token", short(this.#token)), element("a", { href: `#/devices/${this.#token}` }, "Device")),
      banner(tone, found.flatMap((fact, index) => [this.#fact(fact, index), " "])))
  }

  /** A sentence about some pushes, whose causes lead to the push of each. */
  #fact({ text, causes }, index) {
    return element("p", { class: "summary", "data-key": `fact ${index}` }, element("strong", {}, text),
      causes.flatMap(({ text: cause, isLast, number }, position) => [position ? ", " : ": ", cause,
        ...number === undefined ? [] : [" ", element("span", {}, isLast ? "(last: " : "(", element("button", {
          type: "button", class: "step-link", onclick: () => this.#select(this.#steps.findIndex(({ push }) => push.number === number)),
        }, `push ${number}`), ")")]]), ".")
  }

  /** Moves through the pushes with the arrow keys while no field or widget has the focus. */
  press(event) {
    if (!this.#range.isConnected || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return
    if (document.querySelector("dialog[open], :popover-open")) return
    if (event.target.closest?.("input, textarea, select, [role=radiogroup], [role=tablist], [role=menu], .chart-host, [contenteditable]")) return
    const [index, last] = [Number(this.#range.value), this.#steps.length - 1]
    const target = { ArrowLeft: index - 1, ArrowRight: index + 1, Home: 0, End: last }[event.key]
    if (target === undefined) return
    event.preventDefault()
    this.#range.value = Math.min(Math.max(target, 0), last)
    this.#showStep()
  }

  #select(index) {
    this.#range.value = index
    this.#range.focus({ preventScroll: true })
    this.#showStep()
  }

  #mark({ push, event, priority, verdict }, index) {
    const label = `${event}, priority ${priority}, ${verdictText(verdict)}`
    return element("li", { "data-key": push.number }, element("button", {
      type: "button", class: "step-mark", "data-tone": markTone(verdict), "data-outcome": verdict.kind, "data-event": event, title: label,
      "aria-label": `Push ${push.number}, ${label}`, tabindex: -1, onclick: () => this.#select(index),
    }, this.#steps.length > maximumIcons ? "" : markIcon(verdict)))
  }

  #item({ push, event, priority, verdict }, index) {
    return element("li", { "data-tone": markTone(verdict), "data-key": `item ${push.number}`, "data-index": index },
      markIcon(verdict),
      element("div", {}, element("button", { type: "button", class: "step-link", onclick: () => this.#select(index) }, `${event}, priority ${priority}`),
        element("div", { class: "outcome" }, verdictText(verdict))),
      element("span", { class: "faint" }, absoluteTime(push.time * 1000)))
  }

  #showStep() {
    const index = Number(this.#range.value)
    const step = this.#steps[index]
    const { push, event, priority, verdict, timestamp } = step
    for (const each of this.container.querySelectorAll("[aria-current=step]")) each.removeAttribute("aria-current")
    this.#marks.children[index]?.setAttribute("aria-current", "step")
    const item = this.#list.querySelector(`[data-index="${index}"]`)
    item?.setAttribute("aria-current", "step")
    if (item) this.#list.scrollTop = item.offsetTop - this.#list.offsetTop - this.#list.clientHeight / 2
    this.#range.setAttribute("aria-valuetext", `Push ${push.number}, ${event}, ${verdictText(verdict)}`)
    if (this.#shown === push.number) return
    this.#shown = push.number
    this.#facts.replaceChildren(
      element("div", { class: "chips" }, chip(`${index + 1} of ${this.#steps.length}`), chip(event, "accent"), chip(`priority ${priority}`)),
      verdictLine({ ...push, verdict }),
      facts({
        push: pushLink(push.number), received: absoluteTime(push.time * 1000),
        timestamp: timestamp === null ? "none" : [`${timestamp}, `, absoluteTime(timestamp * 1000)],
        "sent to": push.channel === undefined ? null : `channel ${push.channel}`,
      }))
    this.#state.replaceChildren(element("h3", {}, "Content state"), ...stateRows(step))
    this.#showPreview(step)
  }

  /** Shows the screen after a push: for a push that was not shown, that of the last one that was. */
  #showPreview({ shown, certain, push, wasShown }) {
    if (this.#previewed === shown?.number && this.#preview.dataset.of === String(push.number)) return
    this.#previewed = shown?.number
    this.#preview.dataset.of = push.number
    this.#controller.abort()
    this.#controller = new AbortController()
    // The preview is rendered asynchronously: reserve its height, so that the content below does not move.
    this.#preview.style.minHeight = `${this.#preview.offsetHeight}px`
    const isRemoved = shown?.payload?.aps?.event === "end" && this.#activity && !isOnScreen(this.#activity)
    // The verdict of today may say that newer content has replaced it since.
    const content = isRemoved ? [element("p", { class: "faint" }, "Nothing: the activity was removed.")] : shown ? [previews({ ...shown, verdict: { kind: "shown", text: "Shown" } }, this.#controller.signal)].flat()
      : [element("p", { class: "faint" }, "Nothing is on the screen yet.")]
    const text = shown && !isRemoved ? screenText({ shown, certain, push, wasShown }) : ""
    this.#preview.replaceChildren(element("h3", {}, "On the screen"), text ? element("p", { class: "faint" }, text) : "", ...content)
  }
}

/** The push that the screen shows after another one; empty if it is that one. */
function screenText({ shown, certain, push, wasShown }) {
  const other = certain ? `push ${certain.number}` : "nothing"
  if (wasShown) return certain === shown ? "" : `The app may not decode push ${shown.number}. In that case the screen still shows ${other}.`
  const unless = certain === shown ? "" : `, or ${other} if the app did not decode that`
  return `Push ${push.number} was not shown. The screen still shows push ${shown.number}${unless}.`
}

/** The tone of a push in the timeline: good if its content was ever on the screen, unless the app may not decode it. */
const markTone = (verdict) => (!isShown(verdict) ? verdictTone(verdict.kind) : verdict.uncertain ? "warning" : "good")
const markIcon = (verdict) => icon(isShown(verdict) && verdict.uncertain ? "warning" : icons[verdict.kind] ?? "push")

/** The content state with its changes, which are marked by text as well as by colour. */
function stateRows({ push, before, after, wasShown }) {
  const carried = push.payload?.aps?.["content-state"]
  const note = wasShown ? [] : carried === undefined ? [element("p", { class: "faint" }, "This push did not change the content state.")] : [
    element("p", { class: "not-applied", "data-tone": "bad" }, `Push ${push.number} carried this content state, which was not applied:`),
    ...changes(undefined, carried).map(({ path, is }) => element("div", { class: "change carried" },
      element("span", { class: "name" }, path || "(all)"), ": ", element("span", { class: "value" }, is))),
    element("p", { class: "faint" }, after === undefined ? "The activity has no content state yet." : "The content state of the activity stays:"),
  ]
  if (after === undefined) return note.length ? note : [element("p", { class: "faint" }, "No content state yet.")]
  const rows = changes(before, after).map(({ path, was, is, kind }) =>
    element("div", { class: "change", "data-kind": kind },
      element("span", { class: "name" }, path || "(all)"), ": ",
      kind === "removed" ? element("del", {}, was) : element("span", { class: "value" }, is),
      kind === "changed" ? element("span", { class: "was" }, ` was ${was}`) : null,
      kind === "added" && before !== undefined ? element("span", { class: "was" }, " new") : null))
  return [...note, ...rows]
}

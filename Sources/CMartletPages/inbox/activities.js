// SPDX-License-Identifier: Apache-2.0

// Live Activities: the list, and the timeline of one activity.

import { request } from "./api.js"
import { budget } from "./budget.js"
import { copyButton, facts } from "./components.js"
import { element } from "./dom.js"
import {
  activity as link, clock, copyAttributes, heading, pill, push as pushLink, refreshed, replaceKeepingFocus, short,
} from "./pages.js"
import { previews } from "./preview.js"
import { app } from "./push.js"
import { changes, steps } from "./steps.js"

/** The number of pushes up to which the timeline has labels. */
const maximumLabels = 6

export function open(container, [token]) {
  return token ? openTimeline(container, token) : openList(container)
}

function openList(container) {
  const list = element("div", { class: "cards" })
  container.replaceChildren(
    heading("Activities", "Live Activities that have received pushes, by activity token."), list)
  return refreshed(() => request("/api/v1/activities"), (value) => {
    const activities = value?.activities ?? []
    replaceKeepingFocus(list, activities.length
      ? activities.toSorted((one, other) => other.activity.timestamp - one.activity.timestamp).map(card)
      : element("p", { class: "empty" }, "No pushes to Live Activities yet."))
  }).end
}

function card({ token, topics, channels, activity }) {
  return element("article", { class: "card", "data-key": token, "aria-label": `Activity ${short(token)}` },
    element("h3", {}, link(token)),
    element("p", { class: "pills" }, activity.ended ? pill("ended") : pill("active", "good"),
      pill(`content from ${clock(activity.timestamp)}`)),
    facts({
      topics: topics?.join(", "), channels: channels?.join(", "),
      state: element("code", { class: "clipped" }, JSON.stringify(activity["content-state"])),
    }))
}

function openTimeline(container, token) {
  const view = new Timeline(token)
  container.replaceChildren(
    element("p", {}, element("a", { href: "#/activities" }, "All activities")),
    element("div", { class: "bar" }, element("h2", { class: "token" }, short(token)),
      copyButton("Copy", token, copyAttributes("token")), element("a", { href: `#/devices/${token}` }, "View device")),
    view.container)
  return refreshed(() => request(`/api/v1/activities/${token}`), (value, error) => view.show(value, error)).end
}

/** The pushes of an activity in order, with the details of the selected one. */
class Timeline {
  container = element("div", {})
  #token
  #steps = []
  #range = element("input", { type: "range", min: 0, "aria-label": "Push", oninput: () => this.#showStep() })
  #ticks = element("ol", { class: "ticks", "aria-label": "Pushes" })
  #facts = element("section", { "aria-label": "Selected push", "aria-live": "polite" })
  #state = element("section", { class: "tree", "aria-label": "Content state" })
  #preview = element("section", { "aria-label": "Preview" })
  #budget = element("section", { "aria-label": "Budget" })
  #shownNumber = null

  constructor(token) {
    this.#token = token
  }

  show(value, error) {
    if (!value) {
      this.container.replaceChildren(element("p", { class: "empty" }, error.message))
      return
    }
    const wasAtEnd = Number(this.#range.value) >= this.#steps.length - 1
    this.#steps = steps(value.pushes, this.#token)
    if (this.#steps.length === 0) {
      this.container.replaceChildren(element("p", { class: "empty" }, "The pushes of this activity are no longer stored."))
      return
    }
    if (!this.#range.isConnected) {
      this.container.replaceChildren(
        element("div", { class: "scrubber" }, this.#ticks, this.#range),
        element("div", { class: "columns" },
          element("div", {}, this.#facts, element("h3", {}, "Content state"), this.#state, this.#budget), this.#preview))
    }
    this.#range.max = this.#steps.length - 1
    // A selection of the newest push follows new pushes.
    if (wasAtEnd) this.#range.value = this.#steps.length - 1
    replaceKeepingFocus(this.#ticks, this.#steps.map((step, index) => this.#tick(step, index)))
    this.#budget.replaceChildren(...budget(this.#steps.map(({ push }) => push)))
    this.#shownNumber = null
    this.#showStep()
  }

  #tick(step, index) {
    const { push, event, priority, outcome } = step
    const label = `${clock(push.time)}: ${event}, priority ${priority}, ${outcome.label}`
    return element("li", { "data-key": push.number },
      element("button", {
        type: "button", class: "tick", "data-outcome": outcome.kind, "data-event": event, title: label,
        "aria-label": `Push ${push.number}, ${label}`, tabindex: -1,
        onclick: () => {
          this.#range.value = index
          this.#range.focus()
          this.#showStep()
        },
      }, { delivered: "●", ignored: "✕", refused: "⊘" }[outcome.kind] ?? "◌"),
      // With few pushes there is space to show the facts of the tooltip.
      this.#steps.length > maximumLabels ? null : element("small", { "aria-hidden": "true" }, event),
      this.#steps.length > maximumLabels ? null : element("small", { "aria-hidden": "true" }, `prio ${priority}`))
  }

  #showStep() {
    const index = Number(this.#range.value)
    const step = this.#steps[index]
    for (const [position, each] of [...this.#ticks.children].entries()) {
      if (position === index) each.setAttribute("aria-current", "step")
      else each.removeAttribute("aria-current")
    }
    const { push, event, priority, outcome, timestamp } = step
    this.#range.setAttribute("aria-valuetext", `Push ${push.number}, ${event}, ${outcome.label}`)
    if (this.#shownNumber === push.number) return
    this.#shownNumber = push.number
    this.#facts.replaceChildren(
      element("p", { class: "pills" },
        pill(`${index + 1} of ${this.#steps.length}`), pill(event, "accent"), pill(`priority ${priority}`),
        pill(outcome.label, outcome.kind === "delivered" ? "good" : outcome.kind === "waiting" ? "warning" : "bad")),
      facts({
        push: pushLink(push.number), app: app(push), received: clock(push.time),
        timestamp: timestamp === null ? "none" : `${timestamp}, ${clock(timestamp)}`, reason: outcome.note,
        "sent to": push.channel === undefined ? null : `channel ${push.channel}`,
      }))
    this.#state.replaceChildren(...stateRows(step))
    const seen = step.shown
    // The preview is rendered asynchronously: reserve its height, so that the content below does not move.
    this.#preview.style.minHeight = `${this.#preview.offsetHeight}px`
    this.#preview.replaceChildren(...(seen ? [previews(seen)].flat() : [element("p", {}, "No preview yet.")]))
  }
}

/** The content state with its changes, which are marked by text as well as by colour. */
function stateRows({ before, after, outcome }) {
  if (after === undefined) return [element("p", { class: "faint" }, "No content state yet.")]
  const note = outcome.kind === "delivered"
    ? [] : [element("p", { class: "faint" }, "This push did not change the content state.")]
  const rows = changes(before, after).map(({ path, was, is, kind }) =>
    element("div", { class: "change", "data-kind": kind },
      element("span", { class: "name" }, path || "(all)"), ": ",
      kind === "removed" ? element("del", {}, was) : element("span", { class: "value" }, is),
      kind === "changed" ? element("span", { class: "was" }, ` was ${was}`) : null,
      kind === "added" && before !== undefined ? element("span", { class: "was" }, " new") : null))
  return [...note, ...rows]
}

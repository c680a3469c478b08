// Live Activities: one row each, and one of them through all its pushes.

import { ask } from "./api.js"
import { budget } from "./budget.js"
import { element } from "./dom.js"
import { app } from "./inbox.js"
import {
  activity as link, clock, copyButton, facts, heading, pill, push as pushLink, refreshed, renew, short,
} from "./pages.js"
import { previews } from "./preview.js"
import { changes, steps } from "./steps.js"

const mostLabels = 6

export function open(place, [token]) {
  return token ? openOne(place, token) : openAll(place)
}

function openAll(place) {
  const list = element("div", { class: "cards" })
  place.replaceChildren(
    heading("Activities", "Each Live Activity that pushes came for, by the token of the activity."), list)
  return refreshed(() => ask("/api/v1/activities"), (value) => {
    const activities = value?.activities ?? []
    renew(list, activities.length
      ? activities.toSorted((one, other) => other.activity.timestamp - one.activity.timestamp).map(card)
      : element("p", { class: "empty" }, "No push for a Live Activity has come in."))
  }).end
}

function card({ token, topics, channels, activity }) {
  return element("article", { class: "card", "data-key": token, "aria-label": `Activity ${short(token)}` },
    element("h3", {}, link(token)),
    element("p", { class: "pills" }, activity.ended ? pill("ended") : pill("active", "good"),
      pill(`content of ${clock(activity.timestamp)}`)),
    facts({
      topics: topics?.join(", "), "listens on": channels?.join(", "),
      state: element("code", { class: "clipped" }, JSON.stringify(activity["content-state"])),
    }))
}

function openOne(place, token) {
  const view = new Timeline(token)
  place.replaceChildren(
    element("p", {}, element("a", { href: "#/activities" }, "All activities")),
    element("div", { class: "bar" }, element("h2", { class: "token" }, short(token)),
      copyButton(token, "the token"), element("a", { href: `#/devices/${token}` }, "As a device")),
    view.place)
  return refreshed(() => ask(`/api/v1/activities/${token}`), (value, error) => view.show(value, error)).end
}

/** The pushes of an activity in their order, one of which is looked at. */
class Timeline {
  place = element("div", {})
  #token
  #steps = []
  #range = element("input", { type: "range", min: 0, "aria-label": "Push", oninput: () => this.#look() })
  #ticks = element("ol", { class: "ticks", "aria-label": "Pushes" })
  #facts = element("section", { "aria-label": "This push", "aria-live": "polite" })
  #state = element("section", { class: "tree", "aria-label": "Content state" })
  #preview = element("section", { "aria-label": "Preview" })
  #budget = element("section", { "aria-label": "Budget" })
  #shownNumber = null

  constructor(token) {
    this.#token = token
  }

  show(value, error) {
    if (!value) {
      this.place.replaceChildren(element("p", { class: "empty" }, error.message))
      return
    }
    const wasAtEnd = Number(this.#range.value) >= this.#steps.length - 1
    this.#steps = steps(value.pushes, this.#token)
    if (this.#steps.length === 0) {
      this.place.replaceChildren(element("p", { class: "empty" }, "Its pushes have been forgotten."))
      return
    }
    if (!this.#range.isConnected) {
      this.place.replaceChildren(
        element("div", { class: "scrubber" }, this.#ticks, this.#range),
        element("div", { class: "columns" },
          element("div", {}, this.#facts, element("h3", {}, "Content state"), this.#state, this.#budget), this.#preview))
    }
    this.#range.max = this.#steps.length - 1
    // Who looks at the newest goes on doing so.
    if (wasAtEnd) this.#range.value = this.#steps.length - 1
    renew(this.#ticks, this.#steps.map((step, index) => this.#tick(step, index)))
    this.#budget.replaceChildren(...budget(this.#steps.map(({ push }) => push)))
    this.#shownNumber = null
    this.#look()
  }

  #tick(step, index) {
    const { push, event, priority, outcome } = step
    const about = `${clock(push.time)}: ${event}, priority ${priority}, ${outcome.words}`
    return element("li", { "data-key": push.number },
      element("button", {
        type: "button", class: "tick", "data-outcome": outcome.kind, "data-event": event, title: about,
        "aria-label": `Push ${push.number}, ${about}`, tabindex: -1,
        onclick: () => {
          this.#range.value = index
          this.#range.focus()
          this.#look()
        },
      }, { delivered: "●", ignored: "✕", refused: "⊘" }[outcome.kind] ?? "◌"),
      // Where there is room, what a person would otherwise have to point at.
      this.#steps.length > mostLabels ? null : element("small", { "aria-hidden": "true" }, event),
      this.#steps.length > mostLabels ? null : element("small", { "aria-hidden": "true" }, `prio ${priority}`))
  }

  #look() {
    const index = Number(this.#range.value)
    const step = this.#steps[index]
    for (const [place, each] of [...this.#ticks.children].entries()) {
      if (place === index) each.setAttribute("aria-current", "step")
      else each.removeAttribute("aria-current")
    }
    const { push, event, priority, outcome, timestamp } = step
    this.#range.setAttribute("aria-valuetext", `Push ${push.number}, ${event}, ${outcome.words}`)
    if (this.#shownNumber === push.number) return
    this.#shownNumber = push.number
    this.#facts.replaceChildren(
      element("p", { class: "pills" },
        pill(`${index + 1} of ${this.#steps.length}`), pill(event, "accent"), pill(`priority ${priority}`),
        pill(outcome.words, outcome.kind === "delivered" ? "good" : outcome.kind === "waiting" ? "warning" : "bad")),
      facts({
        push: pushLink(push.number), app: app(push), received: clock(push.time),
        timestamp: timestamp === null ? "none" : `${timestamp}, ${clock(timestamp)}`, why: outcome.note,
        "sent to": push.channel === undefined ? null : `channel ${push.channel}`,
      }))
    this.#state.replaceChildren(...stateRows(step))
    const seen = step.shown
    // Pictures come a moment later: what is below them stays where it is.
    this.#preview.style.minHeight = `${this.#preview.offsetHeight}px`
    this.#preview.replaceChildren(...(seen ? [previews(seen)].flat() : [element("p", {}, "Nothing is shown yet.")]))
  }
}

/** The content state with what changed marked, in a form that reads well without colours. */
function stateRows({ before, after, outcome }) {
  if (after === undefined) return [element("p", { class: "faint" }, "There is none yet.")]
  const note = outcome.kind === "delivered"
    ? [] : [element("p", { class: "faint" }, "As it was before: this push changed nothing.")]
  const rows = changes(before, after).map(({ path, was, is, kind }) =>
    element("div", { class: "change", "data-kind": kind },
      element("span", { class: "name" }, path || "(all)"), ": ",
      kind === "removed" ? element("del", {}, was) : element("span", { class: "value" }, is),
      kind === "changed" ? element("span", { class: "was" }, ` was ${was}`) : null,
      kind === "added" && before !== undefined ? element("span", { class: "was" }, " new") : null))
  return [...note, ...rows]
}

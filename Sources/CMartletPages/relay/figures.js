// SPDX-License-Identifier: Apache-2.0

// The forms of numbers, times and answers on the status page, and updates that keep the focus.

import { element } from "./dom.js"
import { completeTime, durationText, grouped, shortTime } from "./texts.js"

/** A count that is unknown while the relay cannot read its outbox. */
export const count = (value) => (value === undefined ? "unknown" : grouped(value))

/** A rate; below ten it has one decimal, so that a slow lane does not show as 0. */
export const rate = (value = 0) => (value < 10 ? String(Math.round(value * 10) / 10) : grouped(Math.round(value)))

/** The duration from a time until `now`, both by the clock of the relay. */
const age = (time, now) => durationText(Math.max(0, now - time) / 1000)

/** The tones of the states in which a push ends. */
export const outcomeTones = { delivered: "good", refused: "bad", dead: "bad", expired: "warning" }

/** The reasons of the relay, which are no answers of Apple, for not sending a push. */
const unsent = { Damaged: "its stored data is damaged", FormerUser: "its user does not have the token any more" }

/** Returns whether a push has damaged content, so that the relay does not send it. */
export const isDamaged = ({ apns = {} }) => apns.reason === "Damaged"

/** Apple's last answer to a push or its error, or why the push was not sent; empty if there is none. */
export function answerText({ apns, history }) {
  const { status, reason } = apns ?? history?.attempts.at(-1) ?? {}
  return status === undefined && unsent[reason] ? `Not sent: ${unsent[reason]}` : [status, reason].filter(Boolean).join(" ")
}

/** The age of a time as text, which `updateAges` keeps true; hovering shows the time itself. */
export const ageElement = (time, now, suffix = "") => element("time",
  { datetime: new Date(time).toISOString(), title: completeTime(time), "data-since": time, "data-suffix": suffix }, age(time, now) + suffix)

/** Changes the ages on the page to those of a later time. */
export function updateAges(now) {
  for (const each of document.querySelectorAll("time[data-since]")) {
    const text = age(Number(each.dataset.since), now) + each.dataset.suffix
    if (each.textContent !== text) each.textContent = text
  }
}

/** A time of day; hovering shows its date and zone. */
export const clockElement = (time) => element("time",
  { datetime: new Date(time).toISOString(), title: completeTime(time) }, shortTime(time).replace(/^(\d+:\d+):\d+/, "$1"))

const seconds = new Intl.DateTimeFormat([], { hour: "numeric", minute: "2-digit", second: "2-digit" })
const day = new Intl.DateTimeFormat([], { day: "numeric", month: "short" })

/** A time with its seconds, and with its date if it is another day's. */
export function preciseClockElement(time) {
  const date = new Date(time)
  const isToday = date.toDateString() === new Date().toDateString()
  return element("time", { datetime: date.toISOString(), title: completeTime(time) },
    isToday ? seconds.format(date) : `${day.format(date)}, ${seconds.format(date)}`)
}

const nameOf = (control) => control.dataset.name ?? control.getAttribute("aria-label") ?? control.textContent

/**
 * Calls `make` and shows its elements in a container when `facts` differ from those of the last call.
 *
 * A control of the same name keeps the focus, a box its position, and details of the class `rest` stay open.
 */
export function updateWhenChanged(container, facts, make) {
  const text = JSON.stringify(facts)
  if (container.facts === text) return
  container.facts = text
  const focused = container.contains(document.activeElement) ? nameOf(document.activeElement) : null
  const position = container.querySelector(".scroll")?.scrollTop ?? 0
  const areOpen = [...container.querySelectorAll("details.rest")].map(({ open }) => open)
  container.replaceChildren(...[make()].flat().filter(Boolean))
  container.querySelectorAll("details.rest").forEach((each, index) => { each.open = areOpen[index] ?? false })
  if (position > 0) container.querySelector(".scroll")?.scrollTo(0, position)
  if (focused !== null) [...container.querySelectorAll("button, summary, a, .scroll")].find((control) => nameOf(control) === focused)?.focus()
}

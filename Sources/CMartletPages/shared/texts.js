// SPDX-License-Identifier: Apache-2.0

// Numbers, durations and times as text. It uses no document, so that its functions are tested without a browser.

/** A formatter of dates, created when it is first used, because that takes some milliseconds. */
function formatter(options) {
  let made = null
  return { format: (date) => (made ??= new Intl.DateTimeFormat([], options)).format(date) }
}
const dayTime = formatter({ hour: "numeric", minute: "2-digit", second: "2-digit" })
const minute = formatter({ hour: "numeric", minute: "2-digit" })
const day = formatter({ day: "numeric", month: "short" })
const dayMinute = formatter({ day: "numeric", month: "short", hour: "numeric", minute: "2-digit" })
const dayYear = formatter({ day: "numeric", month: "short", year: "numeric" })
const dayYearMinute = formatter({ day: "numeric", month: "short", year: "numeric", hour: "numeric", minute: "2-digit" })
const complete = formatter({
  weekday: "short", day: "numeric", month: "short", year: "numeric", hour: "numeric", minute: "2-digit", second: "2-digit",
  fractionalSecondDigits: 3, timeZoneName: "short",
})

/** Whether there is a date for a time; the times of a payload and of headers may be any numbers. */
export const isDate = (milliseconds) => Math.abs(milliseconds) <= 8.64e15

/** The text for a time without a date. */
export const numberOfSeconds = (milliseconds) => `${milliseconds / 1000} s since 1970`

const lastDay = 86_400_000

/** A time today or within a day, and otherwise a date with or without the time, with the year if it is another one. */
export function shortTime(milliseconds, isDateOnly = false) {
  if (!isDate(milliseconds)) return numberOfSeconds(milliseconds)
  const [date, now] = [new Date(milliseconds), new Date()]
  if (date.toDateString() === now.toDateString()) return dayTime.format(date)
  // Minutes after midnight, and after New Year, the time matters more than the date.
  if (Math.abs(now - date) < lastDay) return (isDateOnly ? dayTime : dayMinute).format(date)
  if (date.getFullYear() !== now.getFullYear()) return dayYear.format(date)
  return (isDateOnly ? day : dayMinute).format(date)
}

/** A time to the minute, with the date on another day, and the year in another year. */
export function minuteTime(milliseconds) {
  if (!isDate(milliseconds)) return numberOfSeconds(milliseconds)
  const [date, now] = [new Date(milliseconds), new Date()]
  if (date.toDateString() === now.toDateString()) return minute.format(date)
  return (date.getFullYear() === now.getFullYear() ? dayMinute : dayYearMinute).format(date)
}

/** A time with its date, milliseconds and time zone. */
export const completeTime = (milliseconds) =>
  (isDate(milliseconds) ? complete.format(new Date(milliseconds)) : numberOfSeconds(milliseconds))

/** A number with its digits in groups of three: 8,788. */
export const grouped = (count) => String(count).replace(/\B(?=(\d{3})+$)/g, ",")

/** A number of things: 1 push, 8,788 pushes. */
export const counted = (count, one, several = `${one}${one.endsWith("sh") ? "es" : "s"}`) =>
  `${grouped(count)} ${count === 1 ? one : several}`

/** A duration as text: 12 s, 3 min, 2 h, 2 h 5 min, 4 days. */
export function durationText(seconds) {
  if (seconds < 60) return `${Math.max(0, Math.floor(seconds))} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`
  const minutes = Math.floor((seconds % 3600) / 60)
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h${minutes ? ` ${minutes} min` : ""}`
  return counted(Math.floor(seconds / 86_400), "day")
}

/** A time as a distance from now. */
export function relativeText(milliseconds) {
  const seconds = (Date.now() - milliseconds) / 1000
  if (Math.abs(seconds) < 5) return "now"
  return seconds < 0 ? `in ${durationText(-seconds)}` : `${durationText(seconds)} ago`
}

// SPDX-License-Identifier: Apache-2.0

// Lists of numbers as ranges, in the syntax of queries: 3,7-9.

/** The maximum length of a query, because the length of URLs is limited. */
const limit = 4000

/** The ranges of consecutive numbers, in order. */
export function ranges(numbers) {
  const found = []
  for (const number of Float64Array.from(numbers).sort()) {
    const last = found.at(-1)
    if (last?.[1] === number - 1) last[1] = number
    else found.push([number, number])
  }
  return found.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`))
}

/** The numbers in ranges. */
export function numbersIn(ranges) {
  return ranges.flatMap((range) => {
    const [first, last = first] = range.split("-").map(Number)
    return Array.from({ length: last - first + 1 }, (_, index) => first + index)
  })
}

/** The queries, usually one, that together match the pushes with these numbers. */
export function queries(numbers) {
  const found = []
  for (const range of ranges(numbers)) {
    if (found.length && found.at(-1).length + range.length < limit) found.push(`${found.pop()},${range}`)
    else found.push(`number:${range}`)
  }
  return found
}

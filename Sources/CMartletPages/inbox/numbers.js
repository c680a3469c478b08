// Many numbers in few words, as queries have them: 3,7-9.

/** Characters of one query: addresses have an end. */
const limit = 4000

/** The stretches that numbers lie in, in order. */
export function stretches(numbers) {
  const found = []
  for (const number of [...numbers].sort((one, other) => one - other)) {
    const last = found.at(-1)
    if (last?.[1] === number - 1) last[1] = number
    else found.push([number, number])
  }
  return found.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`))
}

/** The numbers that stretches stand for. */
export function numbersIn(stretches) {
  return stretches.flatMap((stretch) => {
    const [first, last = first] = stretch.split("-").map(Number)
    return Array.from({ length: last - first + 1 }, (_, index) => first + index)
  })
}

/** Queries that together are true of pushes with these numbers: mostly one. */
export function queries(numbers) {
  const found = []
  for (const stretch of stretches(numbers)) {
    if (found.length && found.at(-1).length + stretch.length < limit) found.push(`${found.pop()},${stretch}`)
    else found.push(`number:${stretch}`)
  }
  return found
}

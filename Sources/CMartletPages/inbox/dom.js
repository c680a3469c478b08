// Makes elements. What came in only ever becomes text: there is no way here to make markup of it.

/** An element with attributes, event handlers (`onclick`) and children; children that are no elements are text. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value)
    else if (value === true) made.setAttribute(key, "")
    else if (value !== false && value !== undefined && value !== null) made.setAttribute(key, value)
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined))
  return made
}

/** The time of day of a push, or its day when that was another. */
export function time(seconds) {
  const date = new Date(seconds * 1000)
  const isToday = date.toDateString() === new Date().toDateString()
  return isToday ? date.toLocaleTimeString() : date.toLocaleDateString()
}

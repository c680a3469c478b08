// SPDX-License-Identifier: Apache-2.0

// Long tables: they scroll in a box of their own, and on a narrow screen with the page, which shows their first rows.

import { button } from "./components.js"
import { element } from "./dom.js"
import { grouped } from "./texts.js"

/** The number of rows that a narrow screen shows at first, as in status.css. */
const firstRows = 10
/** The names of the lists that show all rows. */
const complete = new Set()

/** A table in a box, followed by a button for its other rows, which only a narrow screen shows. */
export function longTable(name, made) {
  const count = made.tBodies[0].rows.length
  const box = element("div", { class: "scroll", role: "region", "aria-label": name, tabindex: 0 }, made)
  if (count <= firstRows || complete.has(name)) return [box]
  box.dataset.folded = ""
  const more = button(`Show all ${grouped(count)}`, () => {
    complete.add(name)
    delete box.dataset.folded
    more.remove()
    box.focus({ preventScroll: true })
  }, { class: "small unfold", "aria-label": `Show all ${grouped(count)} of the ${name[0].toLowerCase()}${name.slice(1)}` })
  return [box, more]
}

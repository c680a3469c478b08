// SPDX-License-Identifier: Apache-2.0

// The menus beside the search field: the values of a field that the rest of the query leaves, with their numbers. A value
// takes the place of the field's terms in the query, or is removed from it.

import { facets } from "./api.js"
import { menu } from "./components.js"
import { afterPress } from "./dom.js"
import { short, typeName } from "./push.js"
import { contains, exactTerm, terms, toggled } from "./query.js"
import { grouped } from "./texts.js"
import { verdictLabel } from "./verdict.js"

/** The menus by the fields of the query language. */
const menus = {
  type: { name: "Type", label: ({ value }) => typeName(value) },
  app: { name: "App" },
  verdict: { name: "Verdict", label: ({ value }) => verdictLabel(value), term: (value) => `verdict:${value}` },
  rule: { name: "Finding" },
  device: { name: "Device", label: ({ value, name }) => name ?? short(value) },
}
/** Whether a term, or each of its alternatives, demands a value of a field. */
const isOf = (field, term) => term.split(" OR ").every((each) => each.startsWith(`${field}:`))

/** The minimum time between two updates of an open menu, in milliseconds. */
const delay = 500

/** Shows the menus; `filter` is called with a function that returns the new query for the current one. */
export function showFacets(container, inbox, search, filter) {
  const load = async (field) => {
    await search.flush()
    const query = inbox.matchedQuery
    const { fields } = await facets(terms(inbox.listedQuery).filter((term) => !isOf(field, term)).join(" "))
    return items(field, fields[field], query, search, filter)
  }
  container.append(...Object.entries(menus).map(([field, { name }]) =>
    menu(name, () => load(field), { icon: "down", label: name, class: "small quiet" })))
  const showFields = () => Object.keys(menus).forEach((field, index) => {
    const opener = container.children[index].querySelector("button")
    const isSearched = terms(inbox.matchedQuery).some((term) => isOf(field, term))
    opener.toggleAttribute("data-searched", isSearched)
    if (isSearched) opener.setAttribute("aria-description", "in the search")
    else opener.removeAttribute("aria-description")
  })
  let timer = 0
  inbox.addEventListener("change", () => {
    showFields()
    timer ||= setTimeout(() => {
      timer = 0
      afterPress(() => { for (const each of container.children) each.dispatchEvent(new Event("update")) })
    }, delay)
  })
}

/** The items of a menu: the terms of the query that are not among the values, the values, and the way to the others. */
function items(field, { total, values }, query, search, filter) {
  const { label = ({ value }) => value, term = (value) => exactTerm(field, value) } = menus[field]
  const found = values.map((each) => ({ term: term(each.value), name: label(each), note: grouped(each.count) })).filter((each) => each.term)
  const own = (text) => terms(text).filter((term) => isOf(field, term))
  const others = own(query).filter((term) => !found.some((each) => each.term === term))
  const shown = [...others.map((term) => ({ term, name: term })), ...found].map((each) => ({
    ...each, isChecked: contains(query, each.term),
    action: () => filter((current) => toggled(current, each.term, contains(current, each.term) ? [] : own(current))),
  }))
  const rest = total - values.length
  if (rest > 0) shown.push(null, { name: `${grouped(rest)} more`, action: () => search.begin(field) })
  return shown.length ? shown : [{ name: "None", action: () => {} }]
}

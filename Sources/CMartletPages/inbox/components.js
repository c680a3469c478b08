// SPDX-License-Identifier: Apache-2.0

// Elements that the inbox and the other pages share.

import { element } from "./dom.js"

/** A list of names with values. */
export const definitionList = (values) => element("dl", {}, Object.entries(values).flatMap(([name, value]) =>
  [element("dt", {}, name), element("dd", {}, value)]))

/** A list of names with values, without the names whose value is empty. */
export const facts = (values) => definitionList(Object.fromEntries(Object.entries(values)
  .filter(([, value]) => value !== null && value !== undefined && value !== "" && value.length !== 0)))

/** A button that copies a text to the clipboard; `text` is a string or a function that returns one. */
export function copyButton(label, text, attributes = {}) {
  return element("button", {
    type: "button", ...attributes,
    onclick: async ({ currentTarget }) => {
      await navigator.clipboard.writeText(typeof text === "function" ? await text() : text)
      currentTarget.textContent = "Copied"
      setTimeout(() => { currentTarget.textContent = label }, 1500)
    },
  }, label)
}

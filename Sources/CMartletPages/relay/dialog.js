// SPDX-License-Identifier: Apache-2.0

// A dialog whose content is loaded while it is open.

import { button } from "./components.js"
import { element } from "./dom.js"

/** Shows a dialog with the elements that `load` returns, or its error; `load` receives a function that shows others in it. */
export function showDialog(name, load) {
  const title = element("h2", {}, "")
  const content = element("div", {})
  const dialog = element("dialog", { onclose: () => dialog.remove() },
    element("div", { class: "bar-title" }, title, button("Close", () => dialog.close(), { class: "small" })), content)
  async function fill(current, loadCurrent) {
    dialog.setAttribute("aria-label", current)
    title.textContent = current
    content.replaceChildren(element("p", { class: "faint" }, "Loading…"))
    try {
      content.replaceChildren(...await loadCurrent(fill))
    } catch (error) {
      content.replaceChildren(element("p", { class: "problem", role: "alert" }, error.message))
    }
    // A link that was followed is gone, and with it the focus.
    if (document.activeElement === document.body || document.activeElement === dialog) dialog.querySelector("button").focus()
  }
  document.body.append(dialog)
  dialog.showModal()
  fill(name, load)
}

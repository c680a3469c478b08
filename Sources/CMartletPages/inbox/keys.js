// SPDX-License-Identifier: Apache-2.0

// The dialog that lists the keyboard shortcuts.

import { iconButton } from "./components.js"
import { element } from "./dom.js"

const groups = {
  "Everywhere": [
    ["?", "keyboard shortcuts"], ["g i", "inbox"], ["g a", "activities"], ["g d", "devices"], ["g p", "simulated phones"], ["g c", "channels"],
    ["g n", "connections"], ["g f", "faults"], ["g o", "connect"],
  ],
  "Inbox": [
    ["/", "search"], ["↓ in the search", "the list"], ["Alt-↓ in the search", "suggestions"], ["j or ↓", "next push"], ["k or ↑", "previous push"], ["PageDown, PageUp", "ten pushes down or up"],
    ["x or space", "select or deselect a push or group"], ["J and K, Shift-↓ and Shift-↑", "extend the selection"],
    ["a", "select all"], ["r", "mark selected pushes as read"], ["e", "export selected pushes"], ["Delete", "delete selected pushes"],
    ["z", "undo the last deletion"], ["← and →", "collapse and expand a group"], ["c", "compose a push"],
    ["Escape", "clear the selection, close the push, or leave a field"],
  ],
  "Activity": [["← and →", "previous and next push in the timeline"], ["Home, End", "first and last push"]],
}

export function showKeys() {
  const dialog = document.getElementById("keys")
  dialog.replaceChildren(
    // The button comes first, because the dialog scrolls to the element with the focus.
    element("div", { class: "dialog-title" }, element("h2", { id: "keys-title" }, "Keyboard shortcuts"),
      iconButton("close", "Close", () => dialog.close(), { autofocus: true })),
    ...Object.entries(groups).map(([name, keys]) => element("section", {},
      element("h3", {}, name),
      element("dl", {}, keys.flatMap(([key, meaning]) =>
        [element("dt", {}, element("kbd", {}, key)), element("dd", {}, meaning)])))))
  dialog.showModal()
}

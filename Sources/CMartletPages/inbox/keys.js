// The keys there are, for the dialog that lists them.

import { element } from "./dom.js"

const groups = {
  "Everywhere": [
    ["?", "these keys"], ["g i", "inbox"], ["g a", "activities"], ["g d", "devices"], ["g c", "channels"],
    ["g n", "connections"], ["g f", "faults"], ["g o", "connect"],
  ],
  "Inbox": [
    ["/", "search"], ["j or ↓", "next push"], ["k or ↑", "push before"], ["PageDown, PageUp", "ten at once"],
    ["x or space", "mark it, or a whole group"], ["J and K, Shift-↓ and Shift-↑", "mark on from there"],
    ["a", "mark all"], ["r", "marked ones are read"], ["e", "export them"], ["Delete", "delete them"],
    ["← and →", "close and open a group"], ["c", "compose a push"],
    ["Escape", "mark none, back to the list, or out of a field"],
  ],
  "Activity": [["← and →", "one push back or on, in the timeline"], ["Home, End", "first and last"]],
}

export function showKeys() {
  const dialog = document.getElementById("keys")
  dialog.replaceChildren(
    element("h2", { id: "keys-title" }, "Keys"),
    ...Object.entries(groups).map(([name, keys]) => element("section", {},
      element("h3", {}, name),
      element("dl", {}, keys.flatMap(([key, meaning]) =>
        [element("dt", {}, element("kbd", {}, key)), element("dd", {}, meaning)])))),
    element("form", { method: "dialog" }, element("button", { autofocus: true }, "Close")))
  dialog.showModal()
}

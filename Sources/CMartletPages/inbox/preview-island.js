// SPDX-License-Identifier: Apache-2.0

// Previews of the Dynamic Island: compact, minimal (beside another activity) and expanded.

import { element } from "./dom.js"
import { homeScreen } from "./preview-elsewhere.js"
import { bar, icon, part, ring, statusBar } from "./preview-parts.js"
import { figure } from "./preview-screen.js"

/** The surfaces of the Dynamic Island, over a Home Screen. */
export function islandSurfaces(push, settings, island) {
  const surface = (title, label, content) => ({
    title: `Dynamic Island ${title}`, label,
    make: () => figure(`Dynamic Island ${title}`, "home island-screen top", settings, [statusBar(push), content(), homeScreen(push, null, 1)]),
  })
  return [
    surface("compact", "Compact", () => element("div", { class: "island compact" },
      compactSide("leading", "Compact leading", island["compact-leading"], push),
      compactSide("trailing", "Compact trailing", island["compact-trailing"], push))),
    surface("minimal", "Minimal", () => element("div", { class: "pair" },
      element("div", { class: "island other", title: "another activity" }),
      element("div", { class: "island minimal" }, part("word", "Minimal", island.minimal) ?? icon(push), ring(island.ring)))),
    surface("expanded", "Expanded", () => element("div", {
      class: "island expanded", "data-overflow": "Taller than 160 points. The Dynamic Island cuts off the rest.",
    },
      element("div", { class: "ears" },
        element("div", { class: "ear" }, icon(push), part("word", "Leading", island.leading)),
        element("div", { class: "ear end" }, part("word", "Trailing", island.trailing))),
      part("title", "Center", island.center), part("subtitle", "Bottom", island.bottom, 2), bar(island.progress))),
  ]
}

/** The leading and the trailing view of an activity's compact form, as functions that create them. */
export const compactParts = (push, island) => [
  () => part("word", "Compact leading", island["compact-leading"]) ?? icon(push),
  () => part("word accent", "Compact trailing", island["compact-trailing"]) ?? element("span"),
]

const compactSide = (side, name, text, push) =>
  element("div", { class: side }, part("word", name, text) ?? icon(push))

// SPDX-License-Identifier: Apache-2.0

// Previews of the Dynamic Island: compact, minimal (beside another activity) and expanded.

import { element } from "./dom.js"
import { bar, icon, part, ring, statusBar } from "./preview-parts.js"
import { figure } from "./preview-screen.js"

export function islandFigures(push, settings, island) {
  const compact = element("div", { class: "island compact" },
    compactSide("leading", "Compact leading", island["compact-leading"], push),
    compactSide("trailing", "Compact trailing", island["compact-trailing"], push))
  const minimal = [
    element("div", { class: "island other", title: "another activity" }),
    element("div", { class: "island minimal" },
      part("word", "Minimal", island.minimal) ?? icon(push), ring(island.ring)),
  ]
  const expanded = element("div", {
    class: "island expanded", "data-overflow": "Taller than 160 points. The Dynamic Island cuts off the rest.",
  },
    element("div", { class: "ears" },
      element("div", { class: "ear" }, icon(push), part("word", "Leading", island.leading)),
      element("div", { class: "ear end" }, part("word", "Trailing", island.trailing))),
    part("title", "Center", island.center), part("subtitle", "Bottom", island.bottom, 2), bar(island.progress))
  return [
    figure("Dynamic Island compact", "island-screen", settings, [statusBar(), compact]),
    figure("Dynamic Island minimal", "island-screen", settings, [statusBar(), element("div", { class: "pair" }, minimal)]),
    figure("Dynamic Island expanded", "island-screen tall", settings, expanded),
  ]
}

const compactSide = (side, name, text, push) =>
  element("div", { class: side }, part("word", name, text) ?? icon(push))

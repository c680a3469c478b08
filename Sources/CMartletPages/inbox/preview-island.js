// The Dynamic Island: compact, minimal beside another activity, and expanded.

import { element } from "./dom.js"
import { bar, icon, part, ring, statusBar } from "./preview-parts.js"
import { figure } from "./preview-screen.js"

export function islandFigures(push, settings, island) {
  const compact = element("div", { class: "island compact" },
    side("leading", "Compact leading", island["compact-leading"], push),
    side("trailing", "Compact trailing", island["compact-trailing"], push))
  const minimal = [
    element("div", { class: "island other", title: "another activity" }),
    element("div", { class: "island minimal" },
      part("word", "Minimal", island.minimal) ?? icon(push), ring(island.ring)),
  ]
  const expanded = element("div", {
    class: "island expanded", "data-crowds": "It is higher than 160 points: the Island cuts the rest off.",
  },
    element("div", { class: "ears" },
      element("div", { class: "ear" }, icon(push), part("word", "Leading", island.leading)),
      element("div", { class: "ear end" }, part("word", "Trailing", island.trailing))),
    part("title", "The center", island.center), part("subtitle", "The bottom", island.bottom, 2), bar(island.progress))
  return [
    figure("Dynamic Island compact", "island-screen", settings, [statusBar(), compact]),
    figure("Dynamic Island minimal", "island-screen", settings, [statusBar(), element("div", { class: "pair" }, minimal)]),
    figure("Dynamic Island expanded", "island-screen tall", settings, expanded),
  ]
}

const side = (place, name, words, push) =>
  element("div", { class: place }, part("word", name, words) ?? icon(push))

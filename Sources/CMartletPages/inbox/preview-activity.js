// SPDX-License-Identifier: Apache-2.0

// Previews of Live Activities: on the Lock Screen, in the Dynamic Island, in StandBy, and in a template's widget and accessory.

import { element } from "./dom.js"
import { bannerSurface, dashboard, homeScreen, menuBar } from "./preview-card.js"
import { timeOf } from "./preview-language.js"
import { bar, box, icon, lockScreen, night, part, ring, statusBar } from "./preview-parts.js"
import { surface } from "./preview-screen.js"
import { fraction, slots } from "./preview-template.js"
import { accessory, widgets } from "./preview-widget.js"

/** The surfaces of a push to a Live Activity; `context` has the device's other data, such as the template. */
export function activitySurfaces(push, context, device) {
  const found = slots(push, context)
  const aps = push.payload?.aps ?? {}
  const hasEnded = aps.event === "end"
  const content = () => card(push, found.lock ?? {})
  const surfaces = [surface("Lock Screen", "lock phone", () => lockScreen(push, content()), { notes: () => [
    `Layout: ${found.by}.`, found.missing?.length && `The content state has no ${found.missing.join(", ")}.`,
    Object.values(found.lock ?? {}).every((value) => value === undefined) && "The push has no value to draw.",
    hasEnded && "Ended: removed from the Dynamic Island now, and from the Lock Screen within four hours.",
  ] })]
  if (device.hasIsland && !hasEnded) surfaces.push(...islandSurfaces(push, found.island ?? {}))
  if (!device.hasIsland && aps.alert !== undefined) surfaces.push(bannerSurface(push))
  if (device.hasIsland) {
    surfaces.push(surface("StandBy", "standby", content),
      surface("StandBy at night", "standby", () => night(content()), { label: "At night" }))
  }
  surfaces.push(...mirrors(push, found.island ?? {}, hasEnded))
  if (found.widget) surfaces.push(surface("Widget", "home", () => widgets("small", push, templated(found.widget))))
  if (found.accessory) {
    surfaces.push(surface("Accessory", "lock top", () => lockScreen(push, [], { widgets: accessory("rectangular", {
      headline: found.accessory.title ?? "", shortText: found.accessory.text, gaugeValue: fraction(found.accessory.progress),
    }) })))
  }
  return surfaces
}

/** The surfaces of the Dynamic Island, over a Home Screen. */
function islandSurfaces(push, island) {
  const made = (title, label, content) =>
    surface(`Dynamic Island ${title}`, "home island-screen top", () => [statusBar(push), content(), homeScreen(push, null, 1)], { label })
  return [
    made("compact", "Compact", () => box("island compact",
      compactSide("leading", "Compact leading", island["compact-leading"], push),
      compactSide("trailing", "Compact trailing", island["compact-trailing"], push))),
    made("minimal", "Minimal", () => box("pair",
      element("div", { class: "island other", title: "another activity" }),
      box("island minimal", part("word", "Minimal", island.minimal) ?? icon(push), ring(island.ring)))),
    made("expanded", "Expanded", () => element("div", {
      class: "island expanded", "data-overflow": "Taller than 160 points. The Dynamic Island cuts off the rest.",
    },
      box("ears",
        box("ear", icon(push), part("word", "Leading", island.leading)),
        box("ear end", part("word", "Trailing", island.trailing))),
      part("title", "Center", island.center), part("subtitle", "Bottom", island.bottom, 2), bar(island.progress))),
    surface("Dynamic Island landscape", "home landscape", () => [
      box("island upright",
        compactSide("leading", "Compact leading", island["compact-leading"], push),
        compactSide("trailing", "Compact trailing", island["compact-trailing"], push)), homeScreen(push, null, 2),
    ], { label: "Landscape", notes: () => ["From iOS 27. Apple documents that the width is limited (isDynamicIslandLimitedInWidth), and not how much:"
      + " drawn as wide as the Dynamic Island is high."] }),
  ]
}

/** The surfaces of paired devices, which show the two sides of the compact presentation next to each other. */
function mirrors(push, island, hasEnded) {
  const sides = () => ["leading", "trailing"].map((side) => compactSide(side, `Compact ${side}`, island[`compact-${side}`], push))
  const custom = "The app can draw its own layout here, if it supports the activity family small."
  return [
    surface("Smart Stack", "watches", () => box("watch smart-stack", box("sash", timeOf(push)), box("smart-card", sides())),
      { notes: () => [custom] }),
    ...hasEnded ? [] : [surface("CarPlay", "car", () => dashboard(push, box("car-card car-activity", sides())), { notes: () => [custom] })],
    surface("Mac", "mac", () => menuBar(push, box("menu-activity", sides())),
      { notes: () => ["In the menu bar of a Mac that is paired with the phone."] }),
  ]
}

const compactSide = (side, name, text, push) =>
  element("div", { class: side }, part("word", name, text) ?? icon(push))

const templated = ({ title, subtitle, trailing, progress }) =>
  ({ headline: title ?? "", subhead: subtitle ?? "", state: trailing ?? "", progress: fraction(progress) })

function card(push, lock) {
  return element("div", { class: "activity glass", "data-overflow": "Taller than 160 points. The device cuts off the rest." },
    icon(push),
    box("text",
      part("title", "Title", lock.title), part("subtitle", "Subtitle", lock.subtitle, 2), bar(lock.progress),
      part("foot", "Bottom", lock.bottom)),
    part("trailing", "Trailing text", lock.trailing))
}

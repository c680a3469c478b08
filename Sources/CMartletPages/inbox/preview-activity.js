// SPDX-License-Identifier: Apache-2.0

// Previews of Live Activities on the Lock Screen and in StandBy, on other devices, and of the other surfaces of a template.

import { element } from "./dom.js"
import { bannerSurface } from "./preview-card.js"
import { compactParts, islandSurfaces } from "./preview-island.js"
import { bar, dayOf, glyph, icon, lockScreen, night, part, ring, timeOf } from "./preview-parts.js"
import { figure } from "./preview-screen.js"
import { fraction, slots } from "./preview-template.js"
import { accessory, widgets } from "./preview-widget.js"

/** The surfaces of a push to a Live Activity; `context` has the device's other data, such as the template. */
export function activitySurfaces(push, settings, context, device) {
  const found = slots(push, context)
  const aps = push.payload?.aps ?? {}
  const hasEnded = aps.event === "end"
  const lock = found.lock ?? {}
  const notes = [`Layout: ${found.by}.`]
  if (found.missing?.length) notes.push(`The content state has no ${found.missing.join(", ")}.`)
  if (hasEnded) notes.push("Ended: removed from the Dynamic Island now, and from the Lock Screen within four hours.")
  const made = (title, label, kind, content) => ({ title, label, make: () => figure(title, kind, settings, content()) })
  const surfaces = [{
    title: "Lock Screen", make: () => figure("Lock Screen", "lock phone", settings, lockScreen(push, card(push, lock, hasEnded)), notes),
  }]
  if (device.hasIsland && !hasEnded) surfaces.push(...islandSurfaces(push, settings, found.island ?? {}))
  if (!device.hasIsland && aps.alert !== undefined) surfaces.push(bannerSurface(push, settings))
  if (device.hasIsland) {
    surfaces.push(made("StandBy", "StandBy", "standby", () => card(push, lock, hasEnded)),
      made("StandBy at night", "At night", "standby", () => night(card(push, lock, hasEnded))))
  }
  if (!hasEnded) surfaces.push(...elsewhere(push, settings, found))
  if (found.widget) surfaces.push(made("Widget", "Widget", "home", () => widgets("small", push, templated(found.widget))))
  if (found.accessory) {
    surfaces.push(made("Accessory", "Accessory", "lock top", () => lockScreen(push, [], { widgets: accessory("rectangular", {
      headline: found.accessory.title ?? "", shortText: found.accessory.text, gaugeValue: fraction(found.accessory.progress),
    }) })))
  }
  return surfaces
}

/** The devices that show the activity of an iPhone in its compact form: Apple Watch, CarPlay and Mac. */
function elsewhere(push, settings, { island = {}, lock = {} }) {
  const [leading, trailing] = compactParts(push, island)
  return [
    { title: "Apple Watch", label: "Watch", make: () => figure("Apple Watch", "watches", settings, element("div", { class: "watch" },
      element("div", { class: "watch-time", "aria-hidden": "true" }, timeOf(push)),
      element("div", { class: "smart-stack" }, element("div", { class: "smart-head" }, leading(), trailing()),
        part("title", "Center", island.center ?? lock.title, 2), bar(island.progress ?? lock.progress))),
    ["In the Smart Stack. Without a layout of the app for this size, the watch shows the compact views."]) },
    { title: "CarPlay", make: () => figure("CarPlay", "car", settings, [
      element("div", { class: "side", "aria-hidden": "true" }, element("span", {}, timeOf(push))), element("div", { class: "map" }),
      element("div", { class: "car-activity" }, leading(), element("div", { class: "text" }, part("title", "Center", island.center ?? lock.title)), trailing()),
    ], ["On the Dashboard, from iOS 26."]) },
    { title: "Mac", make: () => figure("Mac", "mac", settings, element("div", { class: "menu-bar" }, element("span", {}, "Finder"), element("i"),
      element("div", { class: "menu-activity" }, leading(), ring(island.ring), trailing()), glyph("wifi", 11), glyph("battery", 11),
      element("span", { "aria-hidden": "true" }, `${dayOf(push)}  ${timeOf(push)}`)), ["In the menu bar of a paired Mac, from macOS 26."]) },
  ]
}

const templated = ({ title, subtitle, trailing, progress }) =>
  ({ headline: title ?? "", subhead: subtitle ?? "", state: trailing ?? "", progress: fraction(progress) })

function card(push, lock, hasEnded) {
  return element("div", { class: "activity glass", "data-overflow": "Taller than 160 points. The device cuts off the rest." },
    icon(push),
    element("div", { class: "text" },
      part("title", "Title", lock.title), part("subtitle", "Subtitle", lock.subtitle, 2), bar(lock.progress),
      part("foot", "Bottom", lock.bottom)),
    part("trailing", "Trailing text", hasEnded ? "ended" : lock.trailing))
}

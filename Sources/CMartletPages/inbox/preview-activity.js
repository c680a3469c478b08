// SPDX-License-Identifier: Apache-2.0

// Previews of Live Activities on the Lock Screen and in StandBy, and of the other surfaces of a template.

import { element } from "./dom.js"
import { bannerFigure } from "./preview-card.js"
import { islandFigures } from "./preview-island.js"
import { bar, clock, icon, night, part } from "./preview-parts.js"
import { figure } from "./preview-screen.js"
import { fraction, slots } from "./preview-template.js"
import { accessory, widget } from "./preview-widget.js"

/** The previews of a push to a Live Activity; `context` has the device's other data, such as the template. */
export function activityFigures(push, settings, device, context) {
  const found = slots(push, context)
  const aps = push.payload?.aps ?? {}
  const hasEnded = aps.event === "end"
  const notes = [`Layout: ${found.by}.`]
  if (found.missing?.length) notes.push(`The content state has no ${found.missing.join(", ")}.`)
  const lock = found.lock ?? {}
  const figures = [figure("Lock Screen", "lock", settings, [clock(), card(push, lock, hasEnded)], [
    ...notes, ...(hasEnded ? ["Ended: removed from the Dynamic Island now, and from the Lock Screen within four hours."] : []),
  ])]
  if (device.hasIsland && !hasEnded) figures.push(...islandFigures(push, settings, found.island ?? {}))
  if (!device.hasIsland && aps.alert !== undefined) figures.push(bannerFigure(push, settings))
  if (device.hasIsland) {
    figures.push(figure("StandBy", "standby", settings, card(push, lock, hasEnded)),
      figure("StandBy at night", "standby", settings, night(card(push, lock, hasEnded))))
  }
  if (found.widget) figures.push(figure("Widget", "home", settings, widget("small", push, templated(found.widget))))
  if (found.accessory) {
    figures.push(figure("Accessory", "lock", settings, [clock(), accessory("rectangular", {
      headline: found.accessory.title ?? "", shortText: found.accessory.text, gaugeValue: fraction(found.accessory.progress),
    })]))
  }
  return figures
}

const templated = ({ title, subtitle, trailing, progress }) =>
  ({ headline: title ?? "", subhead: subtitle ?? "", state: trailing ?? "", progress: fraction(progress) })

function card(push, lock, hasEnded) {
  return element("div", { class: "activity", "data-overflow": "Taller than 160 points. The device cuts off the rest." },
    icon(push),
    element("div", { class: "text" },
      part("title", "Title", lock.title), part("subtitle", "Subtitle", lock.subtitle, 2), bar(lock.progress),
      part("foot", "Bottom", lock.bottom)),
    part("trailing", "Trailing text", hasEnded ? "ended" : lock.trailing))
}

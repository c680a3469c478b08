// SPDX-License-Identifier: Apache-2.0

// Previews of widgets, controls, Lock Screen accessories and StandBy views, from the entries stored for the app.

import { element } from "./dom.js"
import { app } from "./push.js"
import { bar, clock, icon, night, part, ring } from "./preview-parts.js"
import { figure } from "./preview-screen.js"

const sizes = { small: "systemSmall", medium: "systemMedium", large: "systemLarge" }
const shapes = { circular: "accessoryCircular", rectangular: "accessoryRectangular", inline: "accessoryInline" }

/** The previews of a push that reloads widgets or controls, from the stored surfaces. */
export function reloadFigures(push, settings, device, surfaces, kinds) {
  const stored = kinds.filter((kind) => surfaces[kind]?.entry)
  const missing = kinds.filter((kind) => !stored.includes(kind)).map((kind) => `PUT /api/v1/surfaces/${app(push)}/${kind}`)
  const notice = element("p", { class: "reload" }, element("strong", {}, "Reload requested. "),
    stored.length
      ? "The push has no content. The previews show the stored entries."
      : "The push has no content. To see a preview, upload a LiveSurfaces snapshot or the app's entry with"
        + ` ${missing.join(" or ")}.`)
  return [notice, ...stored.flatMap((kind) => figures[kind](push, settings, surfaces[kind].entry, device))]
}

const figures = {
  widget: (push, settings, entry) => preferredFirst(sizes, entry.family).map(([size, family]) =>
    figure(`Widget ${size}`, "home", settings, widget(size, push, entry), hint(family, entry.family))),
  control: (push, settings, entry) => [figure("Control", "control-center", settings,
    [control(push, entry, "wide"), control(push, entry, "round")])],
  lockAccessory: (push, settings, entry) => preferredFirst(shapes, entry.family).map(([shape, family]) =>
    figure(`Accessory ${shape}`, "lock", settings,
      shape === "inline" ? [accessory(shape, entry), clock()] : [clock(), accessory(shape, entry)],
      hint(family, entry.family))),
  standby: (push, settings, entry, device) => (device.hasIsland ? [
    figure("StandBy card", "standby", settings, standBy(push, entry), hint("card", entry.presentation)),
    figure("StandBy night", "standby", settings, night(standBy(push, entry)), hint("night", entry.presentation)),
  ] : []),
}

/** The size or shape that an entry names first, then the others. */
const preferredFirst = (all, preferred) => Object.entries(all).sort(([, one], [, other]) => (other === preferred) - (one === preferred))
const hint = (each, preferred) => (preferred === each ? ["Requested by the entry."] : [])
const stateTitles = { bad_timing: "Waiting", completed: "Done" }
const stateTitle = (state) => stateTitles[state] ?? (state ? state[0].toUpperCase() + state.slice(1) : "")

export function widget(size, push, entry) {
  const lines = { small: 2, medium: 2, large: 6 }[size]
  return element("div", { class: `widget ${size}`, "data-overflow": "The content does not fit. The widget cuts off the rest." },
    element("div", { class: "top" }, icon(push), part("foot", "State", stateTitle(entry.state))),
    part("title", "Headline", entry.headline, 2), part("subtitle", "Subhead", entry.subhead, lines),
    bar(entry.progress))
}

function control(push, entry, shape) {
  const isOn = entry.value === true
  return element("div", { class: `control ${shape}${isOn ? " on" : ""}` },
    icon(push),
    shape === "wide" ? element("div", { class: "text" }, part("title", "Label", entry.label, 2),
      entry.controlKind === "toggle" ? element("div", { class: "foot" }, isOn ? "On" : "Off") : null) : null)
}

export function accessory(shape, entry) {
  const short = entry.shortText ?? entry.headline
  if (shape === "inline") return element("div", { class: "accessory inline" }, part("word", "Text", short))
  if (shape === "circular") {
    return element("div", { class: "accessory circular" }, ring(entry.gaugeValue), part("word", "Short text", short, 2))
  }
  return element("div", { class: "accessory rectangular", "data-overflow": "The content does not fit. The device cuts off the rest." },
    part("title", "Title", entry.headline), part("foot", "Short text", entry.shortText), bar(entry.gaugeValue))
}

function standBy(push, entry) {
  const style = entry.tint === "monochrome" ? "activity monochrome" : "activity"
  return element("div", { class: style, "data-overflow": "Taller than 160 points. The device cuts off the rest." },
    icon(push),
    element("div", { class: "text" },
      part("title", "Headline", entry.headline), part("subtitle", "Subhead", entry.subhead, 2), bar(entry.progress)),
    part("trailing", "State", stateTitle(entry.state)))
}

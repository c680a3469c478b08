// SPDX-License-Identifier: Apache-2.0

// Previews of widgets, controls, Lock Screen accessories and StandBy views, from the entries stored for the app.

import { element } from "./dom.js"
import { app } from "./push.js"
import { bar, box, icon, lockScreen, night, part, ring } from "./preview-parts.js"
import { stateOf } from "./preview-language.js"
import { surface } from "./preview-screen.js"

const sizes = { small: "systemSmall", medium: "systemMedium", large: "systemLarge" }
const shapes = { circular: "accessoryCircular", rectangular: "accessoryRectangular", inline: "accessoryInline" }

/** The surfaces of a push that reloads widgets or controls, from the stored entries. */
export function reloadSurfaces(push, { surfaces = {} }, device, kinds) {
  return kinds.filter((kind) => surfaces[kind]?.entry).flatMap((kind) => made[kind](push, surfaces[kind].entry, device))
}

/** The message that a reload has no content, and which entries could be stored. */
export function reloadNotice(push, { surfaces = {} }, kinds) {
  const missing = kinds.filter((kind) => !surfaces[kind]?.entry).map((kind) => `PUT /api/v1/surfaces/${app(push)}/${kind}`)
  return element("p", { class: "reload" }, element("strong", {}, "Reload requested. "), missing.length < kinds.length
    ? "The push has no content. The previews show the stored entries."
    : `The push has no content. To see a preview, upload a LiveSurfaces snapshot or the app's entry with ${missing.join(" or ")}.`)
}

const made = {
  widget: (push, entry) => preferredFirst(sizes, entry.family).map(([size, family]) =>
    surface(`Widget ${size}`, "home", () => widgets(size, push, entry), { notes: hint(family, entry.family) })),
  control: (push, entry) =>
    [surface("Control", "control-center", () => [control(push, entry, "wide"), control(push, entry, "round")])],
  lockAccessory: (push, entry) => preferredFirst(shapes, entry.family).map(([shape, family]) =>
    surface(`Accessory ${shape}`, "lock top",
      () => lockScreen(push, [], { [shape === "inline" ? "above" : "widgets"]: accessory(shape, entry) }), { notes: hint(family, entry.family) })),
  standby: (push, entry, device) => (device.hasIsland ? [
    surface("StandBy card", "standby", () => standBy(push, entry), { label: "StandBy", notes: hint("card", entry.presentation) }),
    surface("StandBy night", "standby", () => night(standBy(push, entry)), { label: "At night", notes: hint("night", entry.presentation) }),
  ] : []),
}

/** The size or shape that an entry names first, then the others. */
const preferredFirst = (all, preferred) => Object.entries(all).sort(([, one], [, other]) => (other === preferred) - (one === preferred))
const hint = (each, preferred) => () => [preferred === each && "Requested by the entry."]
const stateTitles = { bad_timing: "Waiting", completed: "Done" }
const stateTitle = (state) => stateTitles[state] ?? (state ? state[0].toUpperCase() + state.slice(1) : "")

/** A widget in each appearance of the Home Screen: full colour, tinted and clear. */
export const widgets = (size, push, entry) => [["", "Full colour"], ["tinted", "Tinted"], ["clear glass", "Clear"]].map(([style, name]) =>
  box("widget-cell", widget(size, push, entry, style, style === ""), element("span", {}, name)))

/** A widget; `isReported` lists truncated text below. */
function widget(size, push, entry, style, isReported) {
  const lines = { small: 2, medium: 2, large: 6 }[size]
  const line = (kind, name, ...rest) => part(kind, isReported ? name : null, ...rest)
  return element("div", { class: `widget ${size} ${style}`, "data-overflow": isReported ? "The content does not fit. The widget cuts off the rest." : null },
    box("top", icon(push), line("foot", "State", stateTitle(entry.state))),
    line("title", "Headline", entry.headline, 2), line("subtitle", "Subhead", entry.subhead, lines),
    bar(entry.progress))
}

function control(push, entry, shape) {
  const isOn = entry.value === true
  return box(`control ${shape}${isOn ? " on" : ""}`,
    icon(push),
    shape === "wide" ? box("text", part("title", "Label", entry.label, 2),
      entry.controlKind === "toggle" ? box("foot", stateOf(isOn)) : null) : null)
}

export function accessory(shape, entry) {
  const short = entry.shortText ?? entry.headline
  if (shape === "inline") return box("accessory inline", part("word", "Text", short))
  if (shape === "circular") {
    return box("accessory circular", ring(entry.gaugeValue), part("word", "Short text", short, 2))
  }
  return element("div", { class: "accessory rectangular", "data-overflow": "The content does not fit. The device cuts off the rest." },
    part("title", "Title", entry.headline), part("foot", "Short text", entry.shortText), bar(entry.gaugeValue))
}

function standBy(push, entry) {
  const style = entry.tint === "monochrome" ? "activity monochrome" : "activity"
  return element("div", { class: style, "data-overflow": "Taller than 160 points. The device cuts off the rest." },
    icon(push),
    box("text",
      part("title", "Headline", entry.headline), part("subtitle", "Subhead", entry.subhead, 2), bar(entry.progress)),
    part("trailing", "State", stateTitle(entry.state)))
}

// Widgets, controls, Lock Screen accessories and StandBy views, of what the app has stored for them.

import { element } from "./dom.js"
import { app } from "./inbox.js"
import { bar, clock, icon, night, part, ring } from "./preview-parts.js"
import { figure } from "./preview-screen.js"

const sizes = { small: "systemSmall", medium: "systemMedium", large: "systemLarge" }
const shapes = { circular: "accessoryCircular", rectangular: "accessoryRectangular", inline: "accessoryInline" }

/** The previews of a push that has widgets or controls reloaded; what they show, the app has stored. */
export function reloadFigures(push, settings, device, surfaces, kinds) {
  const stored = kinds.filter((kind) => surfaces[kind]?.entry)
  const missing = kinds.filter((kind) => !stored.includes(kind)).map((kind) => `PUT /api/v1/surfaces/${app(push)}/${kind}`)
  const notice = element("p", { class: "reload" }, element("strong", {}, "Reload requested. "),
    stored.length
      ? "The push says only that something changed: this is what the app has stored."
      : "The push says only that something changed. To see what would be shown, give a LiveSurfaces snapshot, or the entry"
        + ` that the app stores, to ${missing.join(" or ")}.`)
  return [notice, ...stored.flatMap((kind) => figures[kind](push, settings, surfaces[kind].entry, device))]
}

const figures = {
  widget: (push, settings, entry) => meantFirst(sizes, entry.family).map(([size, family]) =>
    figure(`Widget ${size}`, "home", settings, widget(size, push, entry), hint(family, entry.family))),
  control: (push, settings, entry) => [figure("Control", "control-center", settings,
    [control(push, entry, "wide"), control(push, entry, "round")])],
  lockAccessory: (push, settings, entry) => meantFirst(shapes, entry.family).map(([shape, family]) =>
    figure(`Accessory ${shape}`, "lock", settings,
      shape === "inline" ? [accessory(shape, entry), clock()] : [clock(), accessory(shape, entry)],
      hint(family, entry.family))),
  standby: (push, settings, entry, device) => (device.hasIsland ? [
    figure("StandBy card", "standby", settings, standBy(push, entry), hint("card", entry.presentation)),
    figure("StandBy night", "standby", settings, night(standBy(push, entry)), hint("night", entry.presentation)),
  ] : []),
}

/** What an entry is meant for first, then what else there is. */
const meantFirst = (all, meant) => Object.entries(all).sort(([, one], [, other]) => (other === meant) - (one === meant))
const hint = (each, meant) => (meant === each ? ["The one that the entry is meant for."] : [])
const words = { bad_timing: "Waiting", completed: "Done" }
const stateWord = (state) => words[state] ?? (state ? state[0].toUpperCase() + state.slice(1) : "")

export function widget(size, push, entry) {
  const lines = { small: 2, medium: 2, large: 6 }[size]
  return element("div", { class: `widget ${size}`, "data-crowds": "There is more than fits: the widget cuts the rest off." },
    element("div", { class: "top" }, icon(push), part("foot", "The state", stateWord(entry.state))),
    part("title", "The headline", entry.headline, 2), part("subtitle", "The subhead", entry.subhead, lines),
    bar(entry.progress))
}

function control(push, entry, shape) {
  const isOn = entry.value === true
  return element("div", { class: `control ${shape}${isOn ? " on" : ""}` },
    icon(push),
    shape === "wide" ? element("div", { class: "text" }, part("title", "The label", entry.label, 2),
      entry.controlKind === "toggle" ? element("div", { class: "foot" }, isOn ? "On" : "Off") : null) : null)
}

export function accessory(shape, entry) {
  const short = entry.shortText ?? entry.headline
  if (shape === "inline") return element("div", { class: "accessory inline" }, part("word", "The text", short))
  if (shape === "circular") {
    return element("div", { class: "accessory circular" }, ring(entry.gaugeValue), part("word", "The short text", short, 2))
  }
  return element("div", { class: "accessory rectangular", "data-crowds": "There is more than fits: the rest is cut off." },
    part("title", "The title", entry.headline), part("foot", "The short text", entry.shortText), bar(entry.gaugeValue))
}

function standBy(push, entry) {
  const style = entry.tint === "monochrome" ? "activity monochrome" : "activity"
  return element("div", { class: style, "data-crowds": "It is higher than 160 points: the phone cuts the rest off." },
    icon(push),
    element("div", { class: "text" },
      part("title", "The headline", entry.headline), part("subtitle", "The subhead", entry.subhead, 2), bar(entry.progress)),
    part("trailing", "The state", stateWord(entry.state)))
}

// SPDX-License-Identifier: Apache-2.0

// Approximate previews of a push, in sandboxed frames that run no scripts.

import { context } from "./api.js"
import { element } from "./dom.js"
import { activityFigures } from "./preview-activity.js"
import { bar, settings } from "./preview-bar.js"
import { notificationFigures } from "./preview-card.js"
import { devices } from "./preview-screen.js"
import { reloadFigures } from "./preview-widget.js"
import { kind } from "./push.js"
import { onStringsChange } from "./strings.js"

/** The figures of each kind of push. */
const figuresByKind = {
  alert: (push, look, device, { thread = [] }) => [...notificationFigures(push, look, thread), surfaceNote(push)],
  activity: activityFigures,
  broadcast: activityFigures,
  widgets: (push, look, device, { surfaces = {} }) =>
    reloadFigures(push, look, device, surfaces, ["widget", "lockAccessory", "standby"]),
  controls: (push, look, device, { surfaces = {} }) => reloadFigures(push, look, device, surfaces, ["control"]),
}

/** The shown push and its container. */
let shown = null

/** The previews of a push, or a sentence if it is not shown to the user; `signal` cancels their requests. */
export function previews(push, signal) {
  if (push.status !== 200 && !push.deliveries.length) {
    return element("p", {}, `No preview: the push was ${push.status ? "refused" : "not answered"}.`)
  }
  if (!figuresByKind[kind(push)]) return element("p", {}, "No preview: only the app receives this push.")
  shown = { push, signal, container: element("div", { class: "previews", "data-number": push.number }) }
  show(shown)
  return shown.container
}

onStringsChange(() => { if (shown?.container.isConnected) show(shown) })

async function show(target) {
  const { push, signal, container } = target
  const version = target.version = (target.version ?? 0) + 1
  container.setAttribute("aria-busy", "true")
  const data = await context(push.number, signal).catch(() => ({}))
  const look = { ...settings, room: container.clientWidth || Infinity }
  const figures = await Promise.all(figuresByKind[kind(push)](push, look, devices[settings.device], data))
  // The settings may have changed in the meantime.
  if (target.version !== version) return
  container.replaceChildren(bar(() => show(target)), ...figures.filter(Boolean),
    element("p", { class: "disclaimer" }, "Approximation: Apple's documented sizes, other fonts, and margins based on observation."))
  // A screen has its layout when its frame has loaded the style sheet.
  await Promise.all([...container.querySelectorAll("iframe")].map((frame) => new Promise((resolve) => {
    frame.addEventListener("load", resolve, { once: true })
  })))
  if (target.version === version) container.setAttribute("aria-busy", "false")
}

/** The content of a LiveSurfaces notification for the app. */
function surfaceNote(push) {
  const surface = push.payload?.liveSurface
  if (surface?.kind !== "surface_snapshot") return null
  return element("p", { class: "note-below" },
    `LiveSurfaces: ${surface.surfaceId} is ${surface.state}, revision ${surface.snapshotId}; a tap opens ${surface.deepLink}.`)
}

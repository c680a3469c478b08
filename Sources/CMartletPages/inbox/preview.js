// A push as phones would show it: an approximation, in frames that run no scripts and ask for nothing.

import { context } from "./api.js"
import { element } from "./dom.js"
import { kind } from "./inbox.js"
import { activityFigures } from "./preview-activity.js"
import { bar, settings } from "./preview-bar.js"
import { notificationFigures } from "./preview-card.js"
import { devices } from "./preview-screen.js"
import { reloadFigures } from "./preview-widget.js"
import { onWords } from "./strings.js"

/** What each kind of push is shown as. */
const shows = {
  alert: (push, looks, device, { thread = [] }) => [...notificationFigures(push, looks, thread), sidecar(push)],
  activity: activityFigures,
  broadcast: activityFigures,
  widgets: (push, looks, device, { surfaces = {} }) =>
    reloadFigures(push, looks, device, surfaces, ["widget", "lockAccessory", "standby"]),
  controls: (push, looks, device, { surfaces = {} }) => reloadFigures(push, looks, device, surfaces, ["control"]),
}

/** The push that is shown, and where. */
let shown = null

/** Previews of a push, or a sentence where a person sees nothing; `signal` ends what they ask for. */
export function previews(push, signal) {
  if (push.status !== 200 && !push.deliveries.length) {
    return element("p", {}, `It was ${push.status ? "refused" : "not answered"}: no phone shows it.`)
  }
  if (!shows[kind(push)]) return element("p", {}, "A person sees nothing of it: it is for the app.")
  shown = { push, signal, place: element("div", { class: "previews", "data-number": push.number }) }
  show(shown)
  return shown.place
}

onWords(() => { if (shown?.place.isConnected) show(shown) })

async function show(what) {
  const { push, signal, place } = what
  const version = what.version = (what.version ?? 0) + 1
  place.setAttribute("aria-busy", "true")
  const around = await context(push.number, signal).catch(() => ({}))
  const looks = { ...settings, room: place.clientWidth || Infinity }
  const figures = await Promise.all(shows[kind(push)](push, looks, devices[settings.device], around))
  // Somebody may have chosen something else meanwhile.
  if (what.version !== version) return
  place.replaceChildren(bar(() => show(what)), ...figures.filter(Boolean),
    element("p", { class: "apology" }, "An approximation: Apple's sizes, other fonts, and margins taken from looking at phones."))
  place.setAttribute("aria-busy", "false")
}

/** What a LiveSurfaces notification tells the app. */
function sidecar(push) {
  const side = push.payload?.liveSurface
  if (side?.kind !== "surface_snapshot") return null
  return element("p", { class: "note-below" },
    `LiveSurfaces: ${side.surfaceId} is ${side.state}, revision ${side.snapshotId}; a tap opens ${side.deepLink}.`)
}

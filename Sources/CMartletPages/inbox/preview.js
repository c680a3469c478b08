// SPDX-License-Identifier: Apache-2.0

// Approximate previews of a push on the surfaces of Apple's devices, in shadow trees that contain nothing but text.

import { context } from "./api.js"
import { facts } from "./components.js"
import { element } from "./dom.js"
import { icon } from "./icons.js"
import { activitySurfaces } from "./preview-activity.js"
import { bar, chosenSurface, everySurface, settings, surfaceChoice } from "./preview-bar.js"
import { phoneSurfaces } from "./preview-card.js"
import { categoryForm } from "./preview-categories.js"
import { otherSurfaces } from "./preview-elsewhere.js"
import { notification } from "./preview-notification.js"
import { devices, ready } from "./preview-screen.js"
import { reloadNotice, reloadSurfaces } from "./preview-widget.js"
import { app, kind } from "./push.js"
import { onStringsChange } from "./strings.js"

const reloads = { widgets: ["widget", "lockAccessory", "standby"], controls: ["control"] }
const alerts = (push, look, data) => [...phoneSurfaces(push, look, data), ...otherSurfaces(push, look, data)]
const reload = (push, look, data, device) => reloadSurfaces(push, look, data, device, reloads[kind(push)])
/** The surfaces of each kind of push. */
const surfacesByKind = { alert: alerts, activity: activitySurfaces, broadcast: activitySurfaces, widgets: reload, controls: reload }

const caption = "Approximation: sizes are Apple's where it documents them; fonts, glass and margins are based on observation. The app's own interface is not drawn."
/** The scale of phones that are shown side by side. */
const sideBySideScale = 0.62
/** The width beside a single surface that its facts need. */
const factsWidth = 260

/** The shown push and its container. */
let shown = null
/** The last contexts by device and app, with which another push of the same activity is drawn at once. */
const contexts = new Map()
const maximumContexts = 50

/** The previews of a push, or a sentence if it is not shown to the user; `signal` cancels their requests. */
export function previews(push, signal) {
  if (!surfacesByKind[kind(push)] || push.payload === null || typeof push.payload !== "object") {
    return element("p", {}, push.payload === undefined ? "No preview: the payload is not JSON." : "No preview: only the app receives this push.")
  }
  const container = element("div", { class: "previews", "data-number": push.number, "aria-busy": "true" })
  shown = { push, signal, container, previous: shown?.container }
  show(shown)
  return container
}

onStringsChange(() => { if (shown?.container.isConnected) show(shown) })

async function show(target) {
  const { push, signal, container, previous } = target
  const version = target.version = (target.version ?? 0) + 1
  container.setAttribute("aria-busy", "true")
  await ready
  // The caller has replaced the previous previews by now. They stay visible until the new ones are drawn.
  if (previous && !previous.isConnected && container.childElementCount === 0) container.replaceChildren(...previous.childNodes)
  target.previous = undefined
  const key = [kind(push), app(push), push["device-token"] ?? push.channel].join(" ")
  const known = contexts.get(key)
  if (known || !needsContext(push)) await draw(target, version, known ?? {})
  const found = push.number === undefined ? {} : await context(push.number, signal).catch(() => known ?? {})
  if (target.version !== version) return
  const isDrawn = known ? JSON.stringify(known) === JSON.stringify(found) : !needsContext(push)
  contexts.set(key, found)
  if (contexts.size > maximumContexts) contexts.delete(contexts.keys().next().value)
  if (!isDrawn) await draw(target, version, found)
  if (target.version === version) container.setAttribute("aria-busy", "false")
}

/** Whether the chosen surface shows more than the push itself. */
function needsContext(push) {
  if (kind(push) !== "alert") return true
  const surfaces = alerts(push, settings, {})
  const chosen = chosenSurface("alert", surfaces)
  return chosen === everySurface || surfaces.some(({ title, needsContext: isNeeded }) => isNeeded && title === chosen)
}

/** Draws the chosen surfaces, each in a task of its own when there are several. */
async function draw(target, version, data) {
  const { push, container } = target
  const [group, isAlert] = [kind(push) === "broadcast" ? "activity" : kind(push), kind(push) === "alert"]
  const width = container.clientWidth || Infinity
  const look = { ...settings, room: width, limit: 1, direction: direction(push) }
  const surfaces = surfacesByKind[kind(push)](push, look, data, devices[settings.device])
  const chosen = chosenSurface(group, surfaces)
  const isWall = chosen === everySurface
  if (isWall) look.limit = width < 480 ? 1 : sideBySideScale
  else if (width > 2 * factsWidth) look.room = width - factsWidth - 24
  const figures = []
  for (const surface of surfaces) {
    if (!isWall && surface.title !== chosen) continue
    figures.push(surface.make())
    if (isWall) await new Promise((resolve) => { setTimeout(resolve) })
    if (target.version !== version) return
  }
  const redraw = () => show(target)
  const focused = container.contains(document.activeElement) ? document.activeElement : null
  const mark = focused?.dataset.value ?? focused?.getAttribute("aria-label")
  const verdict = verdictNote(push)
  container.toggleAttribute("data-muted", verdict !== null)
  container.replaceChildren(...[
    verdict, surfaces.length > 1 ? surfaceChoice(group, surfaces, redraw) : null, bar(redraw),
    reloads[kind(push)] ? reloadNotice(push, data, reloads[kind(push)]) : null,
    isAlert ? notification(push).missing.map((text) => element("p", { class: "missing-string" }, text)) : null,
    element("div", { class: isWall ? "wall" : "stage" }, figures, isAlert ? alertFacts(push, redraw) : null),
    element("p", { class: "disclaimer" }, caption),
  ].flat().filter(Boolean))
  if (mark) container.querySelector(`[data-value="${CSS.escape(mark)}"], [aria-label="${CSS.escape(mark)}"]`)?.focus()
}

/** The writing direction of the phone: that of the chosen language, or of the first letter of a notification. */
function direction(push) {
  if (settings.language) return /^(ar|arc|ckb|dv|fa|he|iw|ks|ps|sd|ug|ur|yi)\b/.test(settings.language) ? "rtl" : "ltr"
  const { title, body } = kind(push) === "alert" ? notification(push) : {}
  return /^[^\p{L}]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u.test((title ?? body)?.text ?? "") ? "rtl" : "ltr"
}

/** What became of a push that the phone does not show; null for one that it shows. */
function verdictNote(push) {
  const verdict = push.verdict ?? (push.status === 200 || push.number === undefined ? null
    : { kind: push.status ? "refused" : "unanswered", text: push.status ? `Refused: ${push.status} ${push.reason ?? ""}`.trim() : "Not answered" })
  const starts = {
    replaced: "No longer shown on the phone", ended: "No longer shown on the phone", stored: "Not shown on the phone yet", "not-shown": "Not shown on the phone",
    discarded: "Not shown on the phone", refused: "Not shown on the phone", unanswered: "Not shown on the phone",
  }
  if (!verdict || !Object.hasOwn(starts, verdict.kind)) return null
  const reason = String(verdict.text ?? "").replace(/^not shown\s*[:·]?\s*/i, "").replace(/[.\s]+$/, "")
  const wasShown = verdict.kind === "replaced"
  return element("p", { class: "verdict preview-verdict", "data-tone": verdict.kind === "stored" ? "warning" : wasShown || verdict.kind === "ended" ? "" : "bad",
    "data-verdict": verdict.kind }, icon("hidden"), element("span", { dir: "auto" },
    `${starts[verdict.kind]}${reason ? `: ${reason}` : ""}. This is how it ${wasShown ? "looked" : "would look"}.`))
}

/** The facts of a notification that no picture shows. */
function alertFacts(push, redraw) {
  const found = notification(push)
  const surface = push.payload.liveSurface
  const list = (items) => items.map((text) => element("div", { dir: "auto" }, text))
  const files = found.attachments.map(({ name, type, place }) => (found.isMutable
    ? `${name} (${type}, ${place}), if the app's service extension attaches it; never loaded here`
    : `Not attached: aps.mutable-content is missing, so no extension loads ${name} (${place})`))
  return element("aside", { class: "preview-facts", "aria-label": "Facts" },
    facts({
      ...found.facts,
      Sender: found.sender ? (found.isMutable
        ? `${found.sender.name} (${found.sender.place}), if the service extension donates an INSendMessageIntent`
        : `Shown as a plain notification: aps.mutable-content is missing, so no extension adds ${found.sender.name} as the sender`) : null,
      Attachment: files.length ? list(files) : null, Thread: found.thread, Category: found.category,
      Relevance: found.relevance === undefined ? null : String(found.relevance),
      LiveSurfaces: surface?.kind === "surface_snapshot"
        ? `${surface.surfaceId} is ${surface.state}, revision ${surface.snapshotId}; a tap opens ${surface.deepLink}.` : null,
    }),
    found.category ? categoryForm(app(push), found.category, redraw) : null)
}

// SPDX-License-Identifier: Apache-2.0

// Approximate previews of a push on the surfaces of Apple's devices, in shadow trees that contain nothing but text.

import { context } from "./api.js"
import { facts } from "./components.js"
import { element } from "./dom.js"
import { icon } from "./icons.js"
import { activitySurfaces } from "./preview-activity.js"
import { bar, chosenSurface, everySurface, settings, surfaceChoice } from "./preview-bar.js"
import { otherSurfaces, phoneSurfaces } from "./preview-card.js"
import { categoryForm } from "./preview-categories.js"
import { direction, languageName } from "./preview-language.js"
import { notification } from "./preview-notification.js"
import { pictureField } from "./preview-pictures.js"
import { devices, ready } from "./preview-screen.js"
import { reloadNotice, reloadSurfaces } from "./preview-widget.js"
import { app, kind } from "./push.js"
import { onStringsChange, phoneLanguage, substituteLanguage } from "./strings.js"
import { verdictKind, verdictText, verdictTone } from "./verdict.js"

const reloads = { widgets: ["widget", "lockAccessory", "standby"], controls: ["control"] }
const alerts = (push, data) => [...phoneSurfaces(push, data), ...otherSurfaces(push, data)]
const reload = (push, data, device) => reloadSurfaces(push, data, device, reloads[kind(push)])
/** The surfaces of each kind of push. */
const surfacesByKind = { alert: alerts, activity: activitySurfaces, broadcast: activitySurfaces, widgets: reload, controls: reload }

const caption = "Approximation: sizes are Apple's where it documents them; fonts, glass and margins are based on observation, and a low window shortens phones."
  + " An app's own interface is not drawn."
/** The scale of phones that are shown side by side. */
const sideBySideScale = 0.62
/** The height that shortens phones side by side, so that the first row has their lower edge. */
const sideBySideHeight = 384
/** The width beside a single surface that its facts need. */
const factsWidth = 280
/** The least distance of previews from the top of the window, and the height of the choices above a surface. */
const [leastTop, choiceHeight] = [200, 60]

/** The pushes with previews in the page, by their container. */
const targets = new Map()
/** The difference of the width that makes another scale worthwhile, which is more than a scroll bar. */
const resizeStep = 20
/** Draws previews again when their width changes. */
const resizes = new ResizeObserver((entries) => entries.forEach(({ target: container }) => {
  const target = targets.get(container)
  if (target?.width && container.isConnected && Math.abs(container.clientWidth - target.width) > resizeStep) show(target)
}))
/** The last context and its push, device and app: another push of the same activity is drawn with it at once. */
let last = {}

/** The previews of a push, or a sentence if it is not shown to the user; `signal` cancels their requests. */
export function previews(push, signal) {
  if (push.payload === null || typeof push.payload !== "object") return element("p", {}, "No preview: the payload is not JSON.")
  if (!surfacesByKind[kind(push)]) return element("p", {}, hiddenText(push))
  const container = element("div", { class: "previews", "data-number": push.number, "aria-busy": "true" })
  const previous = [...targets.keys()].pop()
  targets.set(container, { push, signal, container, previous, version: 0 })
  resizes.observe(container)
  show(targets.get(container))
  return container
}

/** Draws all previews of the page again: two pushes are compared on the same surface. */
const showAll = () => targets.forEach((target) => { if (target.container.isConnected) show(target) })
onStringsChange(showAll)

async function show(target) {
  const { push, signal, container, previous } = target
  const version = target.version += 1
  container.setAttribute("aria-busy", "true")
  await ready
  // The caller inserts the container after a few jobs, before the page is painted.
  for (let jobs = 0; jobs < 20 && !container.isConnected; jobs += 1) await null
  // The previous previews, which the caller has replaced, stay visible until the new ones are drawn.
  if (previous && !previous.isConnected && !container.firstChild) container.replaceChildren(...previous.childNodes)
  target.previous = null
  for (const other of targets.keys()) if (!other.isConnected && other !== container) targets.delete(other)
  const key = [kind(push), app(push), push["device-token"] ?? push.channel].join(" ")
  const known = last.key !== key ? (needsContext(push) ? null : {})
    : last.number === push.number ? last.data : { ...last.data, strings: undefined }
  if (known) await draw(target, version, known)
  const found = push.number === undefined ? {} : await context(push.number, signal).catch(() => known ?? {})
  if (target.version !== version) return
  last = { key, number: push.number, data: found }
  const shown = (data) => JSON.stringify(needsContext(push) ? data : data.strings)
  if (!known || shown(known) !== shown(found)) await draw(target, version, found)
  if (target.version === version) container.setAttribute("aria-busy", "false")
}

/** Whether the chosen surface shows more than the push itself. */
function needsContext(push) {
  if (kind(push) !== "alert") return true
  const surfaces = alerts(push, {})
  const chosen = chosenSurface("alert", surfaces)
  return chosen === everySurface || surfaces.find(({ title }) => title === chosen).needsContext === true
}

/** Draws the chosen surfaces, each in a task of its own when there are several. */
async function draw(target, version, data) {
  const { push, container } = target
  const isAlert = kind(push) === "alert"
  const group = kind(push) === "broadcast" ? "activity" : kind(push)
  const width = target.width = container.clientWidth || Infinity
  const isWide = width > 2 * factsWidth
  const look = {
    ...settings, room: isWide ? width - factsWidth : width, limit: 1, direction: direction(),
    tall: innerHeight - Math.max(leastTop, container.getBoundingClientRect().top) - choiceHeight,
  }
  const surfaces = surfacesByKind[kind(push)](push, data, devices[settings.device])
  const chosen = chosenSurface(group, surfaces)
  const isWall = chosen === everySurface
  if (isWall) Object.assign(look, { room: width, limit: width < 480 ? 1 : sideBySideScale, tall: sideBySideHeight })
  const figures = []
  for (const { title, make } of surfaces) {
    if (!isWall && title !== chosen) continue
    figures.push(make(look))
    if (isWall) await new Promise((resolve) => { setTimeout(resolve) })
    if (target.version !== version) return
  }
  const redraw = showAll
  const focused = container.contains(document.activeElement) ? document.activeElement : null
  const verdict = verdictNote(push)
  container.toggleAttribute("data-muted", verdict !== null)
  container.replaceChildren(...[
    verdict, surfaces.length > 1 ? surfaceChoice(group, surfaces, redraw) : null, isWall ? bar(redraw) : null,
    reloads[kind(push)] ? reloadNotice(push, data, reloads[kind(push)]) : null,
    stringNotes(push, data).map((text) => element("p", { class: "missing-string" }, text)),
    element("div", { class: isWall ? "wall" : isWide ? "stage" : "stage narrow" }, figures, element("div", { class: "beside" },
      isWall ? null : bar(redraw), isAlert ? alertFacts(push, redraw) : group === "activity" ? activityFacts(push) : null)),
    element("p", { class: "disclaimer" }, caption),
  ].flat().filter(Boolean))
  const mark = focused && (focused.dataset.value ?? focused.getAttribute("aria-label"))
  if (mark) container.querySelector(`[data-value="${CSS.escape(mark)}"], [aria-label="${CSS.escape(mark)}"]`)?.focus()
}

/** The keys without a suitable string in each of the app's languages, and the language if the app does not have the phone's. */
function stringNotes(push, data) {
  const { missing: unresolved, isLocalized } = notification(push)
  // The simulator checks all languages of a push that it has received; the page checks the phone's language only.
  const missing = data.strings?.map(({ message }) => message) ?? unresolved
  const found = isLocalized ? substituteLanguage(app(push)) : undefined
  return found === undefined ? missing : [...missing, `The app has no strings in ${languageName(phoneLanguage())}: an iPhone uses its development language,`
    + ` which the strings do not name. Shown: ${languageName(found)}.`]
}

/** The reason for which a push has no preview: the app receives it without a notification, or does not receive it. */
function hiddenText(push) {
  const outcome = verdictKind(push) ?? "delivered"
  if (outcome === "refused") return `No preview: the push was refused (${push.reason ?? push.status}), and the app does not receive it.`
  if (outcome === "unanswered") return "No preview: the push was not answered."
  const reason = push.effects ? `the push has no text, only ${push.effects.join(" and ")}`
    : push["wallet-pass"] ? "Wallet shows nothing of this push, and fetches the new version of the pass" : "only the app receives this push"
  if (["shown", "delivered"].includes(outcome)) return `No preview: ${reason}.`
  return `No preview: ${reason}. ${verdictText(push.verdict).replace(/[.\s]+$/, "")}.`
}

/** The end of the note about a push that is not on the screen. */
const ends = {
  shown: "This is how it looked.", replaced: "This is how it looked.", ended: "This is how it looked.",
  stored: "This is how it will look if the phone shows it.",
  "not-shown": "The phone ignored it: its content below was never on the screen.",
}

/** The start of the note about a push that is not on the screen, where the reason is not an error. */
const starts = {
  shown: "No longer shown on the phone", replaced: "No longer shown on the phone", ended: "No longer shown on the phone", stored: "Not shown on the phone yet",
  delivered: "Nothing of it is visible on the phone",
}

/** A note that the phone does not show the push, and why; null for a push that it shows. */
function verdictNote(push) {
  const verdict = push.verdict ?? (push.status === 200 || push.number === undefined ? null
    : push.status ? { kind: "refused", text: `Refused: ${push.status} ${push.reason ?? ""}` } : { kind: "unanswered", text: "Not answered" })
  const isVisible = verdict?.["on-screen"] ?? verdict?.kind === "shown"
  if (!verdict || isVisible || (verdict.kind === "delivered" && reloads[kind(push)])) return null
  const reason = verdictText(verdict).replace(/^not shown\s*[:·]?\s*/i, "").replace(/[.\s]+$/, "")
  const [start = "Not shown on the phone", end = "This is how it would look if the phone showed it."] = verdict["will-be-ignored"]
    ? [undefined, "The phone will not show it."] : [starts[verdict.kind], ends[verdict.kind]]
  return element("p", { class: "verdict", "data-tone": verdictTone(verdict.kind), "data-verdict": verdict.kind }, icon("hidden"),
    element("span", { dir: "auto" }, `${start}${reason ? `: ${reason}` : ""}. ${end}`))
}

/** The alert of a push to a Live Activity; null if it has none. */
function activityFacts(push) {
  if (push.payload.aps?.alert === undefined) return null
  const { title, subtitle, body, facts: { Sound } } = notification(push)
  return element("aside", { class: "preview-facts", "aria-label": "Alert" }, facts({
    "Alert title": title?.text, "Alert subtitle": subtitle?.text, "Alert body": body?.text, Sound,
    "Where": push.payload.aps.event === "end"
      ? "The alert lights the screen, and an Apple Watch shows its texts. The ended activity is no longer in the Dynamic Island."
      : "The alert lights the screen and expands the Dynamic Island. An iPhone without one shows a banner, and an Apple Watch shows the alert’s texts.",
  }))
}

/** The facts of a notification that no preview shows, and the fields for what only the user knows: pictures and actions. */
function alertFacts(push, redraw) {
  const { facts: found, isMutable, sender, attachments, thread, category, relevance } = notification(push)
  const surface = push.payload.liveSurface
  const missing = "aps.mutable-content is missing, so no service extension"
  return element("aside", { class: "preview-facts", "aria-label": "Facts" },
    facts({
      ...found,
      Sender: sender && (isMutable ? `${sender.name} (${sender.place}), if the service extension donates an INSendMessageIntent`
        : `Not drawn: ${missing} adds ${sender.name}`),
      Attachment: attachments.map((file) => element("div", { dir: "auto" }, isMutable
        ? `${file.name} (${file.type}, ${file.place}), if the service extension attaches it; never loaded here`
        : `Not drawn: ${missing} attaches ${file.name} (${file.place})`,
      isMutable && file.type === "image" ? pictureField(file, redraw) : null)),
      Thread: thread, Category: category, Relevance: relevance,
      LiveSurfaces: surface?.kind === "surface_snapshot"
        ? `${surface.surfaceId} is ${surface.state}, revision ${surface.snapshotId}; a tap opens ${surface.deepLink}.` : null,
    }),
    category ? categoryForm(app(push), category, redraw) : null)
}

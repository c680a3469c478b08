// A push as the phone would show it: an approximation, in a frame that runs no scripts and asks for nothing.

import { element } from "./dom.js"
import { app, kind } from "./inbox.js"

/** Previews of a push, or a sentence where a person sees nothing. */
export function previews(push) {
  if (push.status !== 200) return element("p", {}, "It was refused: no phone shows it.")
  const shown = kind(push)
  if (shown === "activity" || shown === "broadcast") return [frame("Lock Screen", activity(push)), apology()]
  if (shown !== "alert") return element("p", {}, "A person sees nothing of it: it is for the app.")
  return [
    frame("Lock Screen", notification(push, "lock-screen")), frame("Banner", notification(push, "banner")),
    frame("Expanded", notification(push, "expanded")), apology(),
  ]
}

const apology = () => element("p", { class: "apology" }, "An approximation: fonts and margins are not Apple's.")

/** A phone's width of 393 points with something on it. */
function frame(title, content) {
  const page = document.implementation.createHTMLDocument(title)
  const style = page.createElement("link")
  style.rel = "stylesheet"
  style.href = new URL("/page/preview.css", location.href).href
  page.head.append(style)
  page.body.append(page.adoptNode(content))
  const source = `<!doctype html>${page.documentElement.outerHTML}`
  return element("figure", {}, element("figcaption", {}, title),
    element("iframe", { class: "preview", sandbox: "", title, srcdoc: source, width: 393, height: 190 }))
}

function notification(push, style) {
  const alert = push.payload?.aps?.alert
  const { title, subtitle, body } = typeof alert === "string" ? { body: alert } : localized(alert ?? {})
  return element("div", { class: `notification ${style}` },
    icon(push),
    element("div", { class: "text" },
      element("div", { class: "title" }, text(title) ?? app(push)), line("subtitle", subtitle), line("body", body)),
    element("div", { class: "when" }, "now"),
    push.payload.aps.badge ? element("div", { class: "badge" }, String(push.payload.aps.badge)) : null)
}

/** Keys where the app would put its own words. */
function localized(alert) {
  const word = (name) => alert[name]
    ?? (alert[`${name}-loc-key`] && [alert[`${name}-loc-key`], ...(alert[`${name}-loc-args`] ?? [])].join(" "))
  return {
    title: word("title"), subtitle: word("subtitle"),
    body: alert.body ?? (alert["loc-key"] && [alert["loc-key"], ...(alert["loc-args"] ?? [])].join(" ")),
  }
}

/** A Live Activity's layout is the app's own: here likely names find likely places. */
function activity(push) {
  const aps = push.payload?.aps ?? {}
  const state = aps["content-state"] ?? {}
  const entries = Object.entries(state).filter(([, value]) => value === null || typeof value !== "object")
  const pick = (...names) => entries.find(([name]) => names.some((part) => name.toLowerCase().includes(part)))?.[1]
  const progress = entries.find(([name, value]) => /progress|fraction/i.test(name) && value >= 0 && value <= 1)?.[1]
  const shown = [pick("headline", "title", "name", "status", "stage"), pick("subhead", "subtitle", "message", "detail")]
  const rest = entries.filter(([, value]) => !shown.includes(value) && value !== progress)
  return element("div", { class: "activity" },
    icon(push),
    element("div", { class: "text" },
      element("div", { class: "title" }, text(shown[0]) ?? aps["attributes-type"] ?? app(push)),
      line("subtitle", shown[1]),
      progress === undefined ? null : element("progress", { max: 1, value: progress }),
      element("div", { class: "facts" }, rest.slice(0, 4).map(([name, value]) => element("span", {}, `${name} ${value}`)))),
    aps.event === "end" ? element("div", { class: "when" }, "ended") : null)
}

const icon = (push) => element("div", { class: "icon" }, app(push).split(".").pop().slice(0, 1).toUpperCase())
const text = (value) => (value === undefined || value === null ? undefined : String(value))
const line = (name, value) => (text(value) ? element("div", { class: name }, text(value)) : null)

// SPDX-License-Identifier: Apache-2.0

// What is above the tabs of the selected push: its headline, actions, delivery result, facts and tags.

import { request } from "./api.js"
import { absoluteTime, button, chip, copied, facts, iconButton, relativeTime, toast } from "./components.js"
import { element } from "./dom.js"
import { icon, kindIcon } from "./icons.js"
import { app, headline, kind, typeName } from "./push.js"
import { exactTerm } from "./query.js"
import { completeTime } from "./texts.js"
import { eventText, localText, verdictLine, verdictText } from "./verdict.js"

/** The answer of a push as a chip. */
export const answerChip = (push) =>
  chip(push.status ? `${push.status} ${push.reason ?? ""}`.trim() : "no answer", push.status === 200 ? "good" : "bad")

/** The line with the headline, the answer, the age and the actions. */
export function titleBar(push, close, actions) {
  return element("div", { class: "title-bar" },
    iconButton("left", "Back to the list", close, { class: "pane-back" }),
    element("span", { class: "kind", title: typeName(kind(push)) }, icon(kindIcon(kind(push)), 20)),
    element("h2", { title: headline(push), dir: "auto" }, headline(push)),
    answerChip(push), relativeTime(push["time-ms"]),
    element("div", { class: "title-actions", role: "toolbar", "aria-label": "Actions" }, actions))
}

/** The delivery result of the push; each part with a cause links to its place, which `show` opens. */
export function verdict(push, show) {
  const line = verdictLine(push)
  if (!line) return null
  const whole = verdictText(push.verdict)
  const links = [...(push.verdict.parts ?? []).filter(({ place }) => place).map((part) => ({ ...part, text: localText(part.text, push.verdict) })).map((part) => ({
    text: [`${part.text} (${part.cause})`, part.text, part.cause].find((each) => each && whole.includes(each)) ?? part.text,
    // A button would not wrap as text does.
    made: (text) => element("a", {
      href: location.hash, title: `Show ${part.place}`,
      onclick: (event) => {
        event.preventDefault()
        show(part.place)
      },
    }, text),
  })), ...push.verdict["replaced-by"] ? [{
    text: `push ${push.verdict["replaced-by"]}`,
    made: (text) => element("a", { href: `#/push/${push.verdict["replaced-by"]}` }, text),
  }] : []]
  line.lastElementChild.replaceChildren(...linked(whole, links))
  line.setAttribute("aria-label", "Verdict")
  return line
}

/** A text in which the first occurrence of each link's text is an element. */
function linked(text, links) {
  let pieces = [text]
  for (const link of links) {
    const index = pieces.findIndex((piece) => typeof piece === "string" && piece.includes(link.text))
    if (index < 0) continue
    const [before, ...after] = pieces[index].split(link.text)
    pieces = [...pieces.slice(0, index), before, link.made(link.text), after.join(link.text), ...pieces.slice(index + 1)]
  }
  return pieces.filter((piece) => piece !== "")
}

const priorities = { 10: "10, immediate", 5: "5, saves power", 1: "1, does not wake the device" }

/** The expiration of a push, and the end of its storage if APNs does not store it for so long. */
function expiration({ headers: { "apns-expiration": text }, verdict }) {
  if (text === undefined) return null
  if (text === "0") return "0, one attempt"
  if (!/^\d+$/.test(text)) return text
  const time = absoluteTime(Number(text) * 1000)
  return Number(text) > verdict?.until ? [time, ", stored until ", absoluteTime(verdict.until * 1000)] : time
}

const short = (token) => (token.length > 20 ? `${token.slice(0, 8)}…${token.slice(-8)}` : token)

/** The facts of a push, most of which a click copies. */
export function pushFacts(push) {
  const { headers } = push
  const token = push["device-token"]
  const copy = (value, name, shown) => (value ? copied(value, name, shown) : null)
  return facts({
    App: copy(app(push), "app"),
    Device: token === undefined ? null : [
      element("a", { href: `#/devices/${token}`, title: token }, push["device-name"] ?? short(token)), " ", copied(token, "device token", push["device-name"] ? short(token) : "")],
    Channel: copy(push.channel, "channel"),
    Type: [typeName(headers["apns-push-type"] ?? "none"), headers["apns-priority"] ? `, priority ${priorities[headers["apns-priority"]] ?? headers["apns-priority"]}` : ""].join(""),
    Received: [absoluteTime(push["time-ms"]), `, ${push.connection ? `connection ${push.connection}` : "sent through the HTTP interface"}`],
    Expires: expiration(push),
    "Collapse ID": copy(headers["apns-collapse-id"], "collapse ID"),
    Thread: copy(typeof push.payload?.aps?.["thread-id"] === "string" ? push.payload.aps["thread-id"] : null, "thread"),
    "apns-id": copy(push["apns-id"], "apns-id", element("span", { class: "identifier", title: push["apns-id"] }, push["apns-id"])),
    "apns-request-id": copy(push["apns-request-id"], "apns-request-id"),
    Fault: push.fault,
  })
}

/** A tag as a link to the pushes that have it. */
function tagName(tag) {
  const term = exactTerm("tag", tag)
  return element(term === null ? "span" : "a", { href: term === null ? null : `#/?query=${encodeURIComponent(term)}` }, tag)
}

/** The tags of a push, which are edited in place; `draft` is the text of a tag that the user is typing, if any. */
export function tagEditor(push, draft = null) {
  const tags = push.tags ?? []
  const save = (changed) => change(push, { tags: changed })
  const editor = element("div", { class: "chips tags", role: "group", "aria-label": "Tags" })
  const add = (text = "") => {
    const field = element("input", {
      "aria-label": "New tag", class: "tag-field", maxlength: 40, placeholder: "Tag, then Enter",
      onkeydown: (event) => {
        if (event.key === "Escape") end()
        else if (event.key !== "Enter") return
        event.preventDefault()
        event.stopPropagation()
        const tag = field.value.trim()
        if (event.key !== "Enter" || !tag || tags.includes(tag)) return
        end()
        save([...tags, tag])
      },
    })
    field.value = text
    const close = () => show(false)
    const end = () => {
      field.removeEventListener("blur", close)
      show(true)
    }
    field.addEventListener("blur", close)
    editor.lastElementChild.replaceWith(field)
    field.focus()
  }
  const show = (isFocused) => {
    editor.replaceChildren(
      ...tags.map((tag) => element("span", { class: "chip", "data-tone": "accent" },
        tagName(tag),
        element("button", { type: "button", class: "remove", "aria-label": `Remove tag ${tag}`, onclick: () => save(tags.filter((each) => each !== tag)) }, icon("close", 10)))),
      button("Add tag", () => add(), { class: "small quiet", icon: "tag" }))
    if (isFocused) editor.lastElementChild.focus()
  }
  show(false)
  if (draft !== null) add(draft)
  return editor
}

/** Changes the tags or the pin of a push; the simulator's event updates the page. */
export async function change(push, value) {
  try {
    await request(`/api/v1/pushes/${push.number}/tags`, "PUT", value)
  } catch (error) {
    toast(error.message)
  }
}

/** What happened to a push over time: the answer and the deliveries, with the distance from the first event. */
export function timeline(push) {
  const events = [
    { "time-ms": push["time-ms"], kind: `Answered ${push.status || "nothing"} ${push.reason ?? ""}`, note: push.fault ? `fault ${push.fault}` : "" },
    ...push.deliveries ?? [],
  ]
  return element("ol", { class: "deliveries" }, events.map((event) => {
    const [at, by] = [event["time-ms"], event["replaced-by"] ?? event.note?.match(/\bpush (\d+)\b/)?.[1]]
    const note = event.note ? linked(event.note, by ? [{ text: `push ${by}`, made: (text) => element("a", { href: `#/push/${by}` }, text) }] : []) : []
    return element("li", { "data-kind": event.kind },
      element("time", { datetime: new Date(at).toISOString(), title: completeTime(at) }, clock.format(at)),
      element("span", { class: "faint" }, distance(at - push["time-ms"])),
      element("span", {}, element("strong", {}, eventText(event.kind)), note.length ? [" · ", ...note] : null))
  }))
}

const clock = new Intl.DateTimeFormat([], { hour: "numeric", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3 })

const distance = (elapsed) => (elapsed <= 0 ? "" : elapsed < 1000 ? `+${elapsed} ms` : `+${(elapsed / 1000).toFixed(elapsed < 10_000 ? 1 : 0)} s`)

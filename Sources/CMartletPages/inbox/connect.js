// SPDX-License-Identifier: Apache-2.0

// The simulator's addresses, the configuration of common clients, and whether a client has reached the simulator.

import { request, info } from "./api.js"
import { button, copied, copyButton, facts, relativeTime } from "./components.js"
import { element, serverURL } from "./dom.js"
import { icon } from "./icons.js"
import { choice, composeTo, newestPushes, Page, push as pushLink, replaceKeepingFocus, section } from "./pages.js"
import { isRefused, refusal } from "./refusals.js"
import { counted } from "./texts.js"

/** The ends of device tokens that cause a fault, with the fault. */
const faultTokens = [
  ["…00dead", "410 Unregistered"], ["…00deaf", "no response"], ["…000429", "429 TooManyRequests"],
  ["…000503", "503 ServiceUnavailable"], ["…00c105", "connection closed"], ["…00fa11", "connection reset"],
  ["…00e5e7", "stream reset"],
]
/** The client that the user selected last. */
const choiceKey = "martlet-client"

export function open(container) {
  const page = new Page(container, {
    title: "Connect", lead: "Any device token and any signing key are accepted. Configure a client as shown, and its pushes appear in the inbox.",
  })
  const check = element("section", { class: "card reach", "aria-label": "Has a client reached the simulator?", "aria-live": "polite" })
  const content = element("div", { class: "stack" })
  page.body.append(element("div", { class: "stack" }, check, content))
  page.attempt(async () => {
    const [about, { recipes }] = await Promise.all([info(), request("/api/v1/recipes")])
    content.replaceChildren(section("Configure a client", ...clientChoice(recipes)), element("div", { class: "columns" }, addresses(about), authority(about)),
      element("div", { class: "columns" }, waitSection(), faultTokenSection()))
  })
  return page.follow(async (signal) => {
    const [{ open, closed, "open-count": openCount, "closed-count": closedCount, "failed-count": failedCount }, pushes] = await Promise.all([
      request("/api/v1/connections", "GET", undefined, signal), newestPushes("-is:composed", 1, signal),
    ])
    return {
      reached: openCount + closedCount - failedCount, requests: [...open, ...closed].reduce((sum, { requests }) => sum + requests, 0),
      refused: closed.find(isRefused) ?? null, newest: pushes[0] ? { number: pushes[0].number, time: pushes[0].time, status: pushes[0].status } : null,
    }
  }, (state) => replaceKeepingFocus(check, checks(state)))
}

/** The steps from a client that has not connected to the first accepted push, each with whether it was reached. */
function checks({ reached, requests, refused, newest }) {
  const isAccepted = newest?.status === 200
  const step = (isDone, tone, text, ...more) => element("li", { "data-tone": isDone ? "good" : tone, "data-done": String(isDone) },
    icon(isDone ? "shown" : tone === "bad" ? "error" : "stored"), element("div", {}, text, more.length ? element("div", { class: "faint" }, more) : ""))
  const isConnected = reached > 0 || newest !== null
  return [
    element("h3", {}, "Has a client reached the simulator?"),
    element("ol", { class: "checks" },
      isConnected ? step(true, "", reached ? `Connected: ${counted(reached, "connection")}` : "Connected")
        : step(false, refused ? "bad" : "", refused ? "A client tried to connect and failed." : "No client has connected yet.",
          ...(refused ? [refusal(refused).cause, " ", ...refusal(refused).remedy] : ["This changes by itself when one does."])),
      requests > 0 || newest ? step(true, "", "It has sent a request") : step(false, "", "It has not sent a request yet."),
      newest === null ? step(false, "", "No push has arrived yet.")
        : step(isAccepted, "bad", [isAccepted ? "A push has arrived: " : newest.status ? "The latest push was refused: " : "The latest push was not answered: ", pushLink(newest.number), ", ", relativeTime(newest.time * 1000)])),
    newest ? "" : element("div", { class: "actions" }, button("Send a test push", () => composeTo(), { icon: "send" })),
  ]
}

function clientChoice(recipes) {
  const panel = element("div", { class: "recipe", role: "group", "aria-live": "polite" })
  const show = (index) => {
    panel.replaceChildren(...recipe(recipes[index]))
    panel.setAttribute("aria-label", recipes[index].name)
  }
  const stored = recipes.findIndex(({ name }) => name === localStorage.getItem(choiceKey))
  const selected = Math.max(stored, 0)
  show(selected)
  const picker = choice("Client or language", { onchange: ({ target }) => {
    localStorage.setItem(choiceKey, recipes[Number(target.value)].name)
    show(Number(target.value))
  } }, Object.fromEntries(recipes.map(({ name }, index) => [index, name])))
  picker.classList.add("client-choice")
  picker.querySelector("select").value = String(selected)
  return [picker, panel]
}

function recipe({ name, lines, shell, note }) {
  return [
    ...(lines ? snippet(lines, `the ${name} example`) : []),
    ...(shell ? [lines ? element("p", { class: "faint" }, "In the shell that starts it:") : "", ...snippet(shell, `the ${name} shell commands`)] : []),
    note ? element("p", {}, note) : "",
  ]
}

const snippet = (text, name) => [element("div", { class: "snippet" }, element("pre", { tabindex: 0 }, text),
  copyButton("Copy", text, { class: "small", "aria-label": `Copy ${name}`, icon: "copy" }))]

function addresses(about) {
  return section("Addresses", facts({
    "APNs": copied(about.apns, "the address of APNs"), environment: about.environment,
    channels: about["channel-port"] ? `same address, and port ${about["channel-port"]}` : "same address",
    inbox: copied(serverURL("/").slice(0, -1), "the address of the inbox"),
  }))
}

function authority(about) {
  if (!about.apns.startsWith("https:")) {
    return section("Certificate", element("p", {}, "None: this simulator uses HTTP/2 without TLS. Clients need HTTP/2 with prior knowledge."))
  }
  return section("Certificate", element("p", {}, `The simulator has a certificate for localhost, for Apple’s hosts, and for each --name. It is
    signed by an authority that was made on this machine and exists nowhere else, so clients must be told to trust it. Configure it in the
    client rather than in the system where the client allows that, and never in production.`),
  element("div", { class: "actions" }, element("a", { class: "button", href: serverURL("/api/v1/ca.pem"), download: "ca.pem" }, icon("download"), "ca.pem")))
}

const waitSection = () => section("Wait for a push in a test",
  ...snippet(`curl --fail "${serverURL("/api/v1/pushes/wait?query=title:Order&timeout=10")}"`, "the Wait for a push in a test example"))

const faultTokenSection = () => section("Device tokens that cause faults", element("dl", { class: "facts" }, faultTokens.flatMap(([end, fault]) =>
  [element("dt", {}, element("code", {}, end)), element("dd", {}, fault)])))

// SPDX-License-Identifier: Apache-2.0

// The simulator's addresses, and the configuration of common clients, which its terminal output shows, too.

import { request, info } from "./api.js"
import { copyButton, facts } from "./components.js"
import { element } from "./dom.js"
import { copyAttributes, heading, notice } from "./pages.js"

/** The ends of device tokens that cause a fault, with the fault. */
const faultTokens = [
  ["…00dead", "410 Unregistered"], ["…00deaf", "no response"], ["…000429", "429 TooManyRequests"],
  ["…000503", "503 ServiceUnavailable"], ["…00c105", "connection closed"], ["…00fa11", "connection reset"],
  ["…00e5e7", "stream reset"],
]

export function open(container) {
  const { element: noticeElement, attempt } = notice()
  const content = element("div", {})
  container.replaceChildren(
    heading("Connect", "The simulator accepts any device token and any signing key. Configure a client as shown to see its pushes in the inbox."),
    noticeElement, content)
  attempt(async () => {
    const [about, { recipes }] = await Promise.all([info(), request("/api/v1/recipes")])
    content.replaceChildren(addresses(about), ...recipes.map(recipe), waitRecipe(), faultTokenList())
  })
}

function addresses(about) {
  const isEncrypted = about.apns.startsWith("https:")
  return element("section", { class: "card", "aria-label": "Addresses" },
    facts({
      "APNs": element("code", {}, about.apns), environment: about.environment,
      channels: about["channel-port"] ? `same address, and port ${about["channel-port"]}` : "same address",
      inbox: element("code", {}, location.origin),
      certificate: isEncrypted
        ? [element("a", { href: "/api/v1/ca.pem", download: "ca.pem" }, "ca.pem"), ", which clients must trust"]
        : "none (HTTP/2 without TLS)",
    }))
}

function recipe({ name, lines, shell, note }) {
  return element("section", { class: "recipe" },
    element("h3", {}, name),
    lines ? [copyButton("Copy", lines, copyAttributes(`the ${name} example`)), element("pre", { tabindex: 0 }, lines)] : null,
    shell ? [copyButton("Copy", shell, copyAttributes(`the ${name} shell commands`)), element("pre", { tabindex: 0 }, shell)] : null,
    note ? element("p", {}, note) : null)
}

function waitRecipe() {
  return recipe({
    name: "Wait for a push in a test",
    lines: `curl --fail "${location.origin}/api/v1/pushes/wait?query=title:Order&timeout=10"`,
  })
}

function faultTokenList() {
  return element("section", { class: "recipe" },
    element("h3", {}, "Device tokens that cause faults"),
    element("dl", {}, faultTokens.flatMap(([end, fault]) =>
      [element("dt", {}, element("code", {}, end)), element("dd", {}, fault)])))
}

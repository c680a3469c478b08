// How clients are pointed at this simulator: the lines that its terminal prints, too.

import { ask, info } from "./api.js"
import { element } from "./dom.js"
import { copyButton, facts, heading, notice } from "./pages.js"

const magic = [
  ["…00dead", "410 Unregistered"], ["…00deaf", "never an answer"], ["…000429", "429 TooManyRequests"],
  ["…000503", "503 ServiceUnavailable"], ["…00c105", "the connection ends"], ["…00fa11", "the connection is reset"],
  ["…00e5e7", "the stream is reset"],
]

export function open(place) {
  const { place: noticePlace, attempt } = notice()
  const content = element("div", {})
  place.replaceChildren(
    heading("Connect", "Any device token is taken, and any key signs. Point a client at it, and its pushes are here."),
    noticePlace, content)
  attempt(async () => {
    const [about, { recipes }] = await Promise.all([info(), ask("/api/v1/recipes")])
    content.replaceChildren(addresses(about), ...recipes.map(recipe), waiting(), telling())
  })
}

function addresses(about) {
  const isEncrypted = about.apns.startsWith("https:")
  return element("section", { class: "card", "aria-label": "Addresses" },
    facts({
      "APNs": element("code", {}, about.apns), environment: about.environment,
      channels: about["channel-port"] ? `there, and at port ${about["channel-port"]} as Apple has it` : "there",
      inbox: element("code", {}, location.origin),
      certificate: isEncrypted
        ? [element("a", { href: "/api/v1/ca.pem", download: "ca.pem" }, "ca.pem"), ", which clients have to trust"]
        : "none: it speaks HTTP/2 in the clear",
    }))
}

function recipe({ name, lines, shell, note }) {
  return element("section", { class: "recipe" },
    element("h3", {}, name),
    lines ? [copyButton(lines, `the lines for ${name}`), element("pre", { tabindex: 0 }, lines)] : null,
    shell ? [copyButton(shell, `the shell's lines for ${name}`), element("pre", { tabindex: 0 }, shell)] : null,
    note ? element("p", {}, note) : null)
}

function waiting() {
  return recipe({
    name: "In a test, any language",
    lines: `curl --fail "${location.origin}/api/v1/pushes/wait?query=title:Order&timeout=10"`,
  })
}

function telling() {
  return element("section", { class: "recipe" },
    element("h3", {}, "Device tokens with a telling end"),
    element("dl", {}, magic.flatMap(([end, what]) =>
      [element("dt", {}, element("code", {}, end)), element("dd", {}, what)])))
}

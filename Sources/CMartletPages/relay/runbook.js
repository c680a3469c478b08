// SPDX-License-Identifier: Apache-2.0

// The sections of the runbook, an article of the documentation that the program contains: a dialog shows the one about a problem.

import { table } from "./components.js"
import { showDialog } from "./dialog.js"
import { element, serverURL } from "./dom.js"

let article = null

/** Loads the article once, since the relay may not answer when it is needed. */
export function loadRunbook() {
  article ??= fetch(serverURL("/page/Runbook.md")).then((response) => {
    if (!response.ok) throw new Error(`The relay returned status ${response.status} for the runbook.`)
    return response.text()
  })
  article.catch(() => { article = null })
  return article
}

/** A link that shows the section with a heading. */
export const runbookLink = (name) => element("button", { type: "button", class: "link", "aria-haspopup": "dialog", onclick: () => show(name) }, name)

const overview = "Overview"

/** Shows a section in a dialog; the links in it replace the section. */
const show = (name) => showDialog(name, content(name))

const content = (name) => async (fill) => blocks(section(await loadRunbook(), name), (other) => fill(other, content(other)))

/** The lines of the section with a heading, which ends at the next heading. */
export function section(text, name) {
  const lines = text.split("\n")
  const start = lines.findIndex((line) => /^##+ /.test(line) && line.replace(/^#+ /, "") === name)
  if (start < 0) return ["This version of the relay has no section about this problem."]
  const end = lines.findIndex((line, index) => index > start && /^##+ /.test(line))
  return lines.slice(start + 1, end < 0 ? undefined : end)
}

/** The elements of a section: paragraphs, code and tables; `open` shows the section of a link. */
function blocks(lines, open) {
  const made = []
  let isCode = false
  let block = []
  const finish = () => {
    if (block.length) made.push(block[0].startsWith("|") ? tableOf(block, open) : element("p", {}, inline(block.join(" "), open)))
    block = []
  }
  for (const line of lines) {
    if (line.startsWith("```")) {
      if (isCode) made.push(element("pre", { tabindex: 0 }, block.join("\n")))
      else finish()
      block = []
      isCode = !isCode
    } else if (isCode || line && !line.startsWith("<!--")) block.push(line)
    else finish()
  }
  finish()
  const mentions = lines.join(" ").includes("table above")
  return [...made, mentions ? element("p", {}, "The table is in the ", link(overview, open), ".") : null].filter(Boolean)
}

function tableOf(lines, open) {
  const [head, , ...rows] = lines.map((line) => line.replace(/^\| ?| ?\|$/g, "").split(" | "))
  return table(head.join(", "), head.map((name, index) => ({ name, isHeader: index === 0, value: (row) => element("span", {}, inline(row[index] ?? "", open)) })), rows)
}

const link = (name, open) => element("button", { type: "button", class: "link", onclick: () => open(name) }, name)

/** The text of a paragraph, with code, addresses, and the names of other sections as links. */
function inline(text, open) {
  return text.split(/(`[^`]+`|<[^>\s]+>|\bMartletRelay[A-Z]\w+)/).map((part) => {
    if (part.startsWith("`")) return element("code", {}, part.slice(1, -1))
    if (part.startsWith("<doc:")) return `the article ${part.slice(5, -1).replace(/\B[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}`
    if (part.startsWith("<https:")) return element("a", { href: part.slice(1, -1), target: "_blank", rel: "noreferrer" }, part.slice(9, -1))
    return part.startsWith("MartletRelay") ? link(part, open) : part
  })
}

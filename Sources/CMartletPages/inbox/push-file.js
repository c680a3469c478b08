// SPDX-License-Identifier: Apache-2.0

// A file with one push, which a colleague drops onto their inbox, and the import of such files and of exports.

import { exported, send } from "./api.js"
import { toast } from "./components.js"
import { element } from "./dom.js"
import { headline } from "./push.js"
import { counted } from "./texts.js"

/** Downloads a push as one line of the export format. */
export async function download(push) {
  const line = await exported(`number:${push.number}`)
  const name = headline(push).replace(/[^\p{L}\p{N} ._-]+/gu, "").trim().slice(0, 60) || "push"
  const url = URL.createObjectURL(new Blob([line], { type: "application/json" }))
  element("a", { href: url, download: `${name}.martletpush` }).click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

/** Imports files of one or many pushes, and shows the push if there is one. */
export async function importPushes(files) {
  for (const file of files) {
    try {
      const response = await send("/api/v1/import", { method: "POST", body: await file.text() })
      const answer = await response.json()
      if (!response.ok) throw new Error(`${file.name} was not imported: ${answer.detail}`)
      if (answer.imported === 1) location.hash = `#/push/${answer.cursor}`
      toast(`Imported ${counted(answer.imported, "push")} from ${file.name}.`)
    } catch (error) {
      toast(error.message, { seconds: 10 })
    }
  }
}

const isPreviewFile = ({ name }) => /\.(strings|xcstrings|json)$/i.test(name)

/** Handles files that are dropped anywhere on the page. */
export function acceptDroppedFiles() {
  const hasFiles = (event) => event.dataTransfer?.types.includes("Files")
  let depth = 0
  const mark = (change) => {
    depth = Math.max(0, depth + change)
    document.body.toggleAttribute("data-dropping", depth > 0)
  }
  addEventListener("dragenter", (event) => { if (hasFiles(event)) mark(1) })
  addEventListener("dragleave", (event) => { if (hasFiles(event)) mark(-1) })
  addEventListener("dragover", (event) => { if (hasFiles(event)) event.preventDefault() })
  addEventListener("drop", async (event) => {
    if (!hasFiles(event)) return
    mark(-depth)
    if (event.defaultPrevented) return
    event.preventDefault()
    const files = [...event.dataTransfer.files]
    const pushes = files.filter((file) => !isPreviewFile(file))
    if (pushes.length > 0) await importPushes(pushes)
    const other = files.filter(isPreviewFile)
    if (other.length > 0) (await import("./uploads.js")).openUploads(null, other)
  })
}

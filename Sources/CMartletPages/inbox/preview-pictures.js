// SPDX-License-Identifier: Apache-2.0

// The pictures of attachments: the page loads no address of a payload, so the user chooses the file on this computer.

import { element } from "./dom.js"
import { counted, grouped } from "./texts.js"

const storageKey = "martlet.previews.pictures"
/** The maximum size of an image that iOS attaches, in bytes (Apple, `UNNotificationAttachment`). */
const maximumBytes = 10_000_000
/** The longest side of a stored picture in pixels, and the maximum number of pictures. */
const [longestSide, maximumPictures] = [800, 12]

/** Stored pictures as data URLs, by the URL in the payload; the newest is last. */
let pictures
try { pictures = JSON.parse(localStorage.getItem(storageKey)) } catch { /* The pictures are not readable. */ }
pictures = Object(pictures)

/** The picture of a URL as an element; null if there is none. */
export function picture(url) {
  const stored = Object.hasOwn(pictures, url) ? pictures[url] : undefined
  return /^data:image\/jpeg;base64,/.test(stored) ? element("img", { src: stored, alt: "" }) : null
}

function store(url, data) {
  const { [url]: _, ...others } = pictures
  pictures = Object.fromEntries([...Object.entries(others).slice(1 - maximumPictures), [url, data]])
  try { localStorage.setItem(storageKey, JSON.stringify(pictures)) } catch { /* Storage is full or not available. */ }
}

/** The field with which the user chooses the picture of a file; calls `changed` when it is stored. */
export function pictureField({ name, url }, changed) {
  const problem = element("small", { class: "problem", role: "alert" })
  const input = element("input", {
    type: "file", accept: "image/jpeg,image/png,image/gif",
    onchange: async () => {
      const [file] = input.files
      if (!file) return
      try {
        if (file.size > maximumBytes) throw new Error(`has ${counted(file.size, "byte")}; iOS attaches images of up to ${grouped(maximumBytes)}.`)
        store(url, await reduced(file))
        changed()
      } catch (error) {
        problem.textContent = `${file.name} ${error.message}`
      }
    },
  })
  return element("p", { class: "picture-field" }, element("label", { class: "field" }, element("span", {}, `Picture for ${name}`), input), problem)
}

/** The picture of a file as a data URL, reduced to the size of a preview. */
async function reduced(file) {
  const bitmap = await createImageBitmap(file).catch(() => { throw new Error("is not an image.") })
  const scale = Math.min(1, longestSide / Math.max(bitmap.width, bitmap.height))
  const canvas = element("canvas", { width: Math.ceil(bitmap.width * scale), height: Math.ceil(bitmap.height * scale) })
  const brush = canvas.getContext("2d")
  brush.fillStyle = "#fff"
  brush.fillRect(0, 0, canvas.width, canvas.height)
  brush.drawImage(bitmap, 0, 0, canvas.width, canvas.height)
  return canvas.toDataURL("image/jpeg", 0.85)
}

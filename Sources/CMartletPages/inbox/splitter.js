// SPDX-License-Identifier: Apache-2.0

// The line between the list and the push, which changes the width of the list.

const storageKey = "martlet.list-width"
const [least, most, step] = [300, 720, 24]

/** Makes an element change the width of the list, by pointer, arrow keys or a double click, and stores the width. */
export function splitter(handle, container) {
  const standard = () => Math.round(Math.min(440, Math.max(320, innerWidth * 0.3)))
  let width = stored() ?? standard()
  const set = (wanted, isStored = true) => {
    width = Math.min(most, Math.max(least, Math.min(wanted, innerWidth - 500)))
    container.style.setProperty("--list-width", `${width}px`)
    handle.setAttribute("aria-valuenow", String(width))
    if (!isStored) return
    try {
      localStorage.setItem(storageKey, String(width))
    } catch { /* Storage is not available. */ }
  }
  for (const [name, value] of [["aria-valuemin", least], ["aria-valuemax", most]]) handle.setAttribute(name, value)
  set(width, false)
  addEventListener("resize", () => set(stored() ?? standard(), false))
  handle.addEventListener("pointerdown", (event) => {
    event.preventDefault()
    handle.focus()
    handle.setPointerCapture(event.pointerId)
    const start = event.clientX - width
    const move = (event) => set(event.clientX - start, false)
    handle.addEventListener("pointermove", move)
    handle.addEventListener("lostpointercapture", () => {
      handle.removeEventListener("pointermove", move)
      set(width)
    }, { once: true })
  })
  handle.addEventListener("dblclick", () => set(standard()))
  handle.addEventListener("keydown", (event) => {
    const wanted = { ArrowLeft: width - step, ArrowRight: width + step, Home: least, End: most }[event.key]
    if (wanted === undefined) return
    event.preventDefault()
    event.stopPropagation()
    set(wanted)
  })
}

function stored() {
  try {
    return Number(localStorage.getItem(storageKey)) || null
  } catch {
    return null
  }
}

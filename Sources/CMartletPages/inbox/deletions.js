// SPDX-License-Identifier: Apache-2.0

// Deletes pushes after ten seconds, in which the user can undo that. Until then the page only hides them.

import { removePushes, simulatorEvents } from "./api.js"
import { toast } from "./components.js"
import { queries } from "./numbers.js"
import { counted } from "./texts.js"

const seconds = 10

export class Deletions {
  #inbox
  #list
  /** The latest deletion, {numbers, finish}, while it can be undone. */
  #pending = null

  constructor(inbox, list) {
    this.#inbox = inbox
    this.#list = list
    simulatorEvents.addEventListener("remove", ({ detail }) => this.remove(detail))
    // The browser sends a request with keepalive even though the page is closed.
    addEventListener("pagehide", () => this.#pending?.finish({ keepalive: true }))
  }

  /** Deletes pushes by their numbers, except pinned ones. */
  remove(numbers) {
    const chosen = new Set(numbers)
    const pinned = new Set(this.#inbox.all.filter((push) => push.pinned && chosen.has(push.number)).map(({ number }) => number))
    const deleted = pinned.size ? numbers.filter((number) => !pinned.has(number)) : numbers
    const kept = pinned.size ? `${counted(pinned.size, "pinned push")} kept` : ""
    if (deleted.length === 0) {
      if (kept) toast(`${kept}. Unpin to delete.`)
      return
    }
    // Only the latest deletion can be undone.
    this.#pending?.finish()
    this.#list.leave(pinned.size ? new Set(deleted) : chosen)
    this.#inbox.hide(deleted)
    this.#offerUndo(deleted, `${counted(deleted.length, "push")} deleted${kept ? `, ${kept}` : ""}`)
  }

  /** Undoes the latest deletion if that is still possible. */
  undo() {
    this.#pending?.undo()
  }

  #offerUndo(numbers, text) {
    let isUndone = false
    let options = {}
    const dismiss = toast(text, {
      seconds,
      action: { name: "Undo", run: () => pending.undo() },
      ended: () => {
        if (this.#pending === pending) this.#pending = null
        if (!isUndone) this.#delete(numbers, options)
      },
    })
    const pending = this.#pending = {
      finish: (more = {}) => {
        options = more
        dismiss()
      },
      undo: () => {
        isUndone = true
        this.#pending = null
        dismiss()
        this.#inbox.restore(numbers)
      },
    }
  }

  async #delete(numbers, options) {
    try {
      await Promise.all(queries(numbers).map((query) => removePushes(query, options)))
    } catch (error) {
      this.#inbox.restore(numbers)
      toast(`${counted(numbers.length, "push")} not deleted. ${error.message}`)
    }
  }
}

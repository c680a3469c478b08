// SPDX-License-Identifier: Apache-2.0

// The dialog for the files that previews need: localized strings, string catalogs, and templates of Live Activities.

import { request, send } from "./api.js"
import { button, iconButton } from "./components.js"
import { element } from "./dom.js"
import { app } from "./push.js"
import { counted } from "./texts.js"

const kinds = {
  strings: { name: "Strings of one language", fields: ["app", "language"], path: ({ app, language }) => `strings/${app}/${language}` },
  xcstrings: { name: "String catalog", fields: ["app"], path: ({ app }) => `strings/${app}` },
  json: { name: "Template of a Live Activity", fields: ["app", "type"], path: ({ app, type }) => `templates/${app}/${type}` },
}
const labels = { app: "App", language: "Language", type: "Attributes type" }
const hints = { app: "com.example.app", language: "en, de, pt-BR", type: "OrderAttributes" }

/** Opens the dialog; `push` suggests the app and the attributes type, and `files` are shown for upload. */
export function openUploads(push, files = []) {
  const stored = new Stored()
  const dialog = element("dialog", {
    class: "uploads", "aria-labelledby": "uploads-title", onclose: () => {
      dialog.remove()
      stored.end()
    },
  })
  const list = element("div", { class: "upload-list" })
  const suggested = { app: push ? app(push) : "", type: push?.payload?.aps?.["attributes-type"] ?? "", language: "" }
  const add = (added) => list.append(...[...added].map((file) => upload(file, suggested, stored)))
  const input = element("input", {
    type: "file", multiple: true, accept: ".strings,.xcstrings,.json", "aria-label": "Files",
    onchange: () => {
      add(input.files)
      input.value = ""
    },
  })
  dialog.append(
    element("div", { class: "dialog-title" }, element("h2", { id: "uploads-title" }, "Strings and templates"), iconButton("close", "Close", () => dialog.close())),
    element("p", { class: "faint" }, "Previews show the texts of .strings and .xcstrings files, and Live Activities in the layout of a template (.json)."),
    element("label", { class: "drop-zone" }, "Drop files here, or choose them: ", input), list, stored.container)
  dialog.addEventListener("dragover", (event) => event.preventDefault())
  dialog.addEventListener("drop", (event) => {
    event.preventDefault()
    add(event.dataTransfer.files)
  })
  document.body.append(dialog)
  dialog.showModal()
  add(files)
  stored.show()
}

/** The form of one file. */
function upload(file, suggested, stored) {
  const kind = kinds[file.name.split(".").pop().toLowerCase()]
  if (!kind) return element("p", { class: "problem" }, `${file.name} is not a .strings, .xcstrings or .json file.`)
  const fields = Object.fromEntries(kind.fields.map((name) => [name, element("input", {
    value: suggested[name], placeholder: hints[name], required: true, spellcheck: "false", autocomplete: "off" })]))
  const problem = element("p", { class: "problem", role: "alert" })
  const form = element("form", {
    class: "card", "aria-label": file.name,
    onsubmit: async (event) => {
      event.preventDefault()
      problem.textContent = ""
      for (const field of Object.values(fields)) field.removeAttribute("aria-invalid")
      const values = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, encodeURIComponent(field.value.trim())]))
      try {
        // A removal that is sent later could remove this file.
        await stored.sendRemovals()
        const response = await send(`/api/v1/${kind.path(values)}`, { method: "PUT", body: file })
        if (!response.ok) throw new Error((await response.json()).detail)
        Object.assign(suggested, { app: fields.app.value.trim() })
        form.replaceWith(element("p", { class: "verdict", "data-tone": "good", role: "status" }, `Uploaded ${file.name}.`))
        stored.show()
      } catch (error) {
        problem.textContent = error.message
        const wrong = kind.fields.find((name) => error.message.includes(fields[name].value) || error.message.startsWith(name))
        fields[wrong]?.setAttribute("aria-invalid", "true")
        fields[wrong]?.focus()
      }
    },
  }, element("h3", {}, file.name, " ", element("small", {}, kind.name)),
  element("div", { class: "upload-fields" }, kind.fields.map((name) => element("label", { class: "field" }, element("span", {}, labels[name]), fields[name])),
    element("button", { class: "primary" }, "Upload")), problem)
  return form
}

/** The time in which a removal can be undone, in milliseconds. */
const undoTime = 10_000

/** What is stored, with buttons to remove it: a removal is sent when it can no longer be undone. */
class Stored {
  container = element("div", { class: "stored" })
  #problem = element("p", { class: "problem", role: "alert" })
  /** The timers of the removals that are not sent yet, by path. */
  #removals = new Map()
  #end = () => this.end()

  constructor() {
    addEventListener("pagehide", this.#end)
  }

  async show() {
    const [{ strings }, { templates }] = await Promise.all([request("/api/v1/strings"), request("/api/v1/templates")])
    const rows = [
      ...strings.map(({ app, language, keys }) => ({ text: `${counted(keys, "string")} in ${language}`, app, path: `strings/${encodeURIComponent(app)}/${encodeURIComponent(language)}` })),
      ...templates.map(({ topic, "attributes-type": type }) => ({ text: `Template of ${type}`, app: topic, path: `templates/${encodeURIComponent(topic)}/${encodeURIComponent(type)}` })),
    ]
    this.container.replaceChildren(element("h3", {}, rows.length ? "Stored" : "Nothing is stored yet."),
      element("ul", {}, rows.map((row) => element("li", {}, element("strong", {}, row.app), ...this.#row(row)))), this.#problem)
  }

  #row({ text, app, path }) {
    if (!this.#removals.has(path)) {
      return [element("span", {}, text), button("Remove", () => this.#remove(path), { class: "small", "aria-label": `Remove ${text} of ${app}` })]
    }
    return [element("span", {}, element("del", {}, text)), button("Undo", () => this.#undo(path), { class: "small", "aria-label": `Keep ${text} of ${app}` })]
  }

  #remove(path) {
    this.#removals.set(path, setTimeout(() => this.#send(path), undoTime))
    return this.show()
  }

  #undo(path) {
    clearTimeout(this.#removals.get(path))
    this.#removals.delete(path)
    return this.show()
  }

  /** Sends a removal, also while the page is closed. */
  async #send(path) {
    clearTimeout(this.#removals.get(path))
    this.#removals.delete(path)
    try {
      await request(`/api/v1/${path}`, "DELETE", undefined, undefined, { keepalive: true })
      if (this.container.isConnected) await this.show()
    } catch (error) {
      this.#problem.textContent = error.message
    }
  }

  /** Sends the removals that are not sent yet. */
  sendRemovals() {
    return Promise.all([...this.#removals.keys()].map((path) => this.#send(path)))
  }

  /** Sends the removals, because the dialog or the page is closed. */
  end() {
    removeEventListener("pagehide", this.#end)
    this.sendRemovals()
  }
}

// SPDX-License-Identifier: Apache-2.0

// The drafts and templates of the composer, which the browser stores.

/** The stored value of a key; null if there is none or storage is not available. */
function read(key) {
  try {
    return JSON.parse(localStorage.getItem(key))
  } catch {
    return null
  }
}

function write(key, value) {
  try {
    if (value === null) localStorage.removeItem(key)
    else localStorage.setItem(key, JSON.stringify(value))
  } catch { /* Storage is not available. */ }
}

/** The draft of a new push, or of the push with a number, which are stored separately. */
export class Draft {
  #key
  #number

  constructor(number) {
    this.#number = number
    this.#key = number === undefined ? "martlet.draft" : "martlet.edit"
  }

  /** The stored values; null if there are none. */
  get values() {
    const stored = read(this.#key)
    return stored && stored.number === this.#number ? stored.values : null
  }

  save(values) { write(this.#key, { number: this.#number, values }) }
  discard() { write(this.#key, null) }
}

const templatesKey = "martlet.templates"

/** The templates by name. */
export const templates = () => read(templatesKey) ?? {}
export const saveTemplate = (name, values) => write(templatesKey, { ...templates(), [name]: values })
export const removeTemplate = (name) => write(templatesKey, Object.fromEntries(Object.entries(templates()).filter(([each]) => each !== name)))

// SPDX-License-Identifier: Apache-2.0

// The fragment of the URL: `#/push/42?query=is:refused` has the parts `push` and `42`, and a search query.

export class Address {
  parts
  query

  /** Creates an address from its parts and a search query. */
  constructor(parts, query = "") {
    this.parts = parts
    this.query = query
  }

  /** The address of the current URL. */
  static get current() {
    const [path, parameters] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s)
    return new Address(path.split("/").map(decoded), new URLSearchParams(parameters).get("query") ?? "")
  }

  get text() {
    const query = this.query ? `?query=${encodeURIComponent(this.query)}` : ""
    return `#/${this.parts.map(encodeURIComponent).join("/")}${query}`
  }

  /**
   * Updates the URL without navigation; `isNew` adds an entry to the browser's history instead of replacing it.
   *
   * The new entry's state has the text of the previous address.
   */
  replaceURL(isNew) {
    const previous = Address.current.text
    if (previous === this.text) return
    if (isNew) history.pushState({ previous }, "", this.text)
    else history.replaceState(history.state, "", this.text)
  }
}

function decoded(part) {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

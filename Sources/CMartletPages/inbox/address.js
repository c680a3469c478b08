// The address behind the #: `#/push/42?query=is:refused` has the parts push and 42.

export class Address {
  parts
  query

  /** An address from its parts, and what is looked for. */
  constructor(parts, query = "") {
    this.parts = parts
    this.query = query
  }

  /** Where the page is now. */
  static get current() {
    const [path, parameters] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s)
    return new Address(path.split("/").map(decoded), new URLSearchParams(parameters).get("query") ?? "")
  }

  get text() {
    const query = this.query ? `?query=${encodeURIComponent(this.query)}` : ""
    return `#/${this.parts.map(encodeURIComponent).join("/")}${query}`
  }

  /** Says where the page is without having it go there; the browser's back button comes back here when `isNew`. */
  note(isNew) {
    if (Address.current.text === this.text) return
    if (isNew) history.pushState(null, "", this.text)
    else history.replaceState(null, "", this.text)
  }
}

function decoded(part) {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

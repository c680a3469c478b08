// SPDX-License-Identifier: Apache-2.0

// JSON as text: where each value is, exactly as it was written. `JSON.parse` would round long numbers and drop duplicates.

const spaces = /[ \t\n\r]*/y
const scalar = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
const maximumDepth = 500

class SyntaxProblem extends Error {
  constructor(message, offset) {
    super(message)
    this.offset = offset
  }
}

/**
 * Reads a text. Returns the root node, or throws an error with the `offset` of the mistake.
 *
 * A node is {type, start, end, pointer, key?, children?}: `key` is the name or index in its parent, and `pointer` the
 * JSON Pointer (RFC 6901).
 */
export function parse(text) {
  let at = 0
  const skip = () => {
    spaces.lastIndex = at
    spaces.test(text)
    at = spaces.lastIndex
  }
  const fail = (expected) => {
    throw new SyntaxProblem(at < text.length ? `expected ${expected}` : `expected ${expected}, but the text ends`, at)
  }
  const word = (expected) => {
    scalar.lastIndex = at
    const found = scalar.exec(text)?.[0]
    if (found === undefined) fail(expected)
    at += found.length
    return found
  }
  const value = (pointer, depth) => {
    skip()
    const start = at
    const open = text[at]
    if (open !== "{" && open !== "[") {
      const found = word("a value")
      const type = found[0] === '"' ? "string" : /[-\d]/.test(found[0]) ? "number" : found === "null" ? "null" : "boolean"
      return { type, start, end: at, pointer }
    }
    if (depth === maximumDepth) fail("less nesting")
    const isObject = open === "{"
    const close = isObject ? "}" : "]"
    const children = []
    at += 1
    skip()
    while (text[at] !== close) {
      if (children.length > 0) {
        if (text[at] !== ",") fail(`a comma or ${close}`)
        at += 1
        skip()
      }
      let key = String(children.length)
      if (isObject) {
        if (text[at] !== '"') fail("a name in double quotes")
        key = JSON.parse(word("a name in double quotes"))
        skip()
        if (text[at] !== ":") fail("a colon")
        at += 1
      }
      children.push({ ...value(`${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`, depth + 1), key })
      skip()
    }
    at += 1
    return { type: isObject ? "object" : "array", start, end: at, pointer, children }
  }
  const root = value("", 0)
  skip()
  if (at < text.length) fail("the end of the text")
  return root
}

/** The node at a JSON Pointer, or its nearest ancestor that exists; `isExact` tells which. */
export function locate(root, pointer) {
  let node = root
  while (node.pointer !== pointer) {
    // Of members with the same name, readers use the last.
    const next = node.children?.findLast((child) => pointer === child.pointer || pointer.startsWith(`${child.pointer}/`))
    if (!next) return { node, isExact: false }
    node = next
  }
  return { node, isExact: true }
}

/** The text with each member on its own line; numbers and strings stay as they are written. */
export function formatted(text) {
  const write = (node, indent) => {
    if (!node.children) return text.slice(node.start, node.end)
    const [open, close] = node.type === "object" ? "{}" : "[]"
    if (node.children.length === 0) return open + close
    const inner = `${indent}  `
    const lines = node.children.map((child) =>
      `${inner}${node.type === "object" ? `${JSON.stringify(child.key)}: ` : ""}${write(child, inner)}`)
    return `${open}\n${lines.join(",\n")}\n${indent}${close}`
  }
  return write(parse(text), "")
}

/** The text with the values at JSON Pointers replaced, and everything else unchanged; absent places are skipped. */
export function replaced(text, values) {
  const root = parse(text)
  const edits = Object.entries(values).map(([pointer, value]) => ({ ...locate(root, pointer), value }))
    .filter(({ isExact }) => isExact).sort((one, other) => other.node.start - one.node.start)
  return edits.reduce((result, { node, value }) => result.slice(0, node.start) + value + result.slice(node.end), text)
}

/** The line and column of an offset, both from 1. */
export function position(text, offset) {
  const before = text.slice(0, offset).split("\n")
  return { line: before.length, column: before.at(-1).length + 1 }
}

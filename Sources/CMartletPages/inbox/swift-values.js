// SPDX-License-Identifier: Apache-2.0

// Swift expressions and types for JSON values, in the layout of swift-format.

/** Thrown for a value that has no typed form. */
export class Unsupported extends Error {}

const lineLength = 100
const indentation = "    "

/** A call of a function with labelled arguments; an argument whose value is undefined is left out. */
export function call(name, list) {
  const values = list.filter(([, value]) => value !== undefined && value !== "")
  const argument = ([label, value], indent) => `${label ? `${label}: ` : ""}${textOf(value, indent)}`
  return {
    text(indent) {
      const line = `${name}(${values.map((each) => argument(each, "")).join(", ")})`
      if (!line.includes("\n") && indent.length + line.length <= lineLength && values.length < 4) return line
      const inner = indent + indentation
      return `${name}(\n${values.map((each) => inner + argument(each, inner)).join(",\n")}\n${indent})`
    },
  }
}

const textOf = (value, indent) => (typeof value === "string" ? value : value.text(indent))

/** A string literal; JSON's escapes differ from Swift's in \u, \b, \f and \/. */
function stringLiteral(value) {
  const escapes = { "\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\" }
  return `"${value.replace(/[\n\r\t"\\]|[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    escapes[character] ?? `\\u{${character.codePointAt(0).toString(16).toUpperCase()}}`)}"`
}

/** A number with its digits in groups from seven on, as swift-format requires. */
function numberLiteral(text) {
  const [, sign, whole, fraction, exponent] = /^(-?)(\d+)(\.\d+)?([eE][+-]?\d+)?$/.exec(text)
  if (!fraction && !exponent && (BigInt(text) > 9223372036854775807n || BigInt(text) < -9223372036854775808n)) throw new Unsupported()
  const grouped = whole.length > 6 && !fraction && !exponent ? whole.replace(/\B(?=(\d{3})+$)/g, "_") : whole
  return sign + grouped + (fraction ?? "") + (exponent ?? "")
}

/** The literal of a scalar, or of an array of scalars of one type. */
export function literal(node, text) {
  const source = text.slice(node.start, node.end)
  switch (node.type) {
    case "string": return stringLiteral(JSON.parse(source))
    case "number": return numberLiteral(source)
    case "boolean": return source
    case "array": return `[${node.children.map((child) => literal(child, text)).join(", ")}]`
    default: throw new Unsupported()
  }
}

const isFraction = (node, text) => /[.eE]/.test(text.slice(node.start, node.end))

function scalarType(node, text) {
  switch (node.type) {
    case "string": return "String"
    case "boolean": return "Bool"
    case "number": return isFraction(node, text) ? "Double" : "Int"
    default: throw new Unsupported()
  }
}

const keywords = new Set("as associatedtype break case catch class continue default defer deinit do else enum extension fallthrough false fileprivate for func guard if import in init inout internal is let nil operator private protocol public repeat rethrows return self static struct subscript super switch throw throws true try typealias var where while".split(" "))

/**
 * A type for an object's members, and a value of it: {declarations, value}.
 *
 * `inner` are declarations inside the type, and `members` lines after its properties.
 */
export function codable(nodes, text, name, { conformance = "Encodable", inner = [], members = [], prefix = "" } = {}) {
  const nested = []
  const names = new Set(nodes.map(({ key }) => key))
  if (names.size !== nodes.length) throw new Unsupported()
  const properties = nodes.map((node) => {
    if (!/^[A-Za-z][A-Za-z0-9]*$/.test(node.key)) throw new Unsupported()
    const escaped = keywords.has(node.key) ? `\`${node.key}\`` : node.key
    if (node.type === "object") {
      const type = node.key[0].toUpperCase() + node.key.slice(1)
      if (type === name || type === "ContentState") throw new Unsupported()
      const made = codable(node.children, text, type, { prefix: `${prefix}${name}.` })
      nested.push(...made.declarations)
      return { escaped, label: node.key, type, value: made.value }
    }
    if (node.type !== "array") return { escaped, label: node.key, type: scalarType(node, text), value: literal(node, text) }
    const types = new Set(node.children.map((child) => scalarType(child, text)))
    if (types.size === 2 && types.has("Int") && types.has("Double")) types.delete("Int")
    if (types.size > 1) throw new Unsupported()
    return { escaped, label: node.key, type: `[${[...types][0] ?? "String"}]`, value: literal(node, text) }
  })
  const bodies = [
    ...[...inner, ...nested].map((declaration) => declaration.replace(/^(?=.)/gm, indentation)),
    [...members, ...properties.map(({ escaped, type }) => `var ${escaped}: ${type}`)].map((line) => indentation + line).join("\n"),
  ].filter(Boolean)
  const declaration = bodies.length ? `struct ${name}: ${conformance} {\n${bodies.join("\n\n")}\n}` : `struct ${name}: ${conformance} {}`
  const owner = conformance === "Encodable" ? `${prefix}${name}` : name
  return { declarations: [declaration], value: call(owner, properties.map(({ label, value }) => [label, value])) }
}

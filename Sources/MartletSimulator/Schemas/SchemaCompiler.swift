// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// A compiler of a JSON Schema into lists of checks, which reports every error in the schema before it is used.
struct SchemaCompiler {
    /// The maximum depth of nested schemas.
    private static let depthLimit = 64
    /// The maximum number of schemas in one document.
    private static let schemaLimit = 10_000

    /// The keywords that describe a schema and check nothing.
    private static let annotations: Set<String> = [
        "$schema", "$comment", "title", "description", "default", "examples", "format", "pattern", "deprecated",
        "readOnly", "writeOnly", "contentEncoding", "contentMediaType",
    ]
    /// The keywords for definitions, in 2020-12 and up to draft 7.
    private static let definitionKeywords = ["$defs", "definitions"]

    private var schemas: [[SchemaCheck]] = []
    /// The indices of schemas by the text of the `$ref` that refers to them.
    private var names: [String: Int] = [:]

    static func compile(_ json: JSONValue) throws(JSONSchemaError) -> [[SchemaCheck]] {
        var compiler = SchemaCompiler()
        try compiler.compileDocument(json)
        return compiler.schemas
    }

    private mutating func compileDocument(_ json: JSONValue) throws(JSONSchemaError) {
        names["#"] = try reserve([])
        var definitions: [(path: [String], json: JSONValue, index: Int)] = []
        for keyword in SchemaCompiler.definitionKeywords {
            guard let group = json[keyword] else { continue }
            guard let members = group.members else { throw JSONSchemaError([], keyword, "must be an object") }
            for member in members {
                let path = [keyword, member.name]
                let index = try reserve(path)
                names["#" + JSONPointer.path(path)] = index
                definitions.append((path, member.value, index))
            }
        }
        schemas[0] = try checks(json, at: [])
        for definition in definitions { schemas[definition.index] = try checks(definition.json, at: definition.path) }
    }

    private mutating func reserve(_ path: [String]) throws(JSONSchemaError) -> Int {
        guard schemas.count < SchemaCompiler.schemaLimit else {
            throw JSONSchemaError(path, "", "exceeds the limit of \(SchemaCompiler.schemaLimit) schemas")
        }
        schemas.append([])
        return schemas.count - 1
    }

    /// Compiles a subschema and returns its index.
    private mutating func add(_ json: JSONValue, at path: [String]) throws(JSONSchemaError) -> Int {
        let index = try reserve(path)
        schemas[index] = try checks(json, at: path)
        return index
    }

    private mutating func checks(_ json: JSONValue, at path: [String]) throws(JSONSchemaError) -> [SchemaCheck] {
        guard path.count < 2 * SchemaCompiler.depthLimit else {
            throw JSONSchemaError(path, "", "is nested too deeply")
        }
        if case .bool(let accepts) = json { return accepts ? [] : [.never] }
        guard let members = json.members else { throw JSONSchemaError(path, "", "must be an object, true or false") }
        var checks: [SchemaCheck] = []
        for member in members {
            let keyword = Keyword(name: member.name, value: member.value, path: path)
            if let check = try check(keyword, beside: json) { checks.append(check) }
        }
        return checks
    }

    /// A keyword of a schema with its value.
    private struct Keyword {
        var name: String
        var value: JSONValue
        var path: [String]

        func error(_ message: String) -> JSONSchemaError { JSONSchemaError(path, name, message) }
    }

    /// Returns the check of a keyword; nil for none.
    private mutating func check(
        _ keyword: Keyword,
        beside schema: JSONValue
    ) throws(JSONSchemaError) -> SchemaCheck? {
        switch keyword.name {
        case "type": return .types(try types(keyword))
        case "enum": return .values(try list(keyword))
        case "const": return .values([keyword.value])
        case "required": return .required(try texts(keyword))
        case "properties":
            var properties: [[UInt8]: Int] = [:]
            for member in try members(keyword) {
                properties[Array(member.name.utf8)] =
                    try add(member.value, at: keyword.path + ["properties", member.name])
            }
            return .properties(properties)
        case "additionalProperties":
            // The schema applies to members that `properties` in the same schema does not name.
            let known = Set((schema["properties"]?.members ?? []).map { Array($0.name.utf8) })
            return .otherProperties(known, try subschema(keyword))
        case "prefixItems": return .firstElements(try subschemas(keyword))
        case "items":
            var start = 0
            if case .array(let prefix)? = schema["prefixItems"] { start = prefix.count }
            return .elements(from: start, try subschema(keyword))
        case "anyOf": return .any(try subschemas(keyword))
        case "oneOf": return .one(try subschemas(keyword))
        case "allOf": return .all(try subschemas(keyword))
        case "not": return .not(try subschema(keyword))
        case "$ref": return .all([try reference(keyword)])
        case "minLength": return .length(.minimum, try count(keyword))
        case "maxLength": return .length(.maximum, try count(keyword))
        case "minItems": return .count(.minimum, try count(keyword))
        case "maxItems": return .count(.maximum, try count(keyword))
        case "minimum": return .number(.atLeast, try number(keyword))
        case "maximum": return .number(.atMost, try number(keyword))
        case "exclusiveMinimum": return .number(.above, try number(keyword))
        case "exclusiveMaximum": return .number(.below, try number(keyword))
        default: return try annotation(keyword)
        }
    }

    /// Returns nil for a keyword that needs no check, and throws for every other keyword.
    private func annotation(_ keyword: Keyword) throws(JSONSchemaError) -> SchemaCheck? {
        if SchemaCompiler.annotations.contains(keyword.name) { return nil }
        // In a subschema, `$id` would change the base of references, and definitions would not be compiled.
        if keyword.name == "$id" || SchemaCompiler.definitionKeywords.contains(keyword.name) {
            guard keyword.path.isEmpty else { throw keyword.error("is supported only at the top of the schema") }
            return nil
        }
        throw keyword.error("is not a supported keyword: remove it, or use others")
    }

    // MARK: Values of keywords

    private mutating func subschema(_ keyword: Keyword) throws(JSONSchemaError) -> Int {
        try add(keyword.value, at: keyword.path + [keyword.name])
    }

    private mutating func subschemas(_ keyword: Keyword) throws(JSONSchemaError) -> [Int] {
        var indices: [Int] = []
        for (index, json) in try list(keyword).enumerated() {
            indices.append(try add(json, at: keyword.path + [keyword.name, String(index)]))
        }
        return indices
    }

    private func members(_ keyword: Keyword) throws(JSONSchemaError) -> [JSONValue.Member] {
        guard let members = keyword.value.members else { throw keyword.error("must be an object") }
        return members
    }

    private func list(_ keyword: Keyword) throws(JSONSchemaError) -> [JSONValue] {
        guard case .array(let elements) = keyword.value else { throw keyword.error("must be an array") }
        guard !elements.isEmpty || keyword.name == "required" else { throw keyword.error("must not be empty") }
        return elements
    }

    private func texts(_ keyword: Keyword) throws(JSONSchemaError) -> [String] {
        let elements = try list(keyword)
        let texts = elements.compactMap(\.stringValue)
        guard texts.count == elements.count else { throw keyword.error("must be an array of strings") }
        return texts
    }

    private func types(_ keyword: Keyword) throws(JSONSchemaError) -> [SchemaType] {
        var names: [String] = []
        if let name = keyword.value.stringValue { names = [name] } else { names = try texts(keyword) }
        let types = names.compactMap(SchemaType.init(rawValue:))
        guard types.count == names.count else {
            throw keyword.error("must be of " + SchemaType.allCases.map(\.rawValue).joined(separator: ", "))
        }
        return types
    }

    private func number(_ keyword: Keyword) throws(JSONSchemaError) -> JSONNumber {
        guard case .number(let number) = keyword.value else { throw keyword.error("must be a number") }
        return number
    }

    private func count(_ keyword: Keyword) throws(JSONSchemaError) -> Int {
        guard let number = keyword.value.integerValue, number >= 0, let count = Int(exactly: number) else {
            throw keyword.error("must be a whole number of at least 0")
        }
        return count
    }

    private func reference(_ keyword: Keyword) throws(JSONSchemaError) -> Int {
        guard let index = keyword.value.stringValue.flatMap({ names[$0] }) else {
            throw keyword.error("must be \"#\" or refer to a definition in this schema, as in \"#/$defs/driver\"")
        }
        return index
    }
}

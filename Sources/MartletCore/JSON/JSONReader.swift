/// A reader for untrusted JSON: strict by RFC 8259, bounded in depth and size, safe with any bytes.
///
/// The project uses this reader everywhere. The JSON parsers of system libraries cannot be part of an iOS app, which
/// shares this module, and report neither the position nor the kind of an error.
public enum JSONReader {
    /// The maximum depth of nesting.
    public static let maximumDepth = 64
    /// The maximum number of bytes in a text.
    public static let maximumByteCount = 4 << 20

    /// Parses a value.
    ///
    /// - Parameter bytes: The whole text.
    /// - Returns: The value.
    /// - Throws: ``JSONError`` unless the text is exactly one value in UTF-8 without repeated names in an object.
    public static func read(_ bytes: [UInt8]) throws(JSONError) -> JSONValue {
        var parser = JSONParser<JSONTree>(bytes)
        return try parser.parseDocument()
    }

    /// Parses a payload, in which half of a surrogate pair is read as U+FFFD: the grammar allows such an escape, and
    /// RFC 8259 §8.2 leaves its meaning open.
    ///
    /// - Parameter bytes: The whole text.
    /// - Returns: The value.
    /// - Throws: ``JSONError`` as ``read(_:)``, except ``JSONError/Problem/unpairedSurrogate``.
    package static func readPayload(_ bytes: [UInt8]) throws(JSONError) -> JSONValue {
        var parser = JSONParser<JSONTree>(bytes, replacesUnpairedSurrogates: true)
        return try parser.parseDocument()
    }

    /// Checks whether the bytes are a JSON object, without building its value; repeated names and halves of surrogate
    /// pairs, which the grammar allows, are not detected.
    ///
    /// - Parameter bytes: The whole text.
    /// - Returns: Whether ``read(_:)`` would return an object, except for repeated names and unpaired surrogates.
    public static func isObject(_ bytes: [UInt8]) -> Bool {
        var parser = JSONParser<JSONShape>(bytes, replacesUnpairedSurrogates: true)
        return (try? parser.parseDocument()) == .object
    }
}

/// The values that a parser builds from what it reads.
protocol JSONConstruction {
    associatedtype Value
    associatedtype Members

    static var null: Value { get }
    static var noMembers: Members { get }
    static func bool(_ value: Bool) -> Value
    static func number(_ text: ArraySlice<UInt8>) -> Value
    static func string(_ text: ArraySlice<UInt8>, escapes: [UInt8]?) -> Value
    static func array(_ elements: [Value]) -> Value
    static func object(_ members: Members) -> Value
    /// Appends an element; constructions that need no elements leave the list empty.
    static func add(_ element: Value, to elements: inout [Value])
    /// Adds a member; returns false if its name is already present.
    static func add(_ value: Value, named name: Value, to members: inout Members) -> Bool
    /// Returns the text of a value that was built as a name.
    static func text(of name: Value) -> String
}

/// Builds ``JSONValue``s.
enum JSONTree: JSONConstruction {
    struct Members {
        var list: [JSONValue.Member] = []
        var names: Set<String> = []
    }

    static var null: JSONValue { .null }
    static var noMembers: Members { Members() }

    static func bool(_ value: Bool) -> JSONValue { .bool(value) }

    static func number(_ text: ArraySlice<UInt8>) -> JSONValue {
        .number(JSONNumber(text: String(decoding: text, as: UTF8.self)))
    }

    static func string(_ text: ArraySlice<UInt8>, escapes: [UInt8]?) -> JSONValue {
        .string(escapes.map { String(decoding: $0, as: UTF8.self) } ?? String(decoding: text, as: UTF8.self))
    }

    static func array(_ elements: [JSONValue]) -> JSONValue { .array(elements) }

    static func object(_ members: Members) -> JSONValue { .object(members.list) }

    static func add(_ element: JSONValue, to elements: inout [JSONValue]) {
        elements.append(element)
    }

    static func add(_ value: JSONValue, named name: JSONValue, to members: inout Members) -> Bool {
        let name = text(of: name)
        // A set is only faster with many names to compare.
        if members.list.count < 16 {
            if members.list.contains(where: { $0.name == name }) { return false }
        } else {
            if members.names.isEmpty { members.names = Set(members.list.map(\.name)) }
            guard members.names.insert(name).inserted else { return false }
        }
        members.list.append(JSONValue.Member(name, value))
        return true
    }

    static func text(of name: JSONValue) -> String { name.stringValue ?? "" }
}

/// Records only whether a value is an object.
enum JSONShape: JSONConstruction {
    enum Kind {
        case object
        case other
    }

    static var null: Kind { .other }
    static var noMembers: Void { () }

    static func bool(_ value: Bool) -> Kind { .other }
    static func number(_ text: ArraySlice<UInt8>) -> Kind { .other }
    static func string(_ text: ArraySlice<UInt8>, escapes: [UInt8]?) -> Kind { .other }
    static func array(_ elements: [Kind]) -> Kind { .other }
    static func object(_ members: Void) -> Kind { .object }
    static func add(_ element: Kind, to elements: inout [Kind]) {}
    static func add(_ value: Kind, named name: Kind, to members: inout Void) -> Bool { true }
    static func text(of name: Kind) -> String { "" }
}

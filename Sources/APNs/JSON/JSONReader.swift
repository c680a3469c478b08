/// Reads JSON that came from outside: strict by RFC 8259, bounded in depth and size, safe with any bytes.
///
/// It is the project's one reader. A system library would have cost more than it saves: it could not be part of an
/// iOS app, which shares this module, and it reports neither the place of an error nor what to call it.
public enum JSONReader {
    /// Levels of nesting that are followed.
    public static let maximumDepth = 64
    /// Bytes that are looked at.
    public static let maximumByteCount = 4 << 20

    /// Reads one value.
    ///
    /// - Parameter bytes: The whole text.
    /// - Returns: The value.
    /// - Throws: ``JSONError`` for anything but exactly one value in UTF-8, with no name twice in an object.
    public static func read(_ bytes: [UInt8]) throws(JSONError) -> JSONValue {
        var parser = JSONParser<JSONTree>(bytes)
        return try parser.parseDocument()
    }

    /// Looks whether the bytes are one object, without remembering it; names that occur twice go unnoticed.
    ///
    /// - Parameter bytes: The whole text.
    /// - Returns: Whether ``read(_:)`` would make an object of it, save for names that occur twice.
    public static func isObject(_ bytes: [UInt8]) -> Bool {
        var parser = JSONParser<JSONShape>(bytes)
        return (try? parser.parseDocument()) == .object
    }
}

/// What a parser makes of what it reads.
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
    /// Adds an element; constructions that need none leave the list empty.
    static func add(_ element: Value, to elements: inout [Value])
    /// Adds a member; false when its name is there already.
    static func add(_ value: Value, named name: Value, to members: inout Members) -> Bool
    /// The text of a value that was made as a name.
    static func text(of name: Value) -> String
}

/// Makes values.
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
        // A set pays only when there are many names to compare with.
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

/// Remembers nothing but what kind of value it was.
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

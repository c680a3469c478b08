// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// A decoder that supplies placeholder values to a type and records what the type decodes.
struct ExploringDecoder: Decoder {
    let sketch: SchemaSketch
    let exploration: SchemaExploration
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        sketch.shape = .object
        return KeyedDecodingContainer(ExploringObject<Key>(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        sketch.shape = .list
        return ExploringList(decoder: self)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        ExploringValue(decoder: self)
    }

    fileprivate func explore<Value: Decodable>(_ type: Value.Type, into sketch: SchemaSketch) throws -> Value {
        try exploration.explore(type, into: sketch, at: codingPath)
    }
}

private struct ExploringObject<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: ExploringDecoder
    var codingPath: [any CodingKey] { decoder.codingPath }
    /// Always empty, so a type that enumerates the keys decodes none.
    var allKeys: [Key] { [] }

    private func inner(_ key: any CodingKey) -> ExploringDecoder {
        let sketch = decoder.sketch.field(key.stringValue)
        return ExploringDecoder(sketch: sketch, exploration: decoder.exploration, codingPath: codingPath + [key])
    }

    // The default `decodeIfPresent` calls the next two methods before it decodes.
    func contains(_ key: Key) -> Bool {
        decoder.sketch.looked(for: key.stringValue)
        return true
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        decoder.sketch.field(key.stringValue).isNullable = true
        return false
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        let inner = inner(key)
        return try inner.explore(type, into: inner.sketch)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try inner(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try inner(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { inner(SuperKey()) }

    func superDecoder(forKey key: Key) throws -> any Decoder { inner(key) }
}

/// The key of `superDecoder()`.
private struct SuperKey: CodingKey {
    var stringValue: String { "super" }
    var intValue: Int? { nil }

    init() {}
    init?(stringValue: String) { nil }
    init?(intValue: Int) { nil }
}

private struct ExploringList: UnkeyedDecodingContainer {
    let decoder: ExploringDecoder
    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { nil }
    var currentIndex: Int { decoder.sketch.elements.count }
    /// Whether the list has ended: true after one element, for a type that decodes until the end.
    var isAtEnd: Bool {
        decoder.sketch.asksForEnd = true
        return !decoder.sketch.elements.isEmpty
    }

    private func next() throws(SchemaExplorationError) -> SchemaSketch {
        let sketch = decoder.sketch
        guard !sketch.asksForEnd || sketch.elements.isEmpty else {
            throw decoder.exploration.refusal("it decodes an array in a way that is not supported")
        }
        let element = SchemaSketch()
        sketch.elements.append(element)
        return element
    }

    mutating func decodeNil() throws -> Bool {
        throw decoder.exploration.refusal("it checks elements of an array for null, which is not supported")
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try decoder.explore(type, into: next())
    }

    mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try nested().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try nested().unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder { try nested() }

    private func nested() throws -> ExploringDecoder {
        ExploringDecoder(sketch: try next(), exploration: decoder.exploration, codingPath: codingPath)
    }
}

private struct ExploringValue: SingleValueDecodingContainer {
    let decoder: ExploringDecoder
    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool {
        decoder.sketch.isNullable = true
        return false
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try decoder.explore(type, into: decoder.sketch)
    }
}

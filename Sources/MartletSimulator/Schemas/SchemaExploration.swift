// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The reason that no schema can be derived from a Swift type's decoding.
public struct SchemaExplorationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The type and the reason, in a sentence without the final stop.
    public let description: String
}

/// An observation of what a type decodes.
final class SchemaExploration {
    /// The maximum depth of nested types: a type that contains itself would be explored without end.
    private static let depthLimit = 32

    private var types: [String] = []
    /// The first refusal, stored because a type may catch the error.
    private(set) var error: SchemaExplorationError?

    /// Records the reason for which the exploration cannot continue, and returns the first such error.
    func refusal(_ why: String) -> SchemaExplorationError {
        let refusal = SchemaExplorationError(description: "\(types.last ?? "the type"): \(why)")
        error = error ?? refusal
        return error ?? refusal
    }

    /// Makes a type decode placeholder values, and returns the decoded value.
    func explore<Value: Decodable>(
        _ type: Value.Type,
        into sketch: SchemaSketch,
        at path: [any CodingKey]
    ) throws -> Value {
        types.append(String(describing: type))
        guard types.count <= SchemaExploration.depthLimit else {
            throw refusal("it contains itself: write its schema manually")
        }
        if let (members, example, placeholder) = try scalar(type) {
            sketch.shape = .scalar(members, example: example)
            types.removeLast()
            return placeholder
        }
        let value = try container(type, into: sketch, at: path)
        types.removeLast()
        return value
    }

    private func container<Value: Decodable>(
        _ type: Value.Type,
        into sketch: SchemaSketch,
        at path: [any CodingKey]
    ) throws -> Value {
        if let map = type as? any ExploredMap.Type {
            let values = SchemaSketch()
            try map.exploreValues(self, into: values, at: path)
            sketch.shape = .map(values)
            if let empty = map.empty as? Value { return empty }
        }
        if type is any ExploredDictionary.Type { throw refusal("the keys of a dictionary must be strings") }
        do {
            return try type.init(from: ExploringDecoder(sketch: sketch, exploration: self, codingPath: path))
        } catch let error as SchemaExplorationError {
            throw error
        } catch {
            throw refusal(
                type is any RawRepresentable.Type
                    ? "its values are unknown: make it CaseIterable"
                    : "it does not decode placeholder values (\(error)): write its schema manually"
            )
        }
    }

    /// Returns the schema members, example and placeholder of a type that decodes from one JSON value; nil for other
    /// types.
    private func scalar<Value>(_ type: Value.Type) throws -> ([JSONValue.Member], JSONValue, Value)? {
        let known: (members: [JSONValue.Member], example: JSONValue, placeholder: Any)?
        switch type {
        case is String.Type: known = ([.init("type", "string")], "", "")
        case is Bool.Type: known = ([.init("type", "boolean")], false, false)
        case let type as any FixedWidthInteger.Type: known = whole(type)
        case let type as any BinaryFloatingPoint.Type: known = fraction(type)
        case is Decimal.Type: known = ([.init("type", "number")], 0, Decimal.zero)
        case is Date.Type:
            let note = JSONValue.Member("description", "A date as seconds since 2001-01-01.")
            known = ([.init("type", "number"), note], 0, Date(timeIntervalSinceReferenceDate: 0))
        case is UUID.Type:
            let id = UUID()
            known = ([.init("type", "string"), .init("format", "uuid")], .string(id.uuidString), id)
        case is Data.Type:
            known = ([.init("type", "string"), .init("contentEncoding", "base64")], "", Data())
        case is URL.Type:
            let address = "https://example.com"
            guard let url = URL(string: address) else { return nil }
            known = ([.init("type", "string"), .init("minLength", 1), .init("format", "uri")], .string(address), url)
        case let type as any (CaseIterable & RawRepresentable & Decodable).Type: known = try choice(type)
        default: known = nil
        }
        guard let known, let placeholder = known.placeholder as? Value else { return nil }
        return (known.members, known.example, placeholder)
    }

    private func whole<Whole: FixedWidthInteger>(_ type: Whole.Type) -> ([JSONValue.Member], JSONValue, Any) {
        let members: [JSONValue.Member] = [
            .init("type", "integer"), .init("minimum", .integer(type.min)), .init("maximum", .integer(type.max)),
        ]
        return (members, 0, type.init(0))
    }

    private func fraction<Fraction: BinaryFloatingPoint>(
        _ type: Fraction.Type
    ) -> ([JSONValue.Member], JSONValue, Any)? {
        ([.init("type", "number")], 0, type.init(0))
    }

    /// Returns the schema of an enumeration; nil for raw values that are neither strings nor integers.
    private func choice<Choice: CaseIterable & RawRepresentable & Decodable>(
        _ type: Choice.Type
    ) throws -> ([JSONValue.Member], JSONValue, Any)? {
        var values: [JSONValue] = []
        for choice in type.allCases {
            guard let value = SchemaExploration.json(choice.rawValue) else { return nil }
            // The enumeration may have a custom `init(from:)`.
            guard let decoded = try? PhoneDecoding.decode(type, from: value),
                SchemaExploration.json(decoded.rawValue) == value
            else { throw refusal("it does not decode its raw values: write its schema manually") }
            values.append(value)
        }
        guard let example = values.first, let placeholder = type.allCases.first else {
            throw refusal("it has no cases")
        }
        return ([.init("enum", .array(values))], example, placeholder)
    }

    private static func json(_ rawValue: Any) -> JSONValue? {
        switch rawValue {
        case let text as String: .string(text)
        case let number as any BinaryInteger: .integer(number)
        default: nil
        }
    }
}

/// A dictionary with keys of any type.
private protocol ExploredDictionary {}

extension Dictionary: ExploredDictionary {}

/// A dictionary that is encoded as a JSON object.
private protocol ExploredMap {
    static var empty: Self { get }
    static func exploreValues(
        _ exploration: SchemaExploration,
        into sketch: SchemaSketch,
        at path: [any CodingKey]
    ) throws
}

extension Dictionary: ExploredMap where Key == String, Value: Decodable {
    static var empty: [String: Value] { [:] }

    static func exploreValues(
        _ exploration: SchemaExploration,
        into sketch: SchemaSketch,
        at path: [any CodingKey]
    ) throws {
        _ = try exploration.explore(Value.self, into: sketch, at: path)
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Decodes JSON as ActivityKit does, with the default strategies of `JSONDecoder`, and describes failures.
///
/// Source: "Starting and updating Live Activities with ActivityKit push notifications".
enum PhoneDecoding {
    /// The error for a value that is not a date; the decoder's own error would name `Double` instead.
    private struct DateError: Error {
        let path: [any CodingKey]
    }

    /// Returns the violation that prevents a value from being decoded; nil when it can be decoded.
    static func violation(of value: JSONValue, decoding type: (some Decodable).Type) -> JSONSchema.Violation? {
        do {
            _ = try decode(type, from: value)
            return nil
        } catch let error as DateError {
            let location = Location(error.path, in: value)
            return location.violation("is \(location.typeName), and the app expects a date as seconds since 2001-01-01")
        } catch let error as DecodingError {
            return violation(error, in: value, decoding: type)
        } catch {
            return JSONSchema.Violation("", "cannot be decoded by the app's type: \(error)")
        }
    }

    /// Returns the value as the app would decode it.
    static func decode<Value: Decodable>(_ type: Value.Type, from value: JSONValue) throws -> Value {
        let decoder = JSONDecoder()
        // This decodes the same dates as the default strategy, but its error says that a date was expected.
        decoder.dateDecodingStrategy = .custom { decoder in
            do {
                return try Date(from: decoder)
            } catch is DecodingError {
                throw DateError(path: decoder.codingPath)
            }
        }
        return try decoder.decode(type, from: Data(value.encoded()))
    }

    private static func violation(
        _ error: DecodingError,
        in value: JSONValue,
        decoding type: (some Decodable).Type
    ) -> JSONSchema.Violation {
        switch error {
        case .keyNotFound(let key, let context):
            return Location(context.codingPath + [key], in: value).violation("is missing")
        case .valueNotFound(let type, let context):
            let location = Location(context.codingPath, in: value)
            guard location.value == .null else { return location.violation("is missing: the array is too short") }
            return location.violation("is null, and the app expects \(jsonType(of: type))")
        case .typeMismatch(let type, let context):
            let location = Location(context.codingPath, in: value)
            return location.violation("is \(location.typeName), and the app expects \(jsonType(of: type))")
        case .dataCorrupted(let context) where context.codingPath.isEmpty:
            // The decoder reports a number that does not fit as invalid JSON, without its location.
            return unrepresentableNumber(in: value, decoding: type)
                ?? JSONSchema.Violation("", decodingFailure(context.debugDescription))
        case .dataCorrupted(let context):
            return Location(context.codingPath, in: value).violation(decodingFailure(context.debugDescription))
        @unknown default:
            return JSONSchema.Violation("", decodingFailure("\(error)"))
        }
    }

    /// The maximum number of numbers that are tried to find one that does not fit.
    private static let triedNumbers = 200

    /// Returns the violation for the first number that, when replaced by 0, lets the decoder continue.
    private static func unrepresentableNumber(in value: JSONValue, decoding type: (some Decodable).Type) -> JSONSchema
        .Violation?
    {
        for (path, number) in value.numbers.prefix(triedNumbers) {
            do {
                _ = try decode(type, from: value.replacing(path[...], with: 0))
            } catch DecodingError.dataCorrupted(let context) where context.codingPath.isEmpty {
                continue
            } catch {}
            return JSONSchema.Violation(
                JSONPointer.path(path),
                "is \(number.text), which the app's type cannot represent"
            )
        }
        return nil
    }

    private static func decodingFailure(_ text: String) -> String {
        "cannot be decoded by the app's type: " + (text.hasSuffix(".") ? String(text.dropLast()) : text)
    }

    /// Returns the JSON type that a type decodes from, for messages.
    private static func jsonType(of type: any Any.Type) -> String {
        switch type {
        case is String.Type: return "a string"
        case is Bool.Type: return "true or false"
        case is any BinaryInteger.Type: return "a whole number"
        case is any BinaryFloatingPoint.Type, is Decimal.Type: return "a number"
        case is Date.Type: return "a date as seconds since 2001-01-01"
        case is Data.Type: return "a base64 string"
        default: break
        }
        let name = String(describing: type)
        if name.hasPrefix("Dictionary<") { return "an object" }
        if name.hasPrefix("Array<") || name.hasPrefix("Set<") { return "an array" }
        return "a value of the type \(name)"
    }

    /// The location in the JSON that a decoding error refers to.
    private struct Location {
        private let pointer: String
        /// The value at the location; nil for none.
        let value: JSONValue?

        init(_ path: [any CodingKey], in whole: JSONValue) {
            var names: [String] = []
            var value: JSONValue? = whole
            for key in path {
                if case .array(let elements)? = value, let index = key.intValue {
                    names.append(String(index))
                    value = elements.indices.contains(index) ? elements[index] : nil
                } else {
                    names.append(key.stringValue)
                    value = value?[key.stringValue]
                }
            }
            pointer = JSONPointer.path(names)
            self.value = value
        }

        var typeName: String { value?.typeName ?? "missing" }

        func violation(_ message: String) -> JSONSchema.Violation {
            JSONSchema.Violation(pointer, message)
        }
    }
}

extension JSONValue {
    /// All numbers in the value, with their paths.
    fileprivate var numbers: [(path: [String], number: JSONNumber)] {
        switch self {
        case .null, .bool, .string: []
        case .number(let number): [([], number)]
        case .array(let elements):
            elements.enumerated().flatMap { index, element in
                element.numbers.map { ([String(index)] + $0.path, $0.number) }
            }
        case .object(let members):
            members.flatMap { member in member.value.numbers.map { ([member.name] + $0.path, $0.number) } }
        }
    }

    /// Returns the value with a part replaced.
    fileprivate func replacing(_ path: ArraySlice<String>, with value: JSONValue) -> JSONValue {
        guard let name = path.first else { return value }
        switch self {
        case .null, .bool, .string, .number: return self
        case .array(var elements):
            guard let index = Int(name), elements.indices.contains(index) else { return self }
            elements[index] = elements[index].replacing(path.dropFirst(), with: value)
            return .array(elements)
        case .object(let members):
            return .object(
                members.map { member in
                    member.name == name ? Member(name, member.value.replacing(path.dropFirst(), with: value)) : member
                }
            )
        }
    }
}

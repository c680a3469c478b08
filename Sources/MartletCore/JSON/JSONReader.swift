// SPDX-License-Identifier: Apache-2.0

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
    /// - Throws: ``JSONError`` unless the text is exactly one value in UTF-8 without repeated names in an object. A
    ///   byte order mark before the value is ignored (RFC 8259 §8.1).
    public static func read(_ bytes: [UInt8]) throws(JSONError) -> JSONValue {
        var parser = JSONParser(bytes, ignoresByteOrderMark: true)
        return try parser.parseDocument()
    }

    /// Parses a value, and stops when it contains too many.
    ///
    /// - Parameters:
    ///   - bytes: The whole text.
    ///   - maximumValueCount: The maximum number of values, of which each array, object, element and member is one.
    /// - Returns: The value.
    /// - Throws: ``JSONError`` as ``read(_:)``, and ``JSONError/Problem/tooManyValues(maximum:)``.
    package static func read(_ bytes: [UInt8], maximumValueCount: Int) throws(JSONError) -> JSONValue {
        var parser = JSONParser(bytes, ignoresByteOrderMark: true, maximumValueCount: maximumValueCount)
        return try parser.parseDocument()
    }

    /// Parses a payload, in which half of a surrogate pair is read as U+FFFD: the grammar allows such an escape, and
    /// RFC 8259 §8.2 leaves its meaning open.
    ///
    /// - Parameter bytes: The whole text.
    /// - Returns: The value.
    /// - Throws: ``JSONError`` as ``read(_:)``, except ``JSONError/Problem/unpairedSurrogate``.
    package static func readPayload(_ bytes: [UInt8]) throws(JSONError) -> JSONValue {
        var parser = JSONParser(bytes, replacesUnpairedSurrogates: true)
        return try parser.parseDocument()
    }

    /// Checks whether the bytes are a JSON object, without building its value; repeated names and halves of surrogate
    /// pairs, which the grammar allows, are not detected.
    ///
    /// - Parameter bytes: The whole text.
    /// - Returns: Whether ``read(_:)`` would return an object, except for repeated names and unpaired surrogates.
    public static func isObject(_ bytes: [UInt8]) -> Bool {
        var parser = JSONParser(bytes, replacesUnpairedSurrogates: true, buildsValues: false)
        return (try? parser.parseDocument())?.members != nil
    }
}

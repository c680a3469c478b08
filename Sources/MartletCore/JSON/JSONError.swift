// SPDX-License-Identifier: Apache-2.0

/// A syntax error in JSON text, with its position.
public struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of errors in JSON text.
    public enum Problem: Sendable, Hashable {
        /// The text ends before the value is complete.
        case unexpectedEnd
        /// This byte is not allowed at this position.
        case unexpectedByte(UInt8)
        /// The text is not UTF-8.
        case notUTF8
        /// The value is followed by more bytes.
        case trailingBytes
        /// Arrays and objects are nested deeper than ``JSONReader/maximumDepth``.
        case tooDeep
        /// The text is longer than ``JSONReader/maximumByteCount``.
        case tooLong
        /// The text has more values than its reader takes.
        case tooManyValues(maximum: Int)
        /// A name occurs twice in one object.
        case duplicateName(String)
        /// A `\` is not followed by a valid escape.
        case badEscape
        /// An escape is half of a surrogate pair without the other half (RFC 8259 §8.2).
        case unpairedSurrogate
        /// A string contains a control character that must be escaped.
        case controlCharacter
    }

    /// The kind of error.
    public let problem: Problem
    /// The byte offset of the error.
    public let offset: Int
    /// The line of the error, from 1.
    public let line: Int
    /// The column of the error in bytes, from 1.
    public let column: Int
    /// The character at the position; nil at the end of the text.
    private let character: Unicode.Scalar?

    init(_ problem: Problem, at offset: Int, in bytes: [UInt8]) {
        self.problem = problem
        self.offset = offset
        let before = bytes.prefix(offset)
        line = 1 + before.count { $0 == UInt8(ascii: "\n") }
        character = String(decoding: bytes.dropFirst(offset).prefix(4), as: UTF8.self).unicodeScalars.first
        column = 1 + offset - (before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0)
    }

    /// The error and its position, in a sentence without the final stop.
    public var description: String {
        "line \(line), column \(column): " + explanation
    }

    /// The rule that the text breaks, after the name of the text in a sentence.
    ///
    /// A text that exceeds a limit, or repeats a name, is valid JSON.
    package var rule: String {
        switch problem {
        case .tooDeep, .tooLong, .tooManyValues, .duplicateName: "cannot be used"
        default: "is not valid JSON"
        }
    }

    private var explanation: String {
        switch problem {
        case .unexpectedEnd: "the JSON ends too early"
        case .unexpectedByte(let byte): unexpected(byte)
        case .notUTF8: "the JSON is not UTF-8"
        case .trailingBytes: "something follows the JSON value"
        case .tooDeep: "arrays and objects are nested deeper than \(JSONReader.maximumDepth) levels"
        case .tooLong: "the JSON is longer than \(JSONReader.maximumByteCount) bytes"
        case .tooManyValues(let maximum): "the JSON has more than \(maximum) values"
        case .duplicateName(let name): "the name \(ShownValue.quoted(name)) occurs twice in one object"
        case .badEscape: "a '\\' is followed by no valid escape"
        case .unpairedSurrogate: "an escape is half a surrogate pair, which stands for no character by itself"
        case .controlCharacter: "a control character in a string must be escaped"
        }
    }

    private func unexpected(_ byte: UInt8) -> String {
        guard let character, character.value >= 0x20, character.value != 0x7F, character.value != 0xFFFD else {
            return "the byte \(byte) cannot stand here"
        }
        switch character {
        case "\u{201C}", "\u{201D}", "\u{201E}", "\u{2018}", "\u{2019}", "\u{00AB}", "\u{00BB}":
            return "'\(character)' cannot stand here: JSON has straight quotation marks (\")"
        case "\u{FEFF}", "\u{00A0}", "\u{200B}":
            return "the invisible character U+\(String(character.value, radix: 16, uppercase: true)) cannot stand here"
        default:
            return "'\(character)' cannot stand here"
        }
    }
}

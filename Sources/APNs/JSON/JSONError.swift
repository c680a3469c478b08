/// An error in JSON text, with its place.
public struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What can be wrong with JSON.
    public enum Problem: Sendable, Hashable {
        /// The text ends too early.
        case unexpectedEnd
        /// This byte cannot stand here.
        case unexpectedByte(UInt8)
        /// The text is not UTF-8.
        case notUTF8
        /// Something follows the value.
        case trailingBytes
        /// Arrays and objects are nested deeper than the bound.
        case tooDeep
        /// The text is longer than the bound.
        case tooLong
        /// A name occurs twice in one object.
        case duplicateName(String)
        /// A `\` is followed by something that is not an escape.
        case badEscape
        /// An escape is one half of a surrogate pair without the other half (RFC 8259 §8.2).
        case unpairedSurrogate
        /// A string has a control character that must be escaped.
        case controlCharacter
    }

    /// What is wrong.
    public let problem: Problem
    /// Bytes before the place.
    public let offset: Int
    /// Line of the place, from 1.
    public let line: Int
    /// Column of the place in bytes, from 1.
    public let column: Int

    init(_ problem: Problem, at offset: Int, in bytes: [UInt8]) {
        self.problem = problem
        self.offset = offset
        let before = bytes.prefix(offset)
        line = 1 + before.count { $0 == UInt8(ascii: "\n") }
        column = 1 + offset - (before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0)
    }

    /// What is wrong and where, in a sentence without the final stop.
    public var description: String {
        "line \(line), column \(column): " + explanation
    }

    private var explanation: String {
        switch problem {
        case .unexpectedEnd: "the JSON ends too early"
        case .unexpectedByte(let byte) where byte >= 0x20 && byte < 0x7F:
            "'\(Character(Unicode.Scalar(byte)))' cannot stand here"
        case .unexpectedByte(let byte): "the byte \(byte) cannot stand here"
        case .notUTF8: "the JSON is not UTF-8"
        case .trailingBytes: "something follows the JSON value"
        case .tooDeep: "arrays and objects are nested deeper than \(JSONReader.maximumDepth) levels"
        case .tooLong: "the JSON is longer than \(JSONReader.maximumByteCount) bytes"
        case .duplicateName(let name): "the name \"\(name)\" occurs twice in one object"
        case .badEscape: "a '\\' is followed by no valid escape"
        case .unpairedSurrogate: "an escape is half a surrogate pair, which stands for no character by itself"
        case .controlCharacter: "a control character in a string must be escaped"
        }
    }
}

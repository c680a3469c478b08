// SPDX-License-Identifier: Apache-2.0

import MartletCommands

/// A byte-by-byte scanner for CSV (RFC 4180), which determines the end of a record and the meaning of each byte.
struct CSVScanner {
    private enum State {
        case fieldStart
        case unquoted
        case quoted
        case closed
        case surplus
    }

    /// The meaning of a byte.
    enum Meaning {
        case content
        /// A quotation mark, or white space around a quoted field.
        case syntax
        case separator
        /// A line feed outside quotation marks.
        case end
    }

    private var state = State.fieldStart

    /// Whether the last field began with a quotation mark.
    private(set) var isQuotedField = false

    /// Whether the last bytes are inside quotation marks, where a line feed is content.
    var isInsideQuotes: Bool { state == .quoted }

    /// Whether text follows a closing quotation mark in the same field.
    private(set) var hasSurplus = false

    /// Returns the meaning of the next byte.
    mutating func read(_ byte: UInt8) -> Meaning {
        switch (state, byte) {
        case (.quoted, UInt8(ascii: "\"")):
            state = .closed
            return .syntax
        case (.quoted, _): return .content
        case (.closed, UInt8(ascii: "\"")):
            state = .quoted
            return .content
        case (_, UInt8(ascii: "\n")):
            self = CSVScanner()
            return .end
        case (_, UInt8(ascii: ",")):
            state = .fieldStart
            isQuotedField = false
            return .separator
        case (.fieldStart, UInt8(ascii: "\"")):
            state = .quoted
            isQuotedField = true
            return .syntax
        case (.fieldStart, UInt8(ascii: " ")), (.closed, UInt8(ascii: " ")), (.closed, UInt8(ascii: "\r")):
            return .syntax
        case (.fieldStart, _):
            state = .unquoted
            return .content
        case (.closed, _):
            state = .surplus
            hasSurplus = true
            return .content
        case (.unquoted, _), (.surplus, _): return .content
        }
    }

    /// Returns the fields of a record: quoted fields unchanged, others without surrounding spaces.
    ///
    /// - Throws: ``UsageError`` for text after a closing quotation mark.
    static func fields(of record: ArraySlice<UInt8>) throws(UsageError) -> [String] {
        var scanner = CSVScanner()
        var fields: [String] = []
        var field: [UInt8] = []
        func endField(isQuoted: Bool) {
            let text = String(decoding: field, as: UTF8.self)
            fields.append(isQuoted ? text : text.trimmingSpaces)
            field.removeAll(keepingCapacity: true)
        }
        for byte in record {
            let isQuoted = scanner.isQuotedField
            switch scanner.read(byte) {
            case .content: field.append(byte)
            case .syntax: break
            case .separator, .end: endField(isQuoted: isQuoted)
            }
        }
        endField(isQuoted: scanner.isQuotedField)
        guard !scanner.hasSurplus else {
            throw UsageError("has text after a closing quotation mark; write a quotation mark in a text as \"\"")
        }
        return fields
    }
}

extension String {
    var trimmingSpaces: String {
        var text = self[...]
        while text.first?.isWhitespace == true { text = text.dropFirst() }
        while text.last?.isWhitespace == true { text = text.dropLast() }
        return String(text)
    }
}

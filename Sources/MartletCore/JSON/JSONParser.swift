// SPDX-License-Identifier: Apache-2.0

/// A parser for the grammar of RFC 8259, with one byte of look-ahead and recursion bounded by
/// ``JSONReader/maximumDepth``.
struct JSONParser {
    private let bytes: [UInt8]
    /// Whether half of a surrogate pair is read as U+FFFD instead of being an error.
    private let replacesUnpairedSurrogates: Bool
    /// Whether values are built; otherwise each object is an empty object, each other value is null, and repeated names
    /// are not detected.
    private let buildsValues: Bool
    /// The number of values that may still be read.
    private var valuesLeft: Int
    private let maximumValueCount: Int
    private var index = 0
    private var depth = 0

    init(
        _ bytes: [UInt8],
        replacesUnpairedSurrogates: Bool = false,
        buildsValues: Bool = true,
        ignoresByteOrderMark: Bool = false,
        maximumValueCount: Int = .max
    ) {
        self.bytes = bytes
        if ignoresByteOrderMark, bytes.first == 0xEF, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }
        self.buildsValues = buildsValues
        self.maximumValueCount = maximumValueCount
        valuesLeft = maximumValueCount
        self.replacesUnpairedSurrogates = replacesUnpairedSurrogates
    }

    mutating func parseDocument() throws(JSONError) -> JSONValue {
        guard bytes.count <= JSONReader.maximumByteCount else { throw error(.tooLong) }
        // Validate the whole text once: any part between two ASCII characters is then UTF-8 too.
        guard bytes.allSatisfy({ $0 < 0x80 }) || String(validating: bytes, as: UTF8.self) != nil else {
            throw error(.notUTF8)
        }
        let value = try parseValue()
        skipWhitespace()
        guard index == bytes.count else { throw error(.trailingBytes) }
        return value
    }

    private func error(_ problem: JSONError.Problem) -> JSONError {
        JSONError(problem, at: index, in: bytes)
    }

    private mutating func skipWhitespace() {
        while index < bytes.count {
            switch bytes[index] {
            case 0x20, 0x09, 0x0A, 0x0D: index += 1
            default: return
            }
        }
    }

    private func current() throws(JSONError) -> UInt8 {
        guard index < bytes.count else { throw error(.unexpectedEnd) }
        return bytes[index]
    }

    private mutating func expect(_ byte: UInt8) throws(JSONError) {
        let found = try current()
        guard found == byte else { throw error(.unexpectedByte(found)) }
        index += 1
    }

    private mutating func parseValue() throws(JSONError) -> JSONValue {
        skipWhitespace()
        guard valuesLeft > 0 else { throw error(.tooManyValues(maximum: maximumValueCount)) }
        valuesLeft -= 1
        switch try current() {
        case UInt8(ascii: "{"): return try parseObject()
        case UInt8(ascii: "["): return try parseArray()
        case UInt8(ascii: "\""):
            let text = try parseString()
            return buildsValues ? .string(text) : .null
        case UInt8(ascii: "t"):
            try expect(word: "true")
            return buildsValues ? true : .null
        case UInt8(ascii: "f"):
            try expect(word: "false")
            return buildsValues ? false : .null
        case UInt8(ascii: "n"):
            try expect(word: "null")
            return .null
        default: return try parseNumber()
        }
    }

    private mutating func expect(word: String) throws(JSONError) {
        for byte in word.utf8 { try expect(byte) }
    }

    private mutating func enter() throws(JSONError) {
        depth += 1
        guard depth <= JSONReader.maximumDepth else { throw error(.tooDeep) }
        index += 1
        skipWhitespace()
    }

    private mutating func parseObject() throws(JSONError) -> JSONValue {
        try enter()
        defer { depth -= 1 }
        var members = UniqueMembers()
        if try current() == UInt8(ascii: "}") {
            index += 1
            return .object([])
        }
        while true {
            skipWhitespace()
            let start = index
            guard try current() == UInt8(ascii: "\"") else { throw error(.unexpectedByte(bytes[index])) }
            let name = try parseString()
            skipWhitespace()
            try expect(UInt8(ascii: ":"))
            let value = try parseValue()
            if buildsValues, !members.add(value, named: name) {
                index = start
                throw error(.duplicateName(name))
            }
            if try isLast(before: UInt8(ascii: "}")) { return .object(members.list) }
        }
    }

    private mutating func parseArray() throws(JSONError) -> JSONValue {
        try enter()
        defer { depth -= 1 }
        var elements: [JSONValue] = []
        if try current() == UInt8(ascii: "]") {
            index += 1
            return buildsValues ? .array(elements) : .null
        }
        while true {
            let element = try parseValue()
            if buildsValues { elements.append(element) }
            if try isLast(before: UInt8(ascii: "]")) { return buildsValues ? .array(elements) : .null }
        }
    }

    /// Skips the comma before the next element, or the bracket that ends the list, and returns whether it was the
    /// bracket.
    private mutating func isLast(before end: UInt8) throws(JSONError) -> Bool {
        skipWhitespace()
        let byte = try current()
        guard byte == UInt8(ascii: ",") || byte == end else { throw error(.unexpectedByte(byte)) }
        index += 1
        return byte == end
    }

    private mutating func parseNumber() throws(JSONError) -> JSONValue {
        let start = index
        if try current() == UInt8(ascii: "-") { index += 1 }
        if try current() == UInt8(ascii: "0") {
            index += 1
        } else {
            try skipDigits()
        }
        if index < bytes.count, bytes[index] == UInt8(ascii: ".") {
            index += 1
            try skipDigits()
        }
        if index < bytes.count, bytes[index] | 0x20 == UInt8(ascii: "e") {
            index += 1
            let sign = try current()
            if sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { index += 1 }
            try skipDigits()
        }
        guard buildsValues else { return .null }
        return .number(JSONNumber(text: String(decoding: bytes[start..<index], as: UTF8.self)))
    }

    /// Skips at least one digit.
    private mutating func skipDigits() throws(JSONError) {
        let start = index
        while index < bytes.count, bytes[index] >= UInt8(ascii: "0"), bytes[index] <= UInt8(ascii: "9") { index += 1 }
        if index == start { throw error(.unexpectedByte(try current())) }
    }

    /// Returns the text of a string; empty when no values are built.
    private mutating func parseString() throws(JSONError) -> String {
        index += 1
        let start = index
        var escapes: [UInt8]?
        var copied = start
        while true {
            let byte = try current()
            switch byte {
            case UInt8(ascii: "\""):
                escapes?.append(contentsOf: bytes[copied..<index])
                defer { index += 1 }
                guard buildsValues else { return "" }
                return String(decoding: escapes.map { $0[...] } ?? bytes[start..<index], as: UTF8.self)
            case UInt8(ascii: "\\"):
                var text = escapes.take() ?? []
                text.append(contentsOf: bytes[copied..<index])
                try parseEscape(into: &text)
                escapes = text
                copied = index
            case 0..<0x20:
                throw error(.controlCharacter)
            default:
                index += 1
                while index < bytes.count, !bytes[index].needsEscapeInJSON { index += 1 }
            }
        }
    }

    private mutating func parseEscape(into text: inout [UInt8]) throws(JSONError) {
        index += 1
        let byte = try current()
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            index += 1
            let scalar = try parseScalar()
            if scalar.isASCII {
                text.append(UInt8(truncatingIfNeeded: scalar.value))
            } else {
                text.append(contentsOf: Character(scalar).utf8)
            }
            return
        default: throw error(.badEscape)
        }
        index += 1
    }

    /// Parses a character written as `\uXXXX`, or as two of these that form a surrogate pair.
    private mutating func parseScalar() throws(JSONError) -> Unicode.Scalar {
        let unit = try parseFourDigits()
        guard UTF16.isLeadSurrogate(UInt16(unit)) else {
            guard let scalar = Unicode.Scalar(unit) else { return try unpairedSurrogate() }
            return scalar
        }
        let hasNext = index + 1 < bytes.count
        guard hasNext, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u") else {
            return try unpairedSurrogate()
        }
        let next = index
        index += 2
        let second = try parseFourDigits()
        guard UTF16.isTrailSurrogate(UInt16(second)),
            let scalar = Unicode.Scalar(0x1_0000 + (unit - 0xD800) << 10 + (second - 0xDC00))
        else {
            let replacement = try unpairedSurrogate()
            // The second escape may begin a pair of its own.
            index = next
            return replacement
        }
        return scalar
    }

    /// Returns the character in place of half a surrogate pair, which the grammar of JSON allows (RFC 8259 §8.2).
    private func unpairedSurrogate() throws(JSONError) -> Unicode.Scalar {
        guard replacesUnpairedSurrogates else { throw error(.unpairedSurrogate) }
        return "\u{FFFD}"
    }

    private mutating func parseFourDigits() throws(JSONError) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = try current().hexadecimalValue else { throw error(.badEscape) }
            unit = unit << 4 | UInt32(digit)
            index += 1
        }
        return unit
    }
}

/// The members of an object, none of which has the name of another.
private struct UniqueMembers {
    private(set) var list: [JSONValue.Member] = []
    private var names: Set<String> = []
    /// The number of bytes of all names.
    private var byteCount = 0

    /// Adds a member; returns false if its name is already present.
    mutating func add(_ value: JSONValue, named name: String) -> Bool {
        byteCount += name.utf8.count
        // A set is only faster with many or long names to compare.
        if list.count < 16, byteCount < 1_024 {
            for index in list.indices where list[index].name == name { return false }
        } else {
            if names.isEmpty { names = Set(list.map(\.name)) }
            guard names.insert(name).inserted else { return false }
        }
        list.append(JSONValue.Member(name, value))
        return true
    }
}

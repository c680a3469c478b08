// SPDX-License-Identifier: Apache-2.0

internal import LiveSurfaces
internal import MartletCore

/// Reads `.strings` files: `"key" = "value";` with comments and escapes, in UTF-8 or UTF-16.
///
/// Source: "String resources" in Apple's Resource Programming Guide, and the syntax that `plutil` accepts.
struct StringsFile {
    /// The maximum size of a file in bytes.
    static let maximumByteCount = 1 << 20

    private let bytes: [UInt8]
    private var index = 0
    private var line = 1

    /// Reads a file.
    ///
    /// - Returns: The values by key.
    /// - Throws: ``SimulatorError`` with the line of the first error.
    static func read(_ bytes: [UInt8]) throws(SimulatorError) -> [String: LocalizedString] {
        guard bytes.count <= maximumByteCount else {
            throw StringsFile.error("the file is longer than \(maximumByteCount) bytes", line: 1)
        }
        guard let text = text(of: bytes) else {
            throw StringsFile.error("the file is neither UTF-8 nor UTF-16", line: 1)
        }
        var file = StringsFile(bytes: Array(text.utf8))
        return try file.entries()
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private static func text(of bytes: [UInt8]) -> String? {
        let isLittle: Bool
        switch (bytes.first, bytes.dropFirst().first) {
        case (0xFF, 0xFE), (.some(1...), 0): isLittle = true
        case (0xFE, 0xFF), (0, .some(1...)): isLittle = false
        default:
            let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
            return String(validating: bytes.starts(with: mark) ? bytes.dropFirst(3) : bytes[...], as: UTF8.self)
        }
        guard bytes.count.isMultiple(of: 2) else { return nil }
        var units = stride(from: 0, to: bytes.count, by: 2).map { index -> UInt16 in
            let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            return isLittle ? second << 8 | first : first << 8 | second
        }
        if units.first == 0xFEFF { units.removeFirst() }
        return String(validating: units, as: UTF16.self)
    }

    private static func error(_ text: String, line: Int) -> SimulatorError { SimulatorError("line \(line): \(text)") }

    private static func unknownEscape(_ sign: String, line: Int) -> SimulatorError {
        let known = #"\a \b \f \n \r \t \v \" \' \\, octal digits, and \U with four digits"#
        return error("unknown escape \\\(sign); known: \(known)", line: line)
    }

    // MARK: Grammar

    private mutating func entries() throws(SimulatorError) -> [String: LocalizedString] {
        var entries: [String: LocalizedString] = [:]
        var lines: [String: Int] = [:]
        try skipSpace()
        while let byte = peek() {
            let start = line
            let key = byte == UInt8(ascii: "\"") ? try quoted() : try bare()
            try expect("=", after: "key")
            guard peek() == UInt8(ascii: "\"") else {
                throw StringsFile.error("expected a quoted value", line: line)
            }
            let value = try quoted()
            try expect(";", after: "value")
            if let first = lines.updateValue(start, forKey: key) {
                throw StringsFile.error("duplicate key \(ShownValue(key)), first used on line \(first)", line: start)
            }
            entries[key] = .plain(value)
        }
        return entries
    }

    private mutating func expect(_ sign: Unicode.Scalar, after part: String) throws(SimulatorError) {
        try skipSpace()
        guard peek() == UInt8(ascii: sign) else {
            throw StringsFile.error("expected \(sign) after the \(part)", line: line)
        }
        advance()
        try skipSpace()
    }

    private func peek(_ distance: Int = 0) -> UInt8? {
        index + distance < bytes.count ? bytes[index + distance] : nil
    }

    private mutating func advance() {
        if bytes[index] == UInt8(ascii: "\n") { line += 1 }
        index += 1
    }

    /// Skips white space and comments.
    private mutating func skipSpace() throws(SimulatorError) {
        while let byte = peek() {
            if byte == UInt8(ascii: "/"), peek(1) == UInt8(ascii: "/") {
                while let byte = peek(), byte != UInt8(ascii: "\n") { advance() }
            } else if byte == UInt8(ascii: "/"), peek(1) == UInt8(ascii: "*") {
                try skipComment()
            } else if byte == UInt8(ascii: " ") || (9...13).contains(byte) {
                advance()
            } else {
                return
            }
        }
    }

    private mutating func skipComment() throws(SimulatorError) {
        let start = line
        index += 2
        while let byte = peek() {
            if byte == UInt8(ascii: "*"), peek(1) == UInt8(ascii: "/") {
                index += 2
                return
            }
            advance()
        }
        throw StringsFile.error("the comment is not closed", line: start)
    }

    /// Reads a key without quotes: letters, digits and a few other characters.
    private mutating func bare() throws(SimulatorError) -> String {
        let start = index
        while let byte = peek(), byte.isBare { advance() }
        guard index > start else { throw StringsFile.error("expected a key", line: line) }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    private mutating func quoted() throws(SimulatorError) -> String {
        let start = line
        advance()
        var units: [UInt16] = []
        var run = index
        while let byte = peek() {
            guard byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else {
                advance()
                continue
            }
            units += Array(String(decoding: bytes[run..<index], as: UTF8.self).utf16)
            advance()
            if byte == UInt8(ascii: "\"") {
                guard let text = String(validating: units, as: UTF16.self) else {
                    throw StringsFile.error("the escapes are not valid UTF-16", line: start)
                }
                return text
            }
            units.append(try escape())
            run = index
        }
        throw StringsFile.error("the quoted string is not closed", line: start)
    }

    /// Reads the escape sequence after a backslash.
    private mutating func escape() throws(SimulatorError) -> UInt16 {
        guard let byte = peek() else { throw StringsFile.error("the quoted string is not closed", line: line) }
        if (UInt8(ascii: "0")...UInt8(ascii: "7")).contains(byte) { return number(radix: 8, digits: 1...3) ?? 0 }
        let place = line
        advance()
        if byte == UInt8(ascii: "U") {
            guard let unit = number(radix: 16, digits: 4...4) else { throw StringsFile.unknownEscape("U", line: place) }
            return unit
        }
        guard let unit = StringsFile.escapes[byte] else {
            throw StringsFile.unknownEscape(String(decoding: [byte], as: UTF8.self), line: place)
        }
        return unit
    }

    private static let escapes: [UInt8: UInt16] = [
        UInt8(ascii: "a"): 7, UInt8(ascii: "b"): 8, UInt8(ascii: "f"): 12, UInt8(ascii: "n"): 10,
        UInt8(ascii: "r"): 13, UInt8(ascii: "t"): 9, UInt8(ascii: "v"): 11, UInt8(ascii: "\""): 34,
        UInt8(ascii: "\\"): 92, UInt8(ascii: "'"): 39, UInt8(ascii: "\n"): 10,
    ]

    private mutating func number(radix: Int, digits: ClosedRange<Int>) -> UInt16? {
        var text = ""
        while text.utf8.count < digits.upperBound, let byte = peek(), byte < 0x80,
            Character(Unicode.Scalar(byte)).hexDigitValue.map({ $0 < radix }) == true
        {
            text.unicodeScalars.append(Unicode.Scalar(byte))
            advance()
        }
        return digits.contains(text.utf8.count) ? UInt16(text, radix: radix) : nil
    }
}

extension UInt8 {
    /// Whether the byte may occur in a key without quotes.
    fileprivate var isBare: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "_-.:$/".utf8.contains(self)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

extension UInt8 {
    /// Whether the byte is an ASCII digit.
    package var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    /// Whether the byte is an ASCII letter.
    package var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }
}

extension String {
    /// Whether the text is base64 with padding (RFC 4648 §4) of at least one byte.
    var isBase64: Bool {
        let padding = utf8.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        return !isEmpty && utf8.count.isMultiple(of: 4) && padding <= 2
            && utf8.dropLast(padding).allSatisfy { byte in
                byte.isDigit || byte.isLetter || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "/")
            }
    }
}

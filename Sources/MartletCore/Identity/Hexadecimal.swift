// SPDX-License-Identifier: Apache-2.0

extension UInt8 {
    /// Whether the byte is one of `0`–`9`, `a`–`f`, `A`–`F` in ASCII.
    package var isHexadecimalDigit: Bool {
        // Subtraction wraps bytes below the range to large values; setting bit 0x20 converts letters to lower case.
        self &- UInt8(ascii: "0") < 10 || (self | 0x20) &- UInt8(ascii: "a") < 6
    }

    /// The lower-case ASCII digit for a number below 16.
    var hexadecimalDigit: UInt8 {
        self < 10 ? UInt8(ascii: "0") + self : UInt8(ascii: "a") + self - 10
    }

    /// The value of an ASCII hexadecimal digit; nil for other bytes.
    var hexadecimalValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension UInt32 {
    /// The eight lower-case digits in ASCII, the first in the highest byte.
    var hexadecimalDigits: UInt64 {
        // Spread each digit to its own byte, all at once; "a" comes 39 places after the code that would follow "9".
        var digits = UInt64(self)
        digits = (digits | digits << 16) & 0x0000_FFFF_0000_FFFF
        digits = (digits | digits << 8) & 0x00FF_00FF_00FF_00FF
        digits = (digits | digits << 4) & 0x0F0F_0F0F_0F0F_0F0F
        let letters = (digits + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return digits + 0x3030_3030_3030_3030 + letters * 39
    }
}

extension ArraySlice<UInt8> {
    /// The number represented by at most eight bytes, most significant first.
    var bigEndianNumber: UInt64 { reduce(0) { $0 << 8 | UInt64($1) } }

    /// The number represented by at most sixteen hexadecimal digits in ASCII.
    var hexadecimalNumber: UInt64 {
        // The low four bits of a letter count from 1, and letters have bit 6 set, which digits do not.
        reduce(0) { $0 << 4 | UInt64(($1 & 0x0F) + ($1 >> 6) &* 9) }
    }
}

extension String {
    /// Creates a string of `byteCount` bytes, which `write` fills.
    init(byteCount: Int, writing write: (inout MutableRawSpan) -> Void) {
        var text = [UInt8](repeating: 0, count: byteCount)
        // `Array.mutableSpan` requires macOS 26 and iOS 26.
        unsafe text.withUnsafeMutableBytes { buffer in
            var bytes = unsafe buffer.mutableBytes
            write(&bytes)
        }
        self.init(decoding: text, as: UTF8.self)
    }
}

extension [UInt8] {
    /// Appends the two lower-case digits of a byte.
    package mutating func appendHexadecimal(_ byte: UInt8) {
        append((byte >> 4).hexadecimalDigit)
        append((byte & 0x0F).hexadecimalDigit)
    }
}

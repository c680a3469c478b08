extension UInt8 {
    /// Whether this is one of `0`–`9`, `a`–`f`, `A`–`F` in ASCII.
    package var isHexadecimalDigit: Bool {
        // Subtracted so that what is below wraps around to be far above; the bit makes letters small.
        self &- UInt8(ascii: "0") < 10 || (self | 0x20) &- UInt8(ascii: "a") < 6
    }

    /// The lower-case ASCII digit for a number below 16.
    var hexadecimalDigit: UInt8 {
        self < 10 ? UInt8(ascii: "0") + self : UInt8(ascii: "a") + self - 10
    }

    /// What the ASCII digit stands for.
    var hexadecimalValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension [UInt8] {
    /// Adds the two lower-case digits of a byte.
    package mutating func appendHexadecimal(_ byte: UInt8) {
        append((byte >> 4).hexadecimalDigit)
        append((byte & 0x0F).hexadecimalDigit)
    }
}

// SPDX-License-Identifier: Apache-2.0

extension Unicode.Scalar {
    /// Whether the character is a control character, ends a line, or changes the direction of text.
    package var isControl: Bool {
        switch value {
        case 0..<0x20, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}

extension String {
    /// The text as one line, in which the characters that control a terminal or the direction of text are escaped as
    /// JSON escapes them.
    package var escapingControls: String {
        guard unicodeScalars.contains(where: \.isControl) else { return self }
        var text = ""
        for scalar in unicodeScalars {
            guard scalar.isControl else {
                text.unicodeScalars.append(scalar)
                continue
            }
            let digits = String(scalar.value, radix: 16)
            text += "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        }
        return text
    }
}

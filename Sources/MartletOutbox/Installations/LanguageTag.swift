// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// A language tag such as `de`, `de-CH` or `zh-Hant` (RFC 5646), compared without case; apps also report `de_CH`.
package struct LanguageTag: Sendable, Hashable {
    /// The maximum number of bytes of a well-formed tag.
    private static let byteLimit = 40
    private static let hyphen = UInt8(ascii: "-")

    /// The text in lower case, with hyphens.
    private let bytes: [UInt8]

    /// Creates a tag from any text.
    package init(_ text: String) {
        bytes = text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
            case UInt8(ascii: "_"): LanguageTag.hyphen
            default: byte
            }
        }
    }

    private init(bytes: some Sequence<UInt8>) {
        self.bytes = Array(bytes)
    }

    /// Whether the tag has subtags of 1 to 8 letters and digits, and is not too long.
    package var isWellFormed: Bool {
        bytes.count <= LanguageTag.byteLimit
            && bytes.split(separator: LanguageTag.hyphen, omittingEmptySubsequences: false).allSatisfy { subtag in
                (1...8).contains(subtag.count) && subtag.allSatisfy { $0.isLetter || $0.isDigit }
            }
    }

    /// Returns whether the tag is in a language range (basic filtering, RFC 4647 section 3.3.1).
    func isIn(_ range: LanguageTag) -> Bool {
        guard bytes.starts(with: range.bytes) else { return false }
        return bytes.count == range.bytes.count || bytes[range.bytes.count] == LanguageTag.hyphen
    }

    /// The next tag of a lookup, without the last subtag and single characters before it; nil for a tag of one subtag.
    ///
    /// See RFC 4647 section 3.4.
    package var shortened: LanguageTag? {
        var subtags = bytes.split(separator: LanguageTag.hyphen, omittingEmptySubsequences: false).dropLast()
        while let last = subtags.last, last.count == 1 { subtags.removeLast() }
        return subtags.isEmpty ? nil : LanguageTag(bytes: subtags.joined(separator: [LanguageTag.hyphen]))
    }
}

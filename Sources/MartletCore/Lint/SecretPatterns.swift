// SPDX-License-Identifier: Apache-2.0

/// Patterns that recognize secrets in text.
///
/// Each pattern is narrow, so that ordinary pushes have no findings.
enum SecretPatterns {
    /// The minimum length of a word that is taken for a token.
    private static let leastTokenLength = 16

    /// Whether the text contains a PEM block (RFC 7468) with a private key of any kind.
    static func hasPrivateKey(_ bytes: [UInt8], _ text: String) -> Bool {
        // Counting hyphens is faster than searching for words.
        bytes.count(where: { $0 == UInt8(ascii: "-") }) >= 10
            && text.contains("-----BEGIN ") && text.contains("PRIVATE KEY-----")
    }

    /// Whether the text contains three parts of base64url separated by dots, the first two of which are objects (RFC
    /// 7519).
    static func hasWebToken(_ bytes: [UInt8]) -> Bool {
        let dot = UInt8(ascii: ".")
        guard bytes.count(where: { $0 == dot }) >= 2 else { return false }
        return words(of: bytes) { $0.isTokenCharacter || $0 == dot }.contains { word in
            let parts = word.split(separator: dot, omittingEmptySubsequences: false)
            // "eyJ" is the base64 form of the beginning of a JSON object, `{"`.
            return parts.count == 3 && parts.allSatisfy { $0.count >= leastTokenLength }
                && parts.prefix(2).allSatisfy { $0.starts(with: "eyJ".utf8) }
        }
    }

    /// Whether the text contains the word "bearer" followed by a long word with a digit.
    static func hasBearerToken(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= 6 + leastTokenLength else { return false }
        let words = words(of: bytes) { $0 > 0x20 }
        return zip(words, words.dropFirst()).contains { name, token in
            name.count == 6 && zip(name, "bearer".utf8).allSatisfy { $0 | 0x20 == $1 }
                && token.count >= leastTokenLength && token.contains(where: \.isDigit)
        }
    }

    /// Whether the text contains a word with the prefix of a well-known service's keys and the length of a key.
    static func hasAccessKey(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= 20 else { return false }
        let beginnings = ["AKIA", "ASIA", "ghp_", "github_pat_", "sk_live_", "rk_live_", "xoxb-", "xoxp-"]
        return words(of: bytes, \.isTokenCharacter).contains { word in
            guard word.count >= 20, word.contains(where: \.isDigit) else { return false }
            guard let beginning = beginnings.first(where: { word.starts(with: $0.utf8) }) else { return false }
            // Amazon's keys have 20 characters, none of them lower-case letters.
            return !beginning.hasSuffix("IA")
                || word.count == 20 && word.allSatisfy { $0.isDigit || (0x41...0x5A).contains($0) }
        }
    }

    /// Whether the text is an e-mail address and nothing else.
    static func isEmailAddress(_ bytes: [UInt8]) -> Bool {
        guard bytes.contains(UInt8(ascii: "@")) else { return false }
        let parts = bytes.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        guard parts.count == 2, let name = parts.first, let host = parts.last, !name.isEmpty, name.count <= 64 else {
            return false
        }
        let labels = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard labels.count >= 2, let last = labels.last, last.count >= 2 else { return false }
        return name.allSatisfy { $0.isTokenCharacter || "._%+".utf8.contains($0) }
            && labels.allSatisfy { !$0.isEmpty && $0.allSatisfy(\.isTokenCharacter) }
            && last.allSatisfy { (0x61...0x7A).contains($0 | 0x20) }
    }

    // MARK: Payment cards

    /// Whether the text contains a number with the prefix, the length and the check digit of a payment card (ISO/IEC
    /// 7812), its digits together or in groups separated by spaces or hyphens.
    static func hasCardNumber(_ bytes: [UInt8]) -> Bool {
        guard bytes.count(where: \.isDigit) >= 13 else { return false }
        var digits: [UInt8] = []
        var last: UInt8 = 0
        var isPartOfWord = false
        for byte in bytes + [0] {
            let isSeparator = byte == UInt8(ascii: " ") || byte == UInt8(ascii: "-")
            if byte.isDigit {
                if digits.isEmpty { isPartOfWord = last.isTokenCharacter }
                digits.append(byte - UInt8(ascii: "0"))
            } else if !isSeparator || !last.isDigit {
                let goesOn = last.isDigit && byte.isTokenCharacter
                if !isPartOfWord, !goesOn, isCardNumber(digits) { return true }
                digits = []
            }
            last = byte
        }
        return false
    }

    private static func isCardNumber(_ digits: [UInt8]) -> Bool {
        guard (13...19).contains(digits.count) else { return false }
        let beginning = digits.prefix(4).reduce(0) { $0 * 10 + Int($1) }
        let lengths: Set<Int> =
            switch beginning {
            case 4_000...4_999: [13, 16, 19]
            case 5_100...5_599, 2_221...2_720, 6_011, 6_500...6_599, 3_528...3_589: [16]
            case 3_400...3_499, 3_700...3_799: [15]
            case 3_000...3_059, 3_600...3_699, 3_800...3_899: [14]
            case 6_200...6_299: [16, 17, 18, 19]
            default: []
            }
        return lengths.contains(digits.count) && hasCheckDigit(digits)
    }

    /// Whether the last digit is the check digit of the Luhn algorithm.
    private static func hasCheckDigit(_ digits: [UInt8]) -> Bool {
        let sum = digits.reversed().enumerated().reduce(0) { sum, next in
            let digit = Int(next.element)
            guard !next.offset.isMultiple(of: 2) else { return sum + digit }
            return sum + (digit < 5 ? digit * 2 : digit * 2 - 9)
        }
        return sum.isMultiple(of: 10)
    }

    /// Splits the bytes at all characters that are not part of a word.
    private static func words(of bytes: [UInt8], _ isPart: (UInt8) -> Bool) -> [ArraySlice<UInt8>] {
        bytes.split { !isPart($0) }
    }
}

extension UInt8 {
    /// Whether the byte is a base64url character (RFC 4648 §5).
    fileprivate var isTokenCharacter: Bool {
        isDigit || (0x61...0x7A).contains(self | 0x20) || self == UInt8(ascii: "-") || self == UInt8(ascii: "_")
    }
}

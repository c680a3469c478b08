/// Knows secrets by their looks.
///
/// Each pattern is narrow: an ordinary push has to stay without a word.
enum SecretPatterns {
    /// Letters or digits after which a token is taken for one.
    private static let leastTokenLength = 16

    /// A block of PEM (RFC 7468) with a private key of any kind.
    static func hasPrivateKey(_ bytes: [UInt8], _ text: String) -> Bool {
        // Hyphens are quicker to count than words to find.
        bytes.count(where: { $0 == UInt8(ascii: "-") }) >= 10
            && text.contains("-----BEGIN ") && text.contains("PRIVATE KEY-----")
    }

    /// Three parts of base64url with dots between, the first two of which are objects (RFC 7519).
    static func hasWebToken(_ bytes: [UInt8]) -> Bool {
        let dot = UInt8(ascii: ".")
        guard bytes.count(where: { $0 == dot }) >= 2 else { return false }
        return words(of: bytes) { $0.isTokenCharacter || $0 == dot }.contains { word in
            let parts = word.split(separator: dot, omittingEmptySubsequences: false)
            // "eyJ" is what `{"` begins with in base64.
            return parts.count == 3 && parts.allSatisfy { $0.count >= leastTokenLength }
                && parts.prefix(2).allSatisfy { $0.starts(with: "eyJ".utf8) }
        }
    }

    /// The word "bearer" and a long word with a digit after it.
    static func hasBearerToken(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= 6 + leastTokenLength else { return false }
        let words = words(of: bytes) { $0 > 0x20 }
        return zip(words, words.dropFirst()).contains { name, token in
            name.count == 6 && zip(name, "bearer".utf8).allSatisfy { $0 | 0x20 == $1 }
                && token.count >= leastTokenLength && token.contains(where: \.isDigit)
        }
    }

    /// How well-known services begin their keys, and letters or digits enough for one.
    static func hasAccessKey(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= 20 else { return false }
        let beginnings = ["AKIA", "ASIA", "ghp_", "github_pat_", "sk_live_", "rk_live_", "xoxb-", "xoxp-"]
        return words(of: bytes, \.isTokenCharacter).contains { word in
            guard word.count >= 20, word.contains(where: \.isDigit) else { return false }
            guard let beginning = beginnings.first(where: { word.starts(with: $0.utf8) }) else { return false }
            // Those of Amazon have 20 characters, and no small ones.
            return !beginning.hasSuffix("IA")
                || word.count == 20 && word.allSatisfy { $0.isDigit || (0x41...0x5A).contains($0) }
        }
    }

    /// An e-mail address and nothing else.
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

    /// A number with the beginning, the length and the check digit of a card (ISO/IEC 7812), its digits together or in
    /// groups with a space or hyphen between.
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

    /// Whether the last digit is the one that Luhn's sum demands.
    private static func hasCheckDigit(_ digits: [UInt8]) -> Bool {
        let sum = digits.reversed().enumerated().reduce(0) { sum, next in
            let digit = Int(next.element)
            guard !next.offset.isMultiple(of: 2) else { return sum + digit }
            return sum + (digit < 5 ? digit * 2 : digit * 2 - 9)
        }
        return sum.isMultiple(of: 10)
    }

    /// What is left between other characters.
    private static func words(of bytes: [UInt8], _ isPart: (UInt8) -> Bool) -> [ArraySlice<UInt8>] {
        bytes.split { !isPart($0) }
    }
}

extension UInt8 {
    /// Whether base64url has this character (RFC 4648 §5).
    fileprivate var isTokenCharacter: Bool {
        isDigit || (0x61...0x7A).contains(self | 0x20) || self == UInt8(ascii: "-") || self == UInt8(ascii: "_")
    }
}

// SPDX-License-Identifier: Apache-2.0

/// The text for messages about a value that was given as a path or as an argument.
///
/// People pass a secret where the path of its file is expected, and messages are stored in logs. The text is therefore
/// the value itself only if nothing about the value suggests a secret.
package struct ShownValue: Sendable, Hashable, CustomStringConvertible {
    /// Whether the text is the value itself.
    package let isWhole: Bool
    /// The value, or its length if it may be a secret.
    package let description: String

    /// Creates the text for a value.
    package init(_ value: String) {
        isWhole = !ValueShape(value).maybeSecret
        description = isWhole ? value : ShownValue.concealed(value)
    }

    /// Returns the text in place of a value that may be a secret.
    private static func concealed(_ value: String) -> String {
        "text of \(value.count.counted("character")) (not shown, as it may be a secret)"
    }
}

extension ShownValue {
    /// Returns a value, or its length if it may contain a secret between two of these separators.
    package static func text(_ value: String, separators: String) -> String {
        let parts = value.split { separators.contains($0) }
        return parts.allSatisfy { ShownValue(String($0)).isWhole } ? value : concealed(value)
    }

    /// Returns the value in quotation marks, or its length if it may be a secret, for an error about it.
    package static func quoted(_ value: some StringProtocol) -> String {
        let shown = ShownValue(String(value))
        return shown.isWhole ? "\"\(shown)\"" : shown.description
    }
}

/// The features of a value that distinguish paths from secrets.
private struct ValueShape {
    /// The maximum length of a path that is shown; a P-256 key in PEM is longer.
    private static let longestPath = 200
    /// The minimum length of a file name without an extension that may be a random secret.
    private static let leastSecretLength = 32
    /// The minimum number of consecutive letters and digits in such a name; in a UUID there are 12.
    private static let leastRunLength = 16
    /// The beginnings of encoded secrets: a JSON Web Token, PEM in base64, and DER of private keys in base64.
    private static let encodedPrefixes = ["eyJ", "LS0tLS1", "MIGHAgEA", "MIGTAgEA", "MII", "MHcCAQEE"]

    private let value: String
    private let bytes: [UInt8]

    init(_ value: String) {
        self.value = value
        bytes = Array(value.utf8)
    }

    var maybeSecret: Bool {
        bytes.count > ValueShape.longestPath || hasControl || value.contains("-----BEGIN") || isJSON || hasPassword
            || hasSecretPrefix || hasRandomName
    }

    /// Whether the value begins as a path does.
    private var isPath: Bool { ["/", "./", "../", "~/"].contains { value.hasPrefix($0) } }

    /// Whether the value is the content of a JSON file.
    private var isJSON: Bool {
        let text = value.drop(while: \.isWhitespace)
        return text.first == "{" || text.first == "[" && text.contains("\"")
    }

    private var hasControl: Bool {
        value.unicodeScalars.contains { scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: true
            default: false
            }
        }
    }

    /// Whether the value is a URL with a user, a password or a query, or a name with a value.
    private var hasPassword: Bool {
        if value.contains("@"), value.contains(":") { return true }
        let words = value.lowercased()
        if ["password=", "passwd=", "secret=", "token="].contains(where: { words.contains($0) }) { return true }
        guard isPath else { return value.contains("=") || value.contains(": ") }
        // Files and directories may have names such as `region=eu`.
        return name.count >= 20 && name.contains(UInt8(ascii: "=")) && !name.contains(UInt8(ascii: "."))
    }

    private var hasSecretPrefix: Bool {
        ValueShape.words(of: bytes[...], separatedBy: "/,;:?&=").contains { whole in
            // A word that was taken for an option begins with hyphens.
            let word = whole.drop { $0 == UInt8(ascii: "-") }
            let isEncoded = word.count >= 20 && ValueShape.encodedPrefixes.contains { word.starts(with: $0.utf8) }
            let isKey = SecretPrefix.allCases.contains { word.starts(with: $0.rawValue.utf8) }
            return isEncoded || isKey && !word.contains(UInt8(ascii: "."))
        }
    }

    /// Whether the file name is a long word of base64 or hexadecimal digits.
    ///
    /// Directories may have such names, for example those of containers. Base64 contains slashes, so all of a value
    /// that does not begin as a path does is checked.
    private var hasRandomName: Bool {
        ValueShape.words(of: isPath ? name : bytes[...], separatedBy: "").contains(where: ValueShape.isRandom)
    }

    private static func isRandom(_ word: ArraySlice<UInt8>) -> Bool {
        guard word.count >= leastSecretLength, word.contains(where: \.isDigit), word.allSatisfy(isBase64) else {
            return false
        }
        let runs = word.split { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "/") }
        return runs.contains { $0.count >= leastRunLength }
    }

    /// The last component of the path.
    private var name: ArraySlice<UInt8> { bytes.split(separator: UInt8(ascii: "/")).last ?? [] }

    private static func words(of bytes: ArraySlice<UInt8>, separatedBy more: String) -> [ArraySlice<UInt8>] {
        bytes.split { #" "'\"#.utf8.contains($0) || more.utf8.contains($0) }
    }

    /// Whether the byte is a character of base64 or base64url (RFC 4648 §4 and §5).
    private static func isBase64(_ byte: UInt8) -> Bool {
        byte.isDigit || (0x61...0x7A).contains(byte | 0x20) || "+/=-_".utf8.contains(byte)
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// A rule for a text from outside: its length and its characters.
///
/// No rule permits control characters, which the stores use as separators and which PostgreSQL cannot store.
struct TextRule: Sendable, CustomStringConvertible {
    /// The characters that a text may have.
    enum Characters: Sendable {
        case allButControls
        /// The characters from `!` to `~`.
        case visible
        /// The characters from the space to `~`.
        case printable
        /// ASCII letters and digits, and these.
        case lettersDigits(or: String)
    }

    /// The maximum number of bytes in UTF-8.
    let longest: Int
    let characters: Characters

    static let user = TextRule(longest: 128, characters: .allButControls)
    static let tag = TextRule(
        longest: Installation.tagByteLimit,
        characters: .lettersDigits(or: Installation.tagSymbols)
    )
    /// The rule for the name of a token: a type of attributes, an activity or a control.
    static let tokenName = TextRule(longest: 128, characters: .visible)

    /// The rule for the identifier of the surface that an activity shows.
    static let surface = TextRule(longest: 120, characters: .visible)

    static func attribute(_ attribute: Installation.Attribute) -> TextRule {
        switch attribute {
        case .locale: TextRule(longest: 40, characters: .lettersDigits(or: "-_"))
        case .timeZone: TextRule(longest: 64, characters: .lettersDigits(or: "_-+/"))
        case .appVersion, .systemVersion, .model: TextRule(longest: 64, characters: .printable)
        }
    }

    /// The rule as in "must be …".
    var description: String {
        let count = "1 to \(longest)"
        return switch characters {
        case .allButControls: "text of \(count) bytes without control characters"
        case .visible: "\(count) visible ASCII characters"
        case .printable: "\(count) ASCII characters without control characters"
        case .lettersDigits(let others): "\(count) ASCII letters, digits or characters of \(others)"
        }
    }

    /// Returns whether a text follows the rule.
    func accepts(_ text: String) -> Bool {
        guard (1...longest).contains(text.utf8.count) else { return false }
        return text.unicodeScalars.allSatisfy { scalar in
            switch characters {
            case .allButControls: scalar.properties.generalCategory != .control
            case .visible: (0x21...0x7E).contains(scalar.value)
            case .printable: (0x20...0x7E).contains(scalar.value)
            case .lettersDigits(let others):
                switch scalar {
                case "a"..."z", "A"..."Z", "0"..."9": true
                default: others.unicodeScalars.contains(scalar)
                }
            }
        }
    }

    /// Returns the text of a field.
    func text<Failure: JSONFieldError>(of field: JSONField<Failure>) throws(Failure) -> String {
        guard let text = field.value?.stringValue, accepts(text) else { throw field.mismatch(description) }
        return text
    }
}

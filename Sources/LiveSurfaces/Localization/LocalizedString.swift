// SPDX-License-Identifier: Apache-2.0

package import MartletCore

/// The localized string of an app for a key in one language.
package enum LocalizedString: Sendable, Hashable {
    /// The plural categories of languages (Unicode CLDR).
    package enum PluralCategory: String, CaseIterable, Sendable {
        case zero, one, two, few, many, other
    }

    case plain(String)
    case plural([PluralCategory: String])

    /// The string, or an object of strings by plural category.
    package var json: JSONValue {
        switch self {
        case .plain(let text): .string(text)
        case .plural(let forms):
            .object(
                PluralCategory.allCases.compactMap { category in
                    forms[category].map { .init(category.rawValue, .string($0)) }
                }
            )
        }
    }

    /// The size of the texts in bytes.
    package var byteCount: Int { forms.reduce(0) { $0 + $1.utf8.count } }

    /// The texts of all forms.
    var forms: [String] {
        switch self {
        case .plain(let text): [text]
        case .plural(let forms): PluralCategory.allCases.compactMap { forms[$0] }
        }
    }

    /// Returns whether a string has the form of a language tag (BCP 47), or is Apple's `Base`.
    package static func isLanguage(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return text.utf8.count <= 35 && parts.first.map { (2...8).contains($0.utf8.count) } == true
            && parts.allSatisfy { part in
                !part.isEmpty && part.utf8.count <= 8
                    && part.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
            }
    }
}

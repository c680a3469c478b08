// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// A tokenizer for queries, which reads Unicode scalars because a space and a combining accent are one character.
struct PushQueryTokenizer {
    /// A term of a query: a name, if any, and a value.
    struct Token {
        var name: String?
        var value: String
        var isNegated: Bool
        var source: String
    }

    private var rest: Substring.UnicodeScalarView

    init(_ text: String) {
        rest = text[...].unicodeScalars
    }

    /// Returns the next token; nil at the end of the text.
    mutating func next() throws(PushQueryError) -> Token? {
        rest = rest.drop(while: \.properties.isWhitespace)
        guard !rest.isEmpty else { return nil }
        let start = rest
        let isNegated = rest.first == "-" || rest.first == "!"
        if isNegated { rest = rest.dropFirst() }
        var name: String?
        var value = String.UnicodeScalarView()
        while let scalar = rest.first, !scalar.properties.isWhitespace {
            rest = rest.dropFirst()
            switch scalar {
            case ":" where name == nil && !value.isEmpty:
                name = String(value)
                value = String.UnicodeScalarView()
            case "\"":
                guard let end = rest.firstIndex(of: "\"") else {
                    throw PushQueryError("a quote is not closed: \(ShownValue(String(start)))", in: String(start))
                }
                value.append(contentsOf: rest[..<end])
                rest = rest[end...].dropFirst()
            default:
                value.append(scalar)
            }
        }
        return Token(name: name, value: String(value), isNegated: isNegated, source: String(start[..<rest.startIndex]))
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// An error in the text of an ``AudienceExpression``.
package struct AudienceExpressionError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The error, without the name of the text and the final stop.
    package let description: String

    init(_ description: String) {
        self.description = description
    }

    /// Creates an error at a character, counted from 0.
    fileprivate init(_ description: String, at position: Int) {
        self.init("at character \(position + 1): \(description)")
    }
}

/// A recursive-descent parser of ``AudienceExpression``.
///
/// The limits bound its work and its stack.
struct AudienceExpressionParser {
    /// The term that matches every installation.
    static let all = "all"

    private enum Token: Equatable {
        case and
        case or
        case not
        case open
        case close
        case colon
        case comparison(AudienceExpression.Comparison)
        case word(String)
        case quoted(String)
        case end
    }

    /// The names before a colon or a comparison.
    private enum Name: String, CaseIterable {
        case tag
        case locale
        case environment
        case appVersion = "app-version"
        case systemVersion = "system-version"
    }

    private static let symbols: [(text: String, token: Token)] =
        [
            ("&&", .and), ("||", .or), ("!", .not), ("(", .open), (")", .close), (":", .colon),
            ("==", .comparison(.equal)),
        ]
        + AudienceExpression.Comparison.allCases.sorted { $0.rawValue.utf8.count > $1.rawValue.utf8.count }
        .map { ($0.rawValue, .comparison($0)) }

    private var tokens: [(token: Token, position: Int)] = []
    private var index = 0
    private var terms = 0

    /// Splits a text into tokens.
    init(_ text: String) throws(AudienceExpressionError) {
        guard text.utf8.count <= AudienceExpression.byteLimit else {
            throw AudienceExpressionError(
                "must have at most \(AudienceExpression.byteLimit) bytes (found \(text.utf8.count))"
            )
        }
        var rest = Array(text.unicodeScalars)[...]
        while let first = rest.first {
            let position = rest.startIndex
            if first.properties.isWhitespace {
                rest = rest.dropFirst()
            } else if first == "'" || first == "\"" {
                guard let end = rest.dropFirst().firstIndex(of: first) else {
                    throw AudienceExpressionError("a quotation mark is not closed", at: position)
                }
                tokens.append((.quoted(Self.text(rest[(position + 1)..<end])), position))
                rest = rest[(end + 1)...]
            } else if Self.canBeginWord(first) {
                let word = rest.prefix(while: Self.isInWord)
                tokens.append((.word(Self.text(word)), position))
                rest = rest[word.endIndex...]
            } else {
                guard let symbol = Self.symbols.first(where: { rest.starts(with: $0.text.unicodeScalars) }) else {
                    throw Self.unexpected(first, at: position)
                }
                tokens.append((symbol.token, position))
                rest = rest.dropFirst(symbol.text.unicodeScalars.count)
            }
        }
        tokens.append((.end, text.unicodeScalars.count))
    }

    /// Returns whether a tag needs no quotation marks.
    static func isWord(_ tag: String) -> Bool {
        tag != all && tag.unicodeScalars.first.map(canBeginWord) ?? false && tag.unicodeScalars.allSatisfy(isInWord)
    }

    private static func canBeginWord(_ scalar: Unicode.Scalar) -> Bool { scalar != "-" && isInWord(scalar) }

    private static func isInWord(_ scalar: Unicode.Scalar) -> Bool { scalar != ":" && Installation.isInTag(scalar) }

    private static func text(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars)
        return String(view)
    }

    // MARK: Conditions

    /// Returns the condition of the whole text.
    mutating func parse() throws(AudienceExpressionError) -> AudienceExpression.Condition {
        let condition = try alternatives(depth: 0)
        guard current == .end else { throw mismatch("&& or ||") }
        return condition
    }

    private mutating func alternatives(depth: Int) throws(AudienceExpressionError) -> AudienceExpression.Condition {
        var conditions = [try conjunction(depth: depth)]
        while take(.or) { conditions.append(try conjunction(depth: depth)) }
        return conditions.count == 1 ? conditions[0] : .or(conditions)
    }

    private mutating func conjunction(depth: Int) throws(AudienceExpressionError) -> AudienceExpression.Condition {
        var conditions = [try factor(depth: depth)]
        while take(.and) { conditions.append(try factor(depth: depth)) }
        return conditions.count == 1 ? conditions[0] : .and(conditions)
    }

    private mutating func factor(depth: Int) throws(AudienceExpressionError) -> AudienceExpression.Condition {
        let start = position
        guard current == .not || current == .open else { return try term() }
        guard depth < AudienceExpression.depthLimit else {
            throw AudienceExpressionError(
                "must have at most \(AudienceExpression.depthLimit) parentheses and ! inside each other",
                at: start
            )
        }
        if take(.not) { return .not(try factor(depth: depth + 1)) }
        index += 1
        let condition = try alternatives(depth: depth + 1)
        guard take(.close) else { throw mismatch("&&, || or )") }
        return condition
    }

    // MARK: Terms

    private mutating func term() throws(AudienceExpressionError) -> AudienceExpression.Condition {
        let start = position
        terms += 1
        guard terms <= AudienceExpression.termLimit else {
            throw AudienceExpressionError("must have at most \(AudienceExpression.termLimit) terms", at: start)
        }
        switch current {
        case .quoted(let text):
            index += 1
            return .tag(try Self.tag(text, at: start))
        case .word(let word):
            index += 1
            switch current {
            case .colon, .comparison: return try namedTerm(word, at: start)
            default: return word == Self.all ? .all : .tag(try Self.tag(word, at: start))
            }
        default: throw mismatch("a term")
        }
    }

    /// Reads the rest of a term with a name, from the colon or the comparison on.
    private mutating func namedTerm(
        _ word: String,
        at start: Int
    ) throws(AudienceExpressionError) -> AudienceExpression.Condition {
        guard let name = Name(rawValue: word) else {
            let names = Name.allCases.map(\.rawValue)
            let hint = NearestName.hint(for: word, among: names)
            let known = ": the known names are \(names.joined(separator: ", "))"
            let rule = current == .colon ? "; a tag with a colon must be in quotation marks" : ""
            let help = hint.isEmpty ? known + rule : hint
            throw AudienceExpressionError("unknown name \(ShownValue.quoted(word))\(help)", at: start)
        }
        if case .comparison(let comparison) = current {
            switch name {
            case .appVersion: return .appVersion(comparison, try version(named: word))
            case .systemVersion: return .systemVersion(comparison, try version(named: word))
            case .tag, .locale, .environment: throw mismatch(": after \(word)")
            }
        }
        switch name {
        case .tag:
            let (value, place) = try value()
            return .tag(try Self.tag(value, at: place))
        case .locale:
            let (value, place) = try value()
            return .locale(try Self.locale(value, at: place))
        case .environment:
            let (value, place) = try value()
            guard let environment = PushEnvironment(rawValue: value) else {
                let known = PushEnvironment.allCases.map(\.rawValue).joined(separator: " or ")
                throw Self.mismatch(word, known, value, at: place)
            }
            return .environment(environment)
        case .appVersion, .systemVersion: throw mismatch("<, <=, =, >= or > after \(word)")
        }
    }

    /// Reads a comparison and the version after it.
    private mutating func version(named name: String) throws(AudienceExpressionError) -> VersionNumber {
        let (value, place) = try value()
        let parts = value.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(\.isDigit) }), let version = VersionNumber(value) else {
            throw Self.mismatch(name, "numbers that are separated by dots, such as 2.10", value, at: place)
        }
        return version
    }

    /// Reads a colon or a comparison, and the value after it with its position.
    private mutating func value() throws(AudienceExpressionError) -> (String, Int) {
        index += 1
        let place = position
        switch current {
        case .word(let text), .quoted(let text):
            index += 1
            return (text, place)
        default: throw mismatch("a value")
        }
    }

    private static func tag(_ text: String, at position: Int) throws(AudienceExpressionError) -> String {
        guard Installation.isTag(text) else {
            let (limit, symbols) = (Installation.tagByteLimit, Installation.tagSymbols)
            let rule = "1 to \(limit) ASCII letters, digits or characters of \(symbols)"
            throw mismatch("a tag", rule, text, at: position)
        }
        return text
    }

    private static func locale(_ text: String, at position: Int) throws(AudienceExpressionError) -> String {
        guard LanguageTag(text).isWellFormed else {
            throw mismatch("locale", "a language, with or without a region, such as de or de-CH", text, at: position)
        }
        return text
    }

    // MARK: Tokens

    private var current: Token { tokens[index].token }
    private var position: Int { tokens[index].position }

    private mutating func take(_ token: Token) -> Bool {
        guard current == token else { return false }
        index += 1
        return true
    }

    // MARK: Errors

    /// Returns the error that the current token is another one than expected.
    private func mismatch(_ expected: String) -> AudienceExpressionError {
        let found =
            switch current {
            case .end: "the end"
            case .word(let text), .quoted(let text): ShownValue.quoted(text)
            default: Self.symbols.last { $0.token == current }.map { "\"\($0.text)\"" } ?? "another symbol"
            }
        let hint =
            switch current {
            case .word("and"), .word("AND"): ": write && for and"
            case .word("or"), .word("OR"): ": write || for or"
            default: ""
            }
        return AudienceExpressionError("expected \(expected) (found \(found))\(hint)", at: position)
    }

    private static func mismatch(
        _ subject: String,
        _ rule: String,
        _ found: String,
        at position: Int
    ) -> AudienceExpressionError {
        AudienceExpressionError("\(subject) must be \(rule) (found \(ShownValue.quoted(found)))", at: position)
    }

    private static func unexpected(_ scalar: Unicode.Scalar, at position: Int) -> AudienceExpressionError {
        let hint =
            switch scalar {
            case "-": ": write ! to exclude, and a tag that begins with - in quotation marks"
            case "&", "|": ": write \(scalar)\(scalar)"
            default: ": expected a tag, a condition such as locale:de, or one of &&, ||, !, ( and )"
            }
        return AudienceExpressionError("unexpected \(shown(scalar))\(hint)", at: position)
    }

    /// Returns a character in quotation marks, or the code of one that is not visible by itself.
    private static func shown(_ scalar: Unicode.Scalar) -> String {
        switch scalar.properties.generalCategory {
        case .control, .format, .nonspacingMark, .spacingMark, .enclosingMark, .privateUse, .unassigned:
            "U+\(String(scalar.value, radix: 16, uppercase: true))"
        default: "\"\(scalar)\""
        }
    }
}

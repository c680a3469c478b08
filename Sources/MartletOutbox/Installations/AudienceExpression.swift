// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// A condition for the installations of an app, in a text such as `vip && !trial && locale:de && app-version>=2.1`.
///
/// | Term | Matches installations |
/// | --- | --- |
/// | `vip`, `'city:zurich'` | with the tag; quotation marks, single or double, are needed for a colon |
/// | `locale:de` | whose locale is `de` or begins with `de-` (basic filtering, RFC 4647 section 3.3.1) |
/// | `app-version>=2.10`, `system-version<26` | whose version compares so, component by component |
/// | `environment:development` | in the environment |
/// | `all` | of the app |
///
/// `!` negates, `&&` binds more tightly than `||`, and parentheses group. A term about a value that an installation has
/// not reported does not match it. Something has to be asked for: an expression such as `!trial` is refused, because it
/// is written `all && !trial`.
package struct AudienceExpression: Sendable, Hashable, CustomStringConvertible {
    /// The maximum number of bytes of the text.
    package static let byteLimit = 4_096
    /// The maximum number of terms.
    package static let termLimit = 20
    /// The maximum number of parentheses and negations around a term.
    package static let depthLimit = 5

    /// The condition that the text describes.
    package let condition: Condition

    /// Parses a text.
    ///
    /// - Parameter text: The text.
    /// - Throws: ``AudienceExpressionError``, which names the place and the rule.
    package init(_ text: String) throws(AudienceExpressionError) {
        var parser = try AudienceExpressionParser(text)
        condition = try parser.parse()
        guard condition.isPositive(negated: false) else {
            throw AudienceExpressionError("only excludes installations: add those to select, as in all && !trial")
        }
    }

    private init(_ condition: Condition) {
        self.condition = condition
    }

    /// The expression that every installation matches.
    package static let all = AudienceExpression(.all)

    /// Returns the expression that the installations with a tag match.
    package static func tag(_ tag: String) -> AudienceExpression { AudienceExpression(.tag(tag)) }

    /// The text in its usual form.
    package var description: String { condition.description }

    /// The tags of the terms.
    var tags: Set<String> { condition.tags }

    /// The tags without which an installation does not match.
    var requiredTags: Set<String> { condition.requiredTags(negated: false) }

    /// Returns whether an installation matches; its app is not compared.
    package func matches(_ installation: Installation) -> Bool {
        condition.matches(
            AudienceCandidate(
                environment: installation.environment,
                locale: installation.attributes[.locale],
                appVersion: installation.attributes[.appVersion],
                systemVersion: installation.attributes[.systemVersion],
                tags: installation.tags
            )
        )
    }
}

/// The values of an installation that expressions compare.
struct AudienceCandidate {
    let environment: PushEnvironment
    let locale: String?
    let appVersion: String?
    let systemVersion: String?
    /// Those of the tags that the expression names, or more.
    let tags: Set<String>
}

extension AudienceExpression {
    /// A condition: a term, or conditions that are combined.
    package enum Condition: Sendable, Hashable {
        case all
        case tag(String)
        /// A language range as in RFC 4647, such as `de` or `de-CH`.
        case locale(String)
        case environment(PushEnvironment)
        case appVersion(Comparison, VersionNumber)
        case systemVersion(Comparison, VersionNumber)
        indirect case not(Condition)
        /// Two or more conditions that must all match.
        case and([Condition])
        /// Two or more conditions of which one must match.
        case or([Condition])
    }

    /// A comparison of versions.
    package enum Comparison: String, Sendable, Hashable, CaseIterable {
        case less = "<"
        case lessOrEqual = "<="
        case equal = "="
        case greaterOrEqual = ">="
        case greater = ">"

        /// Returns whether a reported version compares so with another one.
        fileprivate func holds(_ reported: String?, _ right: VersionNumber) -> Bool {
            guard let left = reported.flatMap({ VersionNumber($0) }) else { return false }
            return switch self {
            case .less: left < right
            case .lessOrEqual: left <= right
            case .equal: left == right
            case .greaterOrEqual: left >= right
            case .greater: left > right
            }
        }
    }
}

extension AudienceExpression.Condition {
    func matches(_ candidate: AudienceCandidate) -> Bool {
        switch self {
        case .all: true
        case .tag(let tag): candidate.tags.contains(tag)
        case .locale(let range): candidate.locale.map { LanguageTag($0).isIn(LanguageTag(range)) } ?? false
        case .environment(let environment): candidate.environment == environment
        case .appVersion(let comparison, let version): comparison.holds(candidate.appVersion, version)
        case .systemVersion(let comparison, let version): comparison.holds(candidate.systemVersion, version)
        case .not(let condition): !condition.matches(candidate)
        case .and(let conditions): conditions.allSatisfy { $0.matches(candidate) }
        case .or(let conditions): conditions.contains { $0.matches(candidate) }
        }
    }

    // MARK: Properties

    fileprivate var tags: Set<String> {
        switch self {
        case .tag(let tag): [tag]
        case .not(let condition): condition.tags
        case .and(let conditions), .or(let conditions): conditions.reduce(into: []) { $0.formUnion($1.tags) }
        case .all, .locale, .environment, .appVersion, .systemVersion: []
        }
    }

    /// Returns the tags that every installation has that matches the condition, or its negation.
    fileprivate func requiredTags(negated: Bool) -> Set<String> {
        switch (self, negated) {
        case (.tag(let tag), false): [tag]
        case (.not(let condition), _): condition.requiredTags(negated: !negated)
        case (.and(let conditions), false), (.or(let conditions), true):
            conditions.reduce(into: []) { $0.formUnion($1.requiredTags(negated: negated)) }
        case (.and(let conditions), true), (.or(let conditions), false):
            conditions.dropFirst().reduce(conditions.first?.requiredTags(negated: negated) ?? []) {
                $0.intersection($1.requiredTags(negated: negated))
            }
        case (.tag, true), (.all, _), (.locale, _), (.environment, _), (.appVersion, _), (.systemVersion, _): []
        }
    }

    /// Returns whether a term that is not negated selects the installations that match the condition, or its negation.
    fileprivate func isPositive(negated: Bool) -> Bool {
        switch (self, negated) {
        case (.not(let condition), _): condition.isPositive(negated: !negated)
        case (.and(let conditions), false), (.or(let conditions), true):
            conditions.contains { $0.isPositive(negated: negated) }
        case (.and(let conditions), true), (.or(let conditions), false):
            conditions.allSatisfy { $0.isPositive(negated: negated) }
        case (.all, _), (.tag, _), (.locale, _), (.environment, _), (.appVersion, _), (.systemVersion, _): !negated
        }
    }
}

extension AudienceExpression.Condition: CustomStringConvertible {
    /// The text of the condition, without parentheses that are not needed.
    package var description: String {
        switch self {
        case .all: AudienceExpressionParser.all
        case .tag(let tag): AudienceExpressionParser.isWord(tag) ? tag : "'\(tag)'"
        case .locale(let range): "locale:\(range)"
        case .environment(let environment): "environment:\(environment.rawValue)"
        case .appVersion(let comparison, let version): "app-version\(comparison.rawValue)\(version)"
        case .systemVersion(let comparison, let version): "system-version\(comparison.rawValue)\(version)"
        case .not(let condition): "!\(condition.enclosed)"
        case .and(let conditions): conditions.map(\.enclosed).joined(separator: " && ")
        case .or(let conditions):
            conditions.map { condition in
                if case .and = condition { condition.description } else { condition.enclosed }
            }.joined(separator: " || ")
        }
    }

    /// The text of the condition as a part of another one.
    private var enclosed: String {
        switch self {
        case .and, .or: "(\(self))"
        case .all, .tag, .locale, .environment, .appVersion, .systemVersion, .not: description
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A query for received pushes: a list of terms that must all match a push, or alternatives of terms.
///
/// `OR` between terms makes them alternatives, of which one must match: `type:alert status:400 OR status:410` matches
/// alerts with one of the two answers.
///
/// `topic:com.example.app type:alert title:"Order ready" status:200` matches headers, alert and answer. A term without
/// a name matches anywhere in the payload, `key:aps.badge=3` at a path in it; it also matches tags, nicknames, channels
/// and collapse identifiers, and an `apns-id` or device token, whole or by its first eight characters or more. A
/// leading `-` or `!` negates a term. A value matches any part of the field, ignoring case. With a leading `=`, as in
/// `thread:=order-4`, it must equal the whole field; the values of `id`, `status`, `priority` and `ns` (the namespace),
/// and the part after `=` in `key`, always must. `number:3,7-9` matches four pushes, `number:43-` all from 43 on.
///
/// `verdict:not-shown` matches the result of a push, see ``PushVerdict/Kind``. `after:` and `before:` take a date or a
/// time in UTC, such as `2026-11-25`, `2026-11-25T08:00` or `08:30`, or a time before the query was created, such as
/// `10m`, `2h` or `3d`.
public struct PushQuery: Sendable, Hashable, CustomStringConvertible {
    /// A term of a query.
    struct Term: Sendable, Hashable {
        var field: Field
        var value: String
        /// The ranges of a term for `number`, `size` or `connection`.
        var numbers: [ClosedRange<Int>] = []
        /// The time of a term for `after` or `before`, in milliseconds since 1970.
        var time: Int64 = 0
        var isNegated = false
        /// The term as written.
        var text: String
    }

    /// The terms in groups, of each of which one term must match; no group is empty.
    let groups: [[Term]]

    /// The query that matches every push.
    public static let everything = PushQuery(groups: [])

    /// The terms as written.
    public var description: String { groups.map(PushQuery.text).joined(separator: " ") }

    private init(groups: [[Term]]) {
        self.groups = groups
    }

    /// Creates a query from its text; an empty text matches every push.
    ///
    /// - Parameter text: The terms, separated by white space; quotes keep white space within a term.
    /// - Throws: ``PushQueryError`` for an unknown name, a value that the name does not allow, or a quote that is not
    ///   closed.
    public init(_ text: String) throws(PushQueryError) {
        try self.init(text, at: Date().millisecondsSince1970)
    }

    /// Creates a query from its text.
    ///
    /// - Parameters:
    ///   - text: The terms.
    ///   - now: The time from which times such as `10m` count, in milliseconds since 1970.
    ///   - offset: The milliseconds by which the clock of the reader is ahead of UTC.
    /// - Throws: ``PushQueryError`` as the public initializer.
    init(_ text: String, at now: Int64, offset: Int64 = 0) throws(PushQueryError) {
        var tokenizer = PushQueryTokenizer(text)
        var groups: [[Term]] = []
        var isAlternative = false
        while let token = try tokenizer.next() {
            if token.source == PushQuery.alternative {
                guard !groups.isEmpty, !isAlternative else { throw PushQuery.misplacedAlternative }
                isAlternative = true
                continue
            }
            let term = try Term(token, at: now, offset: offset)
            if isAlternative { groups[groups.count - 1].append(term) } else { groups.append([term]) }
            isAlternative = false
        }
        guard !isAlternative else { throw PushQuery.misplacedAlternative }
        self.groups = groups
    }

    /// The word between alternatives.
    private static let alternative = "OR"
    private static let misplacedAlternative = PushQueryError(
        "OR must be between two terms, as in status:400 OR status:410; \"OR\" in quotes finds the word",
        in: alternative
    )

    private static func text(of group: [Term]) -> String {
        group.map(\.text).joined(separator: " \(alternative) ")
    }

    /// Returns whether every term, or one of its alternatives, matches a push.
    ///
    /// - Parameter push: The push.
    /// - Returns: Whether the push matches.
    public func matches(_ push: ReceivedPush) -> Bool {
        var matcher = PushMatcher(push)
        return groups.allSatisfy { matcher.matches(oneOf: $0) }
    }

    /// Returns the terms that do not match a push, as written; alternatives are one text.
    ///
    /// - Parameter push: The push.
    /// - Returns: The terms; none when the push matches.
    public func misses(_ push: ReceivedPush) -> [String] {
        var matcher = PushMatcher(push)
        return groups.filter { !matcher.matches(oneOf: $0) }.map(PushQuery.text)
    }
}

/// An error in the text of a query.
public struct PushQueryError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The error, in a sentence without the final stop.
    public let description: String
    /// The term at fault, as written; nil when it is not a single term.
    public let term: String?

    init(_ description: String, in term: String? = nil) {
        self.description = description
        self.term = term
    }
}

extension PushQuery.Term {
    fileprivate init(_ token: PushQueryTokenizer.Token, at now: Int64, offset: Int64) throws(PushQueryError) {
        isNegated = token.isNegated
        text = token.source
        value = token.value
        guard let name = token.name else {
            field = .text
            return
        }
        guard let field = PushQuery.Field(rawValue: name) else {
            let names = PushQuery.Field.allCases.map(\.rawValue)
            let known = names.map { $0 + ":" }.joined(separator: " ")
            let hint = NearestName.hint(for: name, among: names)
            throw PushQueryError("unknown name \(ShownValue(name)):\(hint); known: \(known)", in: token.source)
        }
        let shown = ShownValue("\(name):\(value)")
        if let values = field.values, !values.contains(value) {
            let hint = NearestName.hint(for: value, among: values)
            let known = values.joined(separator: ", ")
            throw PushQueryError("unknown value \(shown)\(hint); known: \(known)", in: token.source)
        }
        self.field = field
        switch field {
        case .number, .size, .connection: try readNumbers()
        case .after, .before:
            guard let time = QueryTime.milliseconds(value, at: now, offset: offset) else {
                throw PushQueryError("\(shown) must be a time: \(QueryTime.forms)", in: token.source)
            }
            self.time = time
        default: break
        }
    }

    private mutating func readNumbers() throws(PushQueryError) {
        for part in value.split(separator: ",", omittingEmptySubsequences: false) {
            guard let range = Self.range(part) else {
                let name = field.rawValue
                throw PushQueryError(
                    "\(ShownValue("\(name):\(value)")) must be numbers and ranges, as in \(name):3,7-9 or \(name):43-",
                    in: text
                )
            }
            numbers.append(range)
        }
    }

    /// Returns the numbers of one part, as in `7`, `7-9` or `7-`; nil when it is not valid.
    private static func range(_ part: Substring) -> ClosedRange<Int>? {
        let bounds = part.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = bounds.first.flatMap({ Int($0) }), first >= 0 else { return nil }
        guard bounds.count > 1 else { return first...first }
        if bounds[1].isEmpty { return first ... .max }
        guard let last = Int(bounds[1]), last >= first else { return nil }
        return first...last
    }
}

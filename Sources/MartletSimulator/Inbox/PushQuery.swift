// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// A query for received pushes: a list of terms that must all match a push.
///
/// `topic:com.example.app type:alert title:"Order ready" status:200` matches headers, alert and answer. A term without
/// a name matches anywhere in the payload, `key:aps.badge=3` at a path in it. A leading `-` or `!` negates a term. A
/// value matches any part of the field, ignoring case. With a leading `=`, as in `thread:=order-4`, it must equal the
/// whole field; the values of `id`, `status`, `priority` and `ns` (the namespace), and the part after `=` in `key`,
/// always must. `number:3,7-9` matches four pushes, `number:43-` all from 43 on.
public struct PushQuery: Sendable, Hashable, CustomStringConvertible {
    /// A term of a query.
    struct Term: Sendable, Hashable {
        var field: Field
        var value: String
        /// The ranges of a term for `number`.
        var numbers: [ClosedRange<Int>] = []
        var isNegated = false
        /// The term as written.
        var text: String
    }

    /// The property of a push that a term matches.
    enum Field: String, Sendable, Hashable, CaseIterable {
        case text, number, app, topic, device, channel, type, title, subtitle, body, id, status, reason, priority
        case collapse, thread, key, has, `is`, ns
    }

    let terms: [Term]

    /// The query that matches every push.
    public static let everything = PushQuery(terms: [])

    /// The terms as written.
    public var description: String { terms.map(\.text).joined(separator: " ") }

    private init(terms: [Term]) {
        self.terms = terms
    }

    /// Creates a query from its text; an empty text matches every push.
    ///
    /// - Parameter text: The terms, separated by white space; quotes keep white space within a term.
    /// - Throws: ``PushQueryError`` for an unknown name, a value that the name does not allow, or a quote that is not
    ///   closed.
    public init(_ text: String) throws(PushQueryError) {
        var tokenizer = PushQueryTokenizer(text)
        var terms: [Term] = []
        while let token = try tokenizer.next() { terms.append(try Term(token)) }
        self.terms = terms
    }

    /// Returns whether every term matches a push.
    ///
    /// - Parameter push: The push.
    /// - Returns: Whether the push matches.
    public func matches(_ push: ReceivedPush) -> Bool {
        misses(push).isEmpty
    }

    /// Returns the terms that do not match a push, as written.
    ///
    /// - Parameter push: The push.
    /// - Returns: The terms; none when the push matches.
    public func misses(_ push: ReceivedPush) -> [String] {
        var matcher = PushMatcher(push)
        return terms.filter { matcher.matches($0) == $0.isNegated }.map(\.text)
    }
}

/// An error in the text of a query.
public struct PushQueryError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The error, in a sentence without the final stop.
    public let description: String
}

extension PushQuery.Term {
    fileprivate init(_ token: PushQueryTokenizer.Token) throws(PushQueryError) {
        isNegated = token.isNegated
        text = token.source
        guard let name = token.name else {
            field = .text
            value = token.value
            return
        }
        guard let field = PushQuery.Field(rawValue: name) else {
            let known = PushQuery.Field.allCases.map { $0.rawValue + ":" }.joined(separator: " ")
            throw PushQueryError(description: "unknown name \(name):; known: \(known)")
        }
        let allowed: [String]? =
            switch field {
            case .has: ["warning", "error"]
            case .is: ["silent", "faulted", "accepted", "refused", "broadcast", "composed"]
            default: nil
            }
        if let allowed, !allowed.contains(token.value) {
            throw PushQueryError(
                description: "unknown value \(name):\(token.value); known: " + allowed.joined(separator: ", ")
            )
        }
        self.field = field
        value = token.value
        guard field == .number else { return }
        for part in value.split(separator: ",", omittingEmptySubsequences: false) {
            guard let range = Self.range(part) else {
                throw PushQueryError(
                    description: "number:\(value) must be numbers and ranges, as in number:3,7-9 or number:43-"
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

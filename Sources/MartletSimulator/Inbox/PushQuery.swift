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
        case text
        case number
        case app
        case topic
        case device
        case channel
        case type
        case title
        case subtitle
        case body
        case id
        case status
        case reason
        case priority
        case collapse
        case thread
        case key
        case has
        case `is`
        case ns
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
        var words = PushQueryWords(text)
        var terms: [Term] = []
        while let word = try words.next() { terms.append(try Term(word)) }
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
        var facts = PushFacts(push)
        return terms.filter { facts.satisfy($0) == $0.isNegated }.map(\.text)
    }
}

/// An error in the text of a query.
public struct PushQueryError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The error, in a sentence without the final stop.
    public let description: String
}

extension PushQuery.Term {
    fileprivate init(_ word: PushQueryWords.Word) throws(PushQueryError) {
        isNegated = word.isNegated
        text = word.source
        guard let name = word.name else {
            field = .text
            value = word.value
            return
        }
        guard let field = PushQuery.Field(rawValue: name) else {
            let known = PushQuery.Field.allCases.map { $0.rawValue + ":" }.joined(separator: " ")
            throw PushQueryError(description: "\(name): is not known; these are: \(known)")
        }
        let allowed: [String]? =
            switch field {
            case .has: ["warning", "error"]
            case .is: ["silent", "disturbed", "accepted", "refused", "broadcast", "composed"]
            default: nil
            }
        if let allowed, !allowed.contains(word.value) {
            throw PushQueryError(
                description: "\(name):\(word.value) is not known; these are: " + allowed.joined(separator: ", ")
            )
        }
        self.field = field
        value = word.value
        guard field == .number else { return }
        for part in value.split(separator: ",", omittingEmptySubsequences: false) {
            guard let range = Self.range(part) else {
                throw PushQueryError(description: "number:\(value) is none: write number:3,7-9 or number:43-")
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

/// A tokenizer for queries, which reads Unicode scalars because a space and a combining accent are one character.
struct PushQueryWords {
    struct Word {
        var name: String?
        var value: String
        var isNegated: Bool
        var source: String
    }

    private var rest: Substring.UnicodeScalarView

    init(_ text: String) {
        rest = text[...].unicodeScalars
    }

    mutating func next() throws(PushQueryError) -> Word? {
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
                    throw PushQueryError(description: "a quote does not end: \(String(start))")
                }
                value.append(contentsOf: rest[..<end])
                rest = rest[end...].dropFirst()
            default:
                value.append(scalar)
            }
        }
        return Word(
            name: name,
            value: String(value),
            isNegated: isNegated,
            source: String(start[..<rest.startIndex])
        )
    }
}

/// The values of a push that queries match.
private struct PushFacts {
    private let push: ReceivedPush
    /// The payload, parsed when the first term needs it.
    private lazy var payload: JSONValue? = try? JSONReader.readPayload(push.payload)

    init(_ push: ReceivedPush) {
        self.push = push
    }

    mutating func satisfy(_ term: PushQuery.Term) -> Bool {
        let value = term.value
        return switch term.field {
        case .text: includes(String(decoding: push.payload, as: UTF8.self), value)
        case .number: term.numbers.contains { $0.contains(push.number) }
        case .app: contains(push.bundleID, value)
        case .topic: contains(push.headers.topic, value)
        case .device: contains(push.deviceToken, value)
        case .channel: contains(push.channel?.rawValue, value)
        case .type: contains(push.headers.pushType, value)
        case .title: contains(alert("title"), value)
        case .subtitle: contains(alert("subtitle"), value)
        case .body: contains(alert("body"), value)
        case .id: push.id == value || push.headers.id == value
        case .status: String(push.status) == value
        case .reason: contains(push.reason?.rawValue, value)
        case .priority: push.headers.priority == value
        case .collapse: contains(push.headers.collapseID, value)
        case .thread: contains(payload?["aps"]?["thread-id"]?.stringValue, value)
        case .key: hasKey(value)
        case .has: push.findings.contains { $0.severity.rawValue == value }
        case .is: isSo(value)
        case .ns: push.namespace == value
        }
    }

    private mutating func isSo(_ value: String) -> Bool {
        switch value {
        case "silent": payload?["aps"]?["content-available"] != nil && payload?["aps"]?["alert"] == nil
        case "disturbed": push.isDisturbed
        case "accepted": push.status == 200
        case "refused": push.status != 200 && push.status != 0
        case "composed": push.connection == ReceivedPush.noConnection
        default: push.app != nil
        }
    }

    /// Returns a part of the alert; an alert that is a string is its body.
    private mutating func alert(_ name: String) -> String? {
        let alert = payload?["aps"]?["alert"]
        return name == "body" ? alert?.stringValue ?? alert?["body"]?.stringValue : alert?[name]?.stringValue
    }

    /// Returns whether the payload has a value at a path, or a certain value, as in `aps.badge=3`.
    private mutating func hasKey(_ value: String) -> Bool {
        let parts = value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let place = parts[0].split(separator: ".").reduce(payload) { $0?[String($1)] }
        guard let place else { return false }
        guard parts.count > 1 else { return true }
        return place.stringValue == String(parts[1]) || String(decoding: place.encoded(), as: UTF8.self) == parts[1]
    }

    private func contains(_ text: String?, _ value: String) -> Bool {
        value.hasPrefix("=") ? text.map { $0 == value.dropFirst() } ?? false : includes(text, value)
    }

    private func includes(_ text: String?, _ value: String) -> Bool {
        text?.lowercased().contains(value.lowercased()) ?? false
    }
}

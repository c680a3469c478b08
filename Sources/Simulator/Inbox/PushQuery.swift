internal import APNs

/// What to look for among the pushes that came in, in a small language: words that all have to be true of a push.
///
/// `topic:com.example.app type:alert title:"Order ready" status:200` looks in headers, alert and answer. A word
/// without a name is looked for anywhere in the payload, `key:aps.badge=3` at a place in it. `-` or `!` in front turns
/// a word around. Texts are found wherever they stand in the value, in capitals or not; with `=` in front, as in
/// `thread:=order-4`, they have to be all of it, as `id`, `status`, `priority`, `ns`, the namespace, and what follows
/// the `=` in `key` always have to. `number:3,7-9` is true of four pushes, `number:43-` of all from one on.
public struct PushQuery: Sendable, Hashable, CustomStringConvertible {
    /// One word.
    struct Term: Sendable, Hashable {
        var field: Field
        var value: String
        /// What `number` means.
        var numbers: [ClosedRange<Int>] = []
        var isNegated = false
        /// As it was written.
        var text: String
    }

    /// What a word is about.
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

    /// The query that is true of every push.
    public static let everything = PushQuery(terms: [])

    /// The words as they were written.
    public var description: String { terms.map(\.text).joined(separator: " ") }

    private init(terms: [Term]) {
        self.terms = terms
    }

    /// A query from its text; the empty one is true of every push.
    ///
    /// - Parameter text: The words, with white space between them; quotes keep it within one.
    /// - Throws: ``PushQueryError`` for a name that is not known, or a quote that does not end.
    public init(_ text: String) throws(PushQueryError) {
        var words = PushQueryWords(text)
        var terms: [Term] = []
        while let word = try words.next() { terms.append(try Term(word)) }
        self.terms = terms
    }

    /// Whether every word is true of a push.
    ///
    /// - Parameter push: The push.
    /// - Returns: Whether it is what is looked for.
    public func matches(_ push: ReceivedPush) -> Bool {
        misses(push).isEmpty
    }

    /// The words that are not true of a push, as they were written.
    ///
    /// - Parameter push: The push.
    /// - Returns: The words, none when it is what is looked for.
    public func misses(_ push: ReceivedPush) -> [String] {
        var facts = PushFacts(push)
        return terms.filter { facts.satisfy($0) == $0.isNegated }.map(\.text)
    }
}

/// Why a text is no query.
public struct PushQueryError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, in a sentence without the final stop.
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

    /// The numbers of one part, as in `7`, `7-9` or `7-`.
    private static func range(_ part: Substring) -> ClosedRange<Int>? {
        let bounds = part.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = bounds.first.flatMap({ Int($0) }), first >= 0 else { return nil }
        guard bounds.count > 1 else { return first...first }
        if bounds[1].isEmpty { return first ... .max }
        guard let last = Int(bounds[1]), last >= first else { return nil }
        return first...last
    }
}

/// Takes a query apart into words, scalar by scalar, as a space and the accent after it would be one character.
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

/// What a query may ask of a push.
private struct PushFacts {
    private let push: ReceivedPush
    /// Read when the first word asks for it.
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

    /// A part of the alert; a plain one is its body.
    private mutating func alert(_ name: String) -> String? {
        let alert = payload?["aps"]?["alert"]
        return name == "body" ? alert?.stringValue ?? alert?["body"]?.stringValue : alert?[name]?.stringValue
    }

    /// Whether there is something at a place, or this, as in `aps.badge=3`.
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

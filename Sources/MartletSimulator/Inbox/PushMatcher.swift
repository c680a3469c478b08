// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// A push that the terms of queries are matched against.
struct PushMatcher {
    private let push: ReceivedPush
    /// The payload, parsed when the first term needs it.
    private lazy var payload = push.content
    private lazy var verdict = push.verdictKind

    init(_ push: ReceivedPush) {
        self.push = push
    }

    /// Returns whether the push matches one of the terms.
    mutating func matches(oneOf terms: [PushQuery.Term]) -> Bool {
        for term in terms where matches(term) != term.isNegated { return true }
        return false
    }

    /// Returns whether the push has the value of a term, ignoring the negation of the term.
    private mutating func matches(_ term: PushQuery.Term) -> Bool {
        let value = term.value
        return switch term.field {
        case .text: hasText(value)
        case .number: term.numbers.contains { $0.contains(push.number) }
        case .size: term.numbers.contains { $0.contains(push.payloadByteCount) }
        case .connection: term.numbers.contains { $0.contains(push.connection) }
        case .app: contains(push.bundleID, value)
        case .topic: contains(push.headers.topic, value)
        case .device: contains(push.deviceToken, value) || contains(push.labels.deviceName, value)
        case .channel: contains(push.channel?.rawValue, value)
        case .type: contains(push.headers.pushType, value)
        case .title: contains(alert("title"), value)
        case .subtitle: contains(alert("subtitle"), value)
        case .body: contains(alert("body"), value)
        case .id: [push.id, push.headers.id].contains { $0?.lowercased() == value.lowercased() }
        case .status: String(push.status) == value
        case .reason: contains(push.reason?.rawValue, value)
        case .priority: push.headers.priority == value
        case .collapse: contains(push.headers.collapseID, value)
        case .thread: contains(payload?["aps"]?["thread-id"]?.stringValue, value)
        case .key: hasKey(value)
        case .verdict: verdict.rawValue == value
        case .rule: push.findingMarks.contains { contains($0.rule, value) }
        case .has: push.findingMarks.contains { $0.severity.rawValue == value }
        case .tag: push.labels.tags.contains { contains($0, value) }
        case .after: push.time >= term.time
        case .before: push.time < term.time
        case .is: hasProperty(value)
        case .ns: push.namespace == value
        }
    }

    /// Returns whether the push has a value without a name.
    private mutating func hasText(_ value: String) -> Bool {
        let id = value.lowercased()
        let texts = [push.labels.deviceName, push.channel?.rawValue, push.headers.collapseID] + push.labels.tags
        return isIdentifier(push.id, id) || isIdentifier(push.headers.id, id) || isIdentifier(push.deviceToken, id)
            || texts.contains { includes($0, value) }
            || includes(String(decoding: push.payload, as: UTF8.self), value)
            || hasEscapedText(value)
    }

    /// The minimum number of characters with which a value without a name matches an identifier.
    private static let shortestIdentifier = 8

    /// Returns whether a text in lower case is an identifier, or its beginning.
    private func isIdentifier(_ identifier: String?, _ text: String) -> Bool {
        guard let identifier, !text.isEmpty else { return false }
        let lowercased = identifier.lowercased()
        return lowercased == text
            || text.utf8.count >= PushMatcher.shortestIdentifier && lowercased.hasPrefix(text)
    }

    /// Returns whether the alert has a text that the payload contains with escapes.
    private mutating func hasEscapedText(_ value: String) -> Bool {
        guard push.payload.contains(UInt8(ascii: "\\")) else { return false }
        return includes(alert("title"), value) || includes(alert("subtitle"), value) || includes(alert("body"), value)
    }

    private mutating func hasProperty(_ value: String) -> Bool {
        switch value {
        case "duplicate": push.findingMarks.contains { $0.rule == PushLint.Rule.deviceTokenRepeated.id }
        case "no-sound": push.isAlertWithoutSound(payload)
        case "silent": payload?["aps"]?["content-available"] != nil && payload?["aps"]?["alert"] == nil
        case "faulted": push.wasFaulted
        case "accepted": push.status == 200
        case "refused": push.status != 200 && push.status != 0
        case "composed": push.connection == ReceivedPush.noConnection
        case "stored": verdict == .stored
        case "ignored": verdict == .notShown
        case "shown": verdict == .shown
        case "unanswered": verdict == .unanswered
        case "pinned": push.labels.isPinned
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

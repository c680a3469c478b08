// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The parts of a payload that a list of pushes shows, limited in size.
///
/// A payload may have 5 KiB in values of any name and depth, of which a row shows one line.
struct PayloadExcerpt {
    /// The maximum number of characters of a text that is displayed.
    static let textLimit = 200
    /// The maximum number of elements of an array, and of members of an object.
    private static let countLimit = 10

    /// The members of `aps` that are copied as they are when they are texts, numbers or Booleans.
    private static let names: Set = [
        "event", "attributes-type", "thread-id", "content-available", "category", "badge", "interruption-level",
    ]
    /// The members of an alert; the icon and the launch image are not part of a row.
    private static let alertNames = [
        "title", "title-loc-key", "title-loc-args", "subtitle", "subtitle-loc-key", "subtitle-loc-args", "body",
        "loc-key", "loc-args",
    ]
    /// The members of a content state that name an activity.
    private static let stateNames = ["headline", "title", "status"]
    /// The number of members of a content state without these names that a row displays.
    private static let stateLimit = 3

    /// The excerpt, in the form of a payload; the members are in their original order.
    let json: JSONValue

    /// Creates the excerpt of a payload.
    init(of payload: JSONValue) {
        json = .object(
            (payload.members ?? []).compactMap { member in
                let value: JSONValue? =
                    switch member.name {
                    case "aps": .object((member.value.members ?? []).compactMap(PayloadExcerpt.ofAPS))
                    case "surfaceSnapshot": PayloadExcerpt.ofSnapshot(member.value)
                    default: nil
                    }
                return value.map { JSONValue.Member(member.name, $0) }
            }
        )
    }

    private static func ofAPS(_ member: JSONValue.Member) -> JSONValue.Member? {
        let value: JSONValue? =
            switch member.name {
            case "alert": member.value.members == nil ? brief(member.value) : brief(member.value, alertNames)
            // A sound is a name or, for a critical alert, an object.
            case "sound": brief(member.value, depth: 1)
            case "content-state": member.value.members.map(ofState)
            case let name where names.contains(name): isPlain(member.value) ? member.value : nil
            default: nil
            }
        return value.map { JSONValue.Member(member.name, $0) }
    }

    private static func ofState(_ members: [JSONValue.Member]) -> JSONValue {
        let named = members.filter { stateNames.contains($0.name) }
        let shown = named.isEmpty ? Array(members.filter { isPlain($0.value) }.prefix(stateLimit)) : named
        return brief(.object(shown), shown.map(\.name))
    }

    private static func ofSnapshot(_ snapshot: JSONValue) -> JSONValue? {
        guard let kind = snapshot["kind"]?.stringValue else { return nil }
        return .members(["kind": .string(kind), kind: snapshot[kind].map { brief($0, ["title", "label"]) }])
    }

    /// Returns the members of an object that have one of these names, each shortened.
    private static func brief(_ object: JSONValue, _ names: [String]) -> JSONValue {
        .object(
            (object.members ?? []).compactMap { member in
                guard names.contains(member.name) else { return nil }
                return brief(member.value, depth: 1).map { JSONValue.Member(member.name, $0) }
            }
        )
    }

    /// Returns a shortened value; nil when it is nested deeper than `depth`.
    private static func brief(_ value: JSONValue, depth: Int = 0) -> JSONValue? {
        switch value {
        case .string(let text): .string(text.shortened(to: textLimit))
        // The text of a number is as long as its sender wrote it.
        case .number(let number): number.text.utf8.count > textLimit ? nil : value
        case .null, .bool: value
        case .array(let elements):
            depth == 0 ? nil : .array(elements.prefix(countLimit).compactMap { brief($0, depth: depth - 1) })
        case .object(let members):
            depth == 0
                ? nil
                : .object(
                    members.prefix(countLimit).compactMap { member in
                        brief(member.value, depth: depth - 1).map { JSONValue.Member(member.name, $0) }
                    }
                )
        }
    }

    private static func isPlain(_ value: JSONValue) -> Bool {
        value.members == nil && value.elements == nil
    }
}

extension String {
    /// Returns the text up to a number of characters.
    fileprivate func shortened(to limit: Int) -> String {
        // A text has at least as many bytes as characters.
        utf8.count <= limit ? self : String(prefix(limit))
    }
}

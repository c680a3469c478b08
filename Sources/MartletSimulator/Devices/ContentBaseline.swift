// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// Content of a Live Activity that the app's type decodes, as far as the simulator knows, without I/O.
struct ContentBaseline: Sendable, Hashable {
    /// A value of earlier content that later content lacks; its type is still known.
    struct EarlierValue: Sendable, Hashable {
        /// The names of the members that lead to the value.
        let path: [String]
        let value: JSONValue
        /// The number of the push that contained it.
        let number: Int
    }

    /// The maximum number of earlier values, because a client can send other members with each push.
    private static let earlierLimit = 100

    let content: JSONValue
    /// The number of the push that contained it.
    let number: Int
    /// The newest values of earlier content that the content lacks.
    let earlier: [EarlierValue]

    /// Creates the baseline after content.
    init(_ content: JSONValue, of number: Int, after previous: ContentBaseline?) {
        self.content = content
        self.number = number
        guard let previous else {
            earlier = []
            return
        }
        var missing = ContentBaseline.missing(in: content, of: previous.content, at: [])
            .map { EarlierValue(path: $0.path, value: $0.value, number: previous.number) }
        missing += previous.earlier.filter { ContentBaseline.value(at: $0.path, in: content) == nil }
        earlier = Array(missing.prefix(ContentBaseline.earlierLimit))
    }

    /// Returns the value at a path; nil for none, and for null.
    static func value(at path: [String], in content: JSONValue) -> JSONValue? {
        let found = path.reduce(content as JSONValue?) { $0?[$1] }
        return found == .null ? nil : found
    }

    /// Returns the values of earlier content, and of the objects in it, that content lacks.
    private static func missing(
        in content: JSONValue,
        of earlier: JSONValue,
        at path: [String]
    ) -> [(path: [String], value: JSONValue)] {
        guard let members = earlier.members else { return [] }
        let pairs = members.paired(with: content.members ?? [], by: \.name)
        return pairs.flatMap { before, after -> [(path: [String], value: JSONValue)] in
            guard before.value != .null else { return [] }
            let place = path + [before.name]
            guard let value = after?.value, value != .null else { return [(place, before.value)] }
            return missing(in: value, of: before.value, at: place)
        }
    }
}

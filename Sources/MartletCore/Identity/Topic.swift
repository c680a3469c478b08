// SPDX-License-Identifier: Apache-2.0

/// The topic of a push, `apns-topic`: an app's bundle identifier, with a suffix for most push types.
///
/// Source: "Sending notification requests to APNs".
public struct Topic: RawRepresentable, Sendable, Hashable, Codable {
    /// The text as it is sent.
    public let rawValue: String

    /// Creates a topic from its text; ``PushLint`` checks whether APNs accepts it.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Creates a topic from its text.
    ///
    /// - Parameter rawValue: A bundle identifier, with or without a suffix.
    public init(_ rawValue: String) {
        self.rawValue = rawValue
    }

    /// Returns the topic for pushes of a type: this topic, with the type's suffix appended unless it is already there.
    ///
    /// - Parameter type: The push type.
    /// - Returns: The topic to send.
    public func qualified(for type: PushType) -> Topic {
        let suffix = type.topicSuffix
        return suffix.isEmpty || rawValue.hasSuffix(suffix) ? self : Topic(rawValue + suffix)
    }

    /// The topic without the suffix of a push type: the app's bundle identifier.
    package var bundleIdentifier: String {
        for suffix in Topic.suffixes where rawValue.hasSuffix(suffix) { return String(rawValue.dropLast(suffix.count)) }
        return rawValue
    }

    /// Returns whether text has the form of a bundle identifier, as the rules for topics require.
    package static func isBundleIdentifier(_ text: String) -> Bool { HeaderRules.isWellFormed(topic: text) }

    /// The suffixes of all push types, longest first, because a suffix may end with another.
    private static let suffixes = PushType.all.map(\.topicSuffix).filter { !$0.isEmpty }.sorted { $0.count > $1.count }
}

extension Topic: ExpressibleByStringInterpolation, CustomStringConvertible {
    /// Creates a topic from a literal.
    public init(stringLiteral value: String) {
        rawValue = value
    }

    /// The text.
    public var description: String { rawValue }
}

/// What a push is about, `apns-topic`: an app's bundle identifier, with a suffix for most push types.
///
/// Source: "Sending notification requests to APNs".
public struct Topic: RawRepresentable, Sendable, Hashable, Codable {
    /// The text as it travels.
    public let rawValue: String

    /// A topic of this text; whether APNs takes it is for ``Lint`` to say.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// A topic of this text.
    ///
    /// - Parameter rawValue: A bundle identifier, with or without suffix.
    public init(_ rawValue: String) {
        self.rawValue = rawValue
    }

    /// The topic that pushes of a type need: this one, with the type's suffix added unless it is there.
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

    /// The longest first, as one may end with another.
    private static let suffixes = PushType.all.map(\.topicSuffix).filter { !$0.isEmpty }.sorted { $0.count > $1.count }
}

extension Topic: ExpressibleByStringInterpolation, CustomStringConvertible {
    /// A topic from a literal.
    public init(stringLiteral value: String) {
        rawValue = value
    }

    /// The text.
    public var description: String { rawValue }
}

/// The identifier of a broadcast channel: text that APNs makes up, to be kept and sent byte for byte.
///
/// Source: "Sending channel management requests to APNs".
public struct ChannelID: RawRepresentable, Sendable, Hashable, Codable, CustomStringConvertible,
    ExpressibleByStringLiteral
{
    /// The text as it travels.
    public let rawValue: String

    /// The identifier of this text.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The identifier of this text.
    ///
    /// - Parameter rawValue: The text as APNs gave it.
    public init(_ rawValue: String) {
        self.rawValue = rawValue
    }

    /// An identifier from a literal.
    public init(stringLiteral value: String) {
        rawValue = value
    }

    /// The text.
    public var description: String { rawValue }
}

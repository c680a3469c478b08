// SPDX-License-Identifier: Apache-2.0

/// The identifier of a broadcast channel: text that APNs generates, to be stored and sent unchanged.
///
/// Source: "Sending channel management requests to APNs".
public struct ChannelID: RawRepresentable, Sendable, Hashable, Codable, CustomStringConvertible,
    ExpressibleByStringLiteral
{
    /// The text as it is sent.
    public let rawValue: String

    /// Creates an identifier from its text.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Creates an identifier from its text.
    ///
    /// - Parameter rawValue: The text as APNs returned it.
    public init(_ rawValue: String) {
        self.rawValue = rawValue
    }

    /// Creates an identifier from a literal.
    public init(stringLiteral value: String) {
        rawValue = value
    }

    /// The text.
    public var description: String { rawValue }
}

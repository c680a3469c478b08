// SPDX-License-Identifier: Apache-2.0

/// The identifier of pushes that replace each other on the device, `apns-collapse-id`: the device shows only the latest
/// of them.
///
/// Source: "Sending notification requests to APNs".
public struct CollapseID: RawRepresentable, Sendable, Hashable, Codable {
    /// The text as it is sent.
    public let rawValue: String

    /// Creates an identifier from its text.
    ///
    /// Returns nil if the text is empty, is longer than ``PushLimits/collapseIDByteCount``, contains a control
    /// character, or has a space at either end.
    public init?(rawValue: String) {
        guard (1...PushLimits.collapseIDByteCount).contains(rawValue.utf8.count), rawValue.isCollapseIDText else {
            return nil
        }
        self.rawValue = rawValue
    }

    /// Creates an identifier from its text.
    ///
    /// - Parameter text: 1 to 64 bytes in UTF-8, without control characters and without spaces at either end.
    /// - Throws: ``CollapseIDError`` if the text breaks one of these rules.
    public init(_ text: String) throws(CollapseIDError) {
        guard let identifier = CollapseID(rawValue: text) else { throw CollapseIDError(byteCount: text.utf8.count) }
        self = identifier
    }
}

extension CollapseID: ExpressibleByStringLiteral {
    /// Creates an identifier from a literal, which is checked when the push is sent: ``PushLint`` rejects a push with
    /// an invalid one.
    public init(stringLiteral value: String) {
        rawValue = value
    }
}

/// An error for text that is not a collapse identifier.
public struct CollapseIDError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The length of the text in UTF-8 bytes.
    public let byteCount: Int

    /// The rule and what was found.
    public var description: String {
        guard !(1...PushLimits.collapseIDByteCount).contains(byteCount) else {
            return "apns-collapse-id must not contain control characters or have a space at either end"
        }
        return "apns-collapse-id must have 1 to \(PushLimits.collapseIDByteCount) bytes (found \(byteCount))"
    }
}

/// Makes pushes replace each other on the device, `apns-collapse-id`: those with the same one are shown as one.
///
/// Source: "Sending notification requests to APNs".
public struct CollapseID: RawRepresentable, Sendable, Hashable {
    /// The text as it travels.
    public let rawValue: String

    /// An identifier of this text.
    ///
    /// Nil when it is empty, is longer than ``PushLimits/collapseIDByteCount``, contains a control character, or has a
    /// space at either end.
    public init?(rawValue: String) {
        guard (1...PushLimits.collapseIDByteCount).contains(rawValue.utf8.count), rawValue.isHeaderValue else {
            return nil
        }
        self.rawValue = rawValue
    }

    /// An identifier of this text.
    ///
    /// - Parameter text: 1 to 64 bytes in UTF-8, without control characters and without spaces at either end.
    /// - Throws: ``CollapseIDError`` when it breaks one of these rules.
    public init(_ text: String) throws(CollapseIDError) {
        guard let identifier = CollapseID(rawValue: text) else { throw CollapseIDError(byteCount: text.utf8.count) }
        self = identifier
    }
}

/// Text that is no collapse identifier.
public struct CollapseIDError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The length of the text in UTF-8.
    public let byteCount: Int

    /// The rule and what was found.
    public var description: String {
        guard !(1...PushLimits.collapseIDByteCount).contains(byteCount) else {
            return "apns-collapse-id must not contain control characters or have a space at either end"
        }
        return "apns-collapse-id must have 1 to \(PushLimits.collapseIDByteCount) bytes (found \(byteCount))"
    }
}

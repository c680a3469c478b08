// SPDX-License-Identifier: Apache-2.0

/// The type of a push, `apns-push-type`, which determines how the device handles it.
///
/// Unknown types are preserved, because Apple adds types over time. Source: "Sending notification requests to APNs".
public struct PushType: RawRepresentable, Sendable, Hashable, Codable {
    /// The text as it is sent.
    public let rawValue: String

    /// Creates a push type from its text, known or unknown.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// All known types.
    public static let all = descriptors.map(\.type)

    /// The facts that Apple documents about this type; nil for an unknown type.
    public var descriptor: Descriptor? { index.map { PushType.descriptors[$0] } }

    /// The suffix that the topic has after the bundle identifier; empty for none.
    public var topicSuffix: String { index.map { PushType.descriptors[$0].topicSuffix } ?? "" }

    /// The maximum number of bytes in a payload of this type.
    public var payloadByteLimit: Int {
        index.map { PushType.descriptors[$0].payloadByteLimit } ?? PushLimits.payloadByteCount
    }

    /// The priorities that a push of this type may have; nil for an unknown type.
    var allowedPriorities: [PushNotification.Priority]? { index.map { PushType.descriptors[$0].allowedPriorities } }

    package var isKnown: Bool { index != nil }

    /// The index of the descriptor, found without copying descriptors.
    private var index: Int? { PushType.all.firstIndex(of: self) }
}

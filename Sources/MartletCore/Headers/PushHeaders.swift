// SPDX-License-Identifier: Apache-2.0

/// The headers that describe a push, as they are sent: the common input of all lint rules.
///
/// Source: "Sending notification requests to APNs".
public struct PushHeaders: Sendable, Hashable {
    /// `apns-push-type`.
    public var pushType: String?
    /// `apns-id`.
    public var id: String?
    /// `apns-expiration`.
    public var expiration: String?
    /// `apns-priority`.
    public var priority: String?
    /// `apns-topic`.
    public var topic: String?
    /// `apns-collapse-id`.
    public var collapseID: String?
    /// The length in bytes of an `apns-collapse-id` that is not UTF-8; nil if it is UTF-8.
    package var collapseIDByteCount: Int?

    /// Creates headers from their values; nil for those that are not sent.
    public init(
        pushType: String? = nil,
        id: String? = nil,
        expiration: String? = nil,
        priority: String? = nil,
        topic: String? = nil,
        collapseID: String? = nil
    ) {
        self.pushType = pushType
        self.id = id
        self.expiration = expiration
        self.priority = priority
        self.topic = topic
        self.collapseID = collapseID
    }

    /// The push type, or, without `apns-push-type`, the type implied by the suffix of the topic or, for MDM, by its
    /// prefix; nil if neither implies a type.
    package var resolvedPushType: PushType? {
        if let pushType { return PushType(rawValue: pushType) }
        guard let topic else { return nil }
        if hasMDMTopic { return .mdm }
        return PushType.all.first { !$0.topicSuffix.isEmpty && topic.hasSuffix($0.topicSuffix) }
    }

    /// The prefix of the topics of MDM push certificates ("Sending MDM commands to a device").
    static let mdmTopicPrefix = "com.apple.mgmt."

    var hasMDMTopic: Bool { topic?.hasPrefix(PushHeaders.mdmTopicPrefix) == true }

    /// Whether the push is for a managed device, by its type (ignoring case) or by its topic.
    package var isForMDM: Bool { pushType?.lowercased() == PushType.mdm.rawValue || hasMDMTopic }

    /// Creates headers by looking up each field by name.
    ///
    /// - Parameter field: Returns the value of the field with this name; nil if it is absent.
    package init(fields field: (StaticString) -> String?) {
        self.init(
            pushType: field("apns-push-type"),
            id: field("apns-id"),
            expiration: field("apns-expiration"),
            priority: field("apns-priority"),
            topic: field("apns-topic"),
            collapseID: field("apns-collapse-id")
        )
    }
}

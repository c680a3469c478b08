/// The headers that describe a push, as they travel: the common form that the rules judge, wherever it came from.
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
    /// The number of bytes of an `apns-collapse-id` that is not UTF-8; nil for one that is.
    package var collapseIDByteCount: Int?

    /// Headers from their texts; nil for those that are not sent.
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

    /// The push type; without `apns-push-type` the type that the topic belongs to by its suffix or, for MDM, by its
    /// prefix; nil for none.
    package var resolvedPushType: PushType? {
        if let pushType { return PushType(rawValue: pushType) }
        guard let topic else { return nil }
        if hasMDMTopic { return .mdm }
        return PushType.all.first { !$0.topicSuffix.isEmpty && topic.hasSuffix($0.topicSuffix) }
    }

    /// The prefix of the topics of MDM push certificates ("Sending MDM commands to a device").
    static let mdmTopicPrefix = "com.apple.mgmt."

    /// Whether the topic is that of an MDM push certificate.
    var hasMDMTopic: Bool { topic?.hasPrefix(PushHeaders.mdmTopicPrefix) == true }

    /// Whether the push is for a managed device, by its type in any case or by its topic.
    package var isForMDM: Bool { pushType?.lowercased() == PushType.mdm.rawValue || hasMDMTopic }

    /// Headers from wherever fields are looked up by their names.
    ///
    /// - Parameter field: The text of the field of this name; nil when it is not there.
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

public import APNs

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// What an app's types take for one kind of Live Activity.
///
/// APNs accepts a push whose `content-state` or `attributes` they cannot decode, and the phone ignores it without a
/// word.
public struct ActivityContract: Sendable {
    /// What a part of the payload has to be.
    enum Expectation: Sendable {
        /// As a schema says.
        case schema(JSONSchema)
        /// What a Swift type decodes.
        case type(@Sendable (JSONValue) -> [JSONSchema.Violation])

        func violations(of value: JSONValue) -> [JSONSchema.Violation] {
            switch self {
            case .schema(let schema): schema.violations(of: value)
            case .type(let violations): violations(value)
            }
        }
    }

    /// Findings about one part of a push.
    private static let findingLimit = 20

    static let rules: [Lint.Rule] = [.contractContentState, .contractAttributes, .contractAttributesTypeUnknown]

    /// The app's bundle identifier, without the suffix of Live Activities.
    public let topic: Topic
    /// The name of the app's type of attributes, as a start names it in `attributes-type`.
    public let attributesType: String
    /// What `content-state` has to be; nil when a Swift type says.
    public let contentStateSchema: JSONSchema?
    /// What `attributes` has to be; nil when a Swift type says, or nobody.
    public let attributesSchema: JSONSchema?
    /// The Swift type that decodes the parts; nil where schemas describe them.
    let decodingType: String?

    private let contentState: Expectation
    private let attributes: Expectation?

    /// A contract from schemas, for apps whose types are not at hand.
    ///
    /// - Parameters:
    ///   - topic: The app's bundle identifier; the suffix of Live Activities may be there.
    ///   - attributesType: The name of the app's type of attributes.
    ///   - contentState: What `content-state` has to be.
    ///   - attributes: What `attributes` has to be; nil to leave them unchecked.
    public init(
        topic: Topic,
        attributesType: String,
        contentState: JSONSchema,
        attributes: JSONSchema? = nil
    ) {
        self.topic = topic.ofLiveActivities
        self.attributesType = attributesType
        contentStateSchema = contentState
        attributesSchema = attributes
        decodingType = nil
        self.contentState = .schema(contentState)
        self.attributes = attributes.map(Expectation.schema)
    }

    /// A contract from the app's own types, which decode what comes as ActivityKit does: with a `JSONDecoder` of no
    /// settings, for which a date is a number of seconds since 2001.
    ///
    /// - Parameters:
    ///   - type: The type of the attributes.
    ///   - topic: The app's bundle identifier; the suffix of Live Activities may be there.
    public init<Attributes: LiveActivityAttributes & Decodable & SendableMetatype>(
        for type: Attributes.Type,
        topic: Topic
    ) where Attributes.ContentState: Decodable & SendableMetatype {
        self.topic = topic.ofLiveActivities
        attributesType = type.attributesType
        contentStateSchema = nil
        attributesSchema = nil
        decodingType = String(reflecting: type)
        contentState = .type { value in
            PhoneDecoding.violation(of: value, decoding: Attributes.ContentState.self).map { [$0] } ?? []
        }
        attributes = .type { value in
            PhoneDecoding.violation(of: value, decoding: Attributes.self).map { [$0] } ?? []
        }
    }

    /// What keeps the phone from using a push of this kind.
    ///
    /// - Parameter push: The push.
    /// - Returns: The findings, attributes first; none when the phone takes it.
    public func findings(for push: ActivityPush) -> [Lint.Finding] {
        (push.event == .start ? attributeFindings(push) : []) + contentStateFindings(push)
    }

    func contentStateFindings(_ push: ActivityPush) -> [Lint.Finding] {
        guard let state = push.contentState else {
            // An end may leave the content as it is.
            return push.event == .end ? [] : [ActivityContract.missing(.contentState)]
        }
        return ActivityContract.findings(.contentState, contentState.violations(of: state))
    }

    private func attributeFindings(_ push: ActivityPush) -> [Lint.Finding] {
        guard let given = push.attributes else { return [ActivityContract.missing(.attributes)] }
        guard let attributes else { return [] }
        let violations = attributes.violations(of: given)
        // A mistake that is easily made, and hard to see on the phone.
        let isMixedUp = !violations.isEmpty && contentState.violations(of: given).isEmpty
        return ActivityContract.findings(
            .attributes,
            violations,
            hint: isMixedUp ? "; it has what belongs into content-state" : ""
        )
    }

    private static func findings(
        _ part: Part,
        _ violations: [JSONSchema.Violation],
        hint: String = ""
    ) -> [Lint.Finding] {
        violations.prefix(findingLimit).map { violation in
            Lint.Finding(
                part.rule,
                .payload("/aps/\(part.rawValue)\(violation.pointer)"),
                "the phone cannot decode \(part.rawValue): \(violation)\(hint)"
            )
        }
    }

    private static func missing(_ part: Part) -> Lint.Finding {
        Lint.Finding(
            part.rule,
            .payload("/aps/\(part.rawValue)"),
            "the phone needs \(part.rawValue), and it is missing"
        )
    }

    /// What of a push is held to a contract.
    private enum Part: String {
        case contentState = "content-state"
        case attributes

        var rule: Lint.Rule {
            switch self {
            case .contentState: .contractContentState
            case .attributes: .contractAttributes
            }
        }
    }
}

extension Lint.Rule {
    static let contractContentState = Lint.Rule(
        "contract-content-state",
        .error,
        .liveActivity,
        "content-state is not what the app's type decodes"
    )
    static let contractAttributes = Lint.Rule(
        "contract-attributes",
        .error,
        .liveActivity,
        "attributes is not what the app's type decodes"
    )
    static let contractAttributesTypeUnknown = Lint.Rule(
        "contract-attributes-type-unknown",
        .warning,
        .liveActivity,
        "contracts are known for the app, but none for this type of attributes"
    )
}

extension Topic {
    /// The bundle identifier of an app whose Live Activities a topic is about.
    var ofLiveActivities: Topic {
        let suffix = PushType.liveActivity.topicSuffix
        return rawValue.hasSuffix(suffix) ? Topic(String(rawValue.dropLast(suffix.count))) : self
    }
}

/// What contracts have to know of a push to a Live Activity.
public struct ActivityPush: Sendable, Hashable {
    /// What a push does to an activity.
    public enum Event: String, Sendable, Hashable {
        /// It starts one.
        case start
        /// It changes what one shows.
        case update
        /// It ends one.
        case end
    }

    /// The app's bundle identifier, without the suffix of Live Activities.
    public let topic: Topic
    /// The device token as it stood in the path, in lower case; empty for a broadcast.
    public let deviceToken: String
    /// What it does.
    public let event: Event
    /// `timestamp` in seconds since 1970; nil when it is missing or not a whole number.
    package let timestamp: Int64?
    /// `timestamp`; nil when it is missing or not a whole number.
    public var date: Date? { timestamp.map(Date.init(secondsSince1970:)) }
    /// The name of the app's type of attributes, which a start has.
    public let attributesType: String?
    /// `attributes`.
    public let attributes: JSONValue?
    /// `content-state`.
    public let contentState: JSONValue?

    /// What a push says of a Live Activity; nil when it is about none.
    ///
    /// - Parameters:
    ///   - topic: The topic of the push, or the app that a broadcast is for.
    ///   - pushType: `apns-push-type`.
    ///   - deviceToken: The device token as it stood in the path; empty for a broadcast.
    ///   - payload: The payload.
    public init?(topic: String, pushType: String?, deviceToken: String, payload: [UInt8]) {
        guard pushType?.lowercased() == PushType.liveActivity.rawValue,
            let aps = (try? JSONReader.readPayload(payload))?["aps"],
            let event = aps["event"]?.stringValue.flatMap(Event.init(rawValue:))
        else { return nil }
        self.topic = Topic(topic).ofLiveActivities
        self.deviceToken = deviceToken.lowercased()
        self.event = event
        timestamp = aps["timestamp"]?.wholeValue
        attributesType = aps["attributes-type"]?.stringValue
        attributes = aps["attributes"]
        contentState = aps["content-state"]
    }
}

extension ActivityPush {
    /// What a push that came in says of a Live Activity; nil when it is about none.
    ///
    /// - Parameter push: The push.
    public init?(_ push: ReceivedPush) {
        self.init(
            topic: push.app ?? push.headers.topic ?? "",
            pushType: push.headers.pushType,
            deviceToken: push.deviceToken,
            payload: push.payload
        )
    }
}

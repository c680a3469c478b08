// SPDX-License-Identifier: Apache-2.0

public import MartletCore

/// The format that an app's types require for one kind of Live Activity.
///
/// APNs accepts a push whose `content-state` or `attributes` these types cannot decode, but the phone silently ignores
/// it.
public struct ActivityContract: Sendable {
    /// The required format of a part of the payload.
    enum Expectation: Sendable {
        /// A value that a schema allows.
        case schema(JSONSchema)
        /// A value that a Swift type decodes.
        case type(@Sendable (JSONValue) -> [JSONSchema.Violation])

        func violations(of value: JSONValue) -> [JSONSchema.Violation] {
            switch self {
            case .schema(let schema): schema.violations(of: value)
            case .type(let violations): violations(value)
            }
        }
    }

    /// The maximum number of findings about one part of a push.
    private static let findingLimit = 20

    static let rules: [PushLint.Rule] = [.contractContentState, .contractAttributes, .contractAttributesTypeUnknown]

    /// Returns the rule of a finding about a part that the app's types cannot decode; nil for other findings.
    static func decodingRule(of finding: PushLint.Finding) -> PushLint.Rule? {
        [.contractContentState, .contractAttributes].first { $0.id == finding.rule }
    }

    /// The app's bundle identifier, without the suffix of Live Activities.
    public let topic: Topic
    /// The name of the app's attributes type, as in `attributes-type` of a push that starts an activity.
    public let attributesType: String
    /// The schema of `content-state`; nil when a Swift type decodes it.
    public let contentStateSchema: JSONSchema?
    /// The schema of `attributes`; nil when a Swift type decodes them, or when they are not checked.
    public let attributesSchema: JSONSchema?
    /// The Swift type that decodes the parts; nil where schemas describe them.
    let decodingType: String?

    private let contentState: Expectation
    private let attributes: Expectation?

    /// Creates a contract from schemas, for apps whose Swift types are not available.
    ///
    /// - Parameters:
    ///   - topic: The app's bundle identifier, with or without the suffix of Live Activities.
    ///   - attributesType: The name of the app's attributes type.
    ///   - contentState: The schema of `content-state`.
    ///   - attributes: The schema of `attributes`; nil to leave them unchecked.
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

    /// Creates a contract from the app's own types.
    ///
    /// They decode values as ActivityKit does: with a `JSONDecoder` with default settings, which reads a date as a
    /// number of seconds since 2001.
    ///
    /// - Parameters:
    ///   - type: The type of the attributes.
    ///   - topic: The app's bundle identifier, with or without the suffix of Live Activities.
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

    /// Returns the problems that prevent the phone from using a push of this kind.
    ///
    /// - Parameter push: The push.
    /// - Returns: The findings, attributes first; none when the phone can use the push.
    public func findings(for push: ActivityPush) -> [PushLint.Finding] {
        (push.event == .start ? attributeFindings(push) : []) + contentStateFindings(push)
    }

    func contentStateFindings(_ push: ActivityPush) -> [PushLint.Finding] {
        guard let state = push.contentState else {
            // A push that ends an activity may omit `content-state`.
            return push.event == .end ? [] : [ActivityContract.missing(.contentState)]
        }
        return ActivityContract.findings(.contentState, contentState.violations(of: state))
    }

    private func attributeFindings(_ push: ActivityPush) -> [PushLint.Finding] {
        guard let given = push.attributes else { return [ActivityContract.missing(.attributes)] }
        guard let attributes else { return [] }
        let violations = attributes.violations(of: given)
        // A common mistake, which the phone does not report.
        let isMixedUp = !violations.isEmpty && contentState.violations(of: given).isEmpty
        return ActivityContract.findings(
            .attributes,
            violations,
            hint: isMixedUp ? "; it has the members of content-state" : ""
        )
    }

    private static func findings(
        _ part: Part,
        _ violations: [JSONSchema.Violation],
        hint: String = ""
    ) -> [PushLint.Finding] {
        violations.prefix(findingLimit).map { violation in
            let message = "the phone cannot decode \(part.rawValue): \(violation)\(hint)"
            return PushLint.Finding(part.rule, .payload("/aps/\(part.rawValue)\(violation.pointer)"), message)
        }
    }

    private static func missing(_ part: Part) -> PushLint.Finding {
        let message = "\(part.rawValue) is missing, and the phone cannot use the push without it"
        return PushLint.Finding(part.rule, .payload("/aps/\(part.rawValue)"), message)
    }

    /// A part of a push that a contract describes.
    private enum Part: String {
        case contentState = "content-state"
        case attributes

        var rule: PushLint.Rule {
            switch self {
            case .contentState: .contractContentState
            case .attributes: .contractAttributes
            }
        }
    }
}

extension PushLint.Rule {
    static let contractContentState = PushLint.Rule("contract-content-state", .error, .liveActivity)
        .when("content-state is not what the app's type decodes")
    static let contractAttributes = PushLint.Rule("contract-attributes", .error, .liveActivity)
        .when("attributes is not what the app's type decodes")
    static let contractAttributesTypeUnknown = PushLint.Rule(
        "contract-attributes-type-unknown",
        .warning,
        .liveActivity
    )
    .when("contracts are known for the app, but none for this type of attributes")
}

extension Topic {
    /// The bundle identifier of the app: the topic without the suffix of Live Activities.
    var ofLiveActivities: Topic {
        let suffix = PushType.liveActivity.topicSuffix
        return rawValue.hasSuffix(suffix) ? Topic(String(rawValue.dropLast(suffix.count))) : self
    }
}

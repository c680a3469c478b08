// SPDX-License-Identifier: Apache-2.0

extension APNsReason {
    /// The client certificate is invalid (status 403).
    public static let badCertificate = APNsReason(rawValue: "BadCertificate")
    /// The client certificate is for the other environment (status 403).
    public static let badCertificateEnvironment = APNsReason(rawValue: "BadCertificateEnvironment")
    /// The channel identifier is not properly encoded or is too long (status 400).
    public static let badChannelID = APNsReason(rawValue: "BadChannelId")
    /// The collapse identifier is longer than 64 bytes (status 400).
    public static let badCollapseID = APNsReason(rawValue: "BadCollapseId")
    /// The device token is malformed or belongs to the other environment (status 400): check which environment issued
    /// it.
    public static let badDeviceToken = APNsReason(rawValue: "BadDeviceToken")
    /// The signing key is for the other environment (status 403).
    public static let badEnvironmentKeyIDInToken = APNsReason(rawValue: "BadEnvironmentKeyIdInToken")
    /// The signing key is for the other environment (status 403).
    public static let badEnvironmentKeyInToken = APNsReason(rawValue: "BadEnvironmentKeyInToken")
    /// The expiration is not a valid time (status 400); a channel that stores nothing accepts only 0.
    public static let badExpirationDate = APNsReason(rawValue: "BadExpirationDate")
    /// The identifier is not a UUID in canonical form (status 400).
    public static let badMessageID = APNsReason(rawValue: "BadMessageId")
    /// APNs does not know the path (status 404).
    public static let badPath = APNsReason(rawValue: "BadPath")
    /// The priority is not allowed for this push (status 400).
    public static let badPriority = APNsReason(rawValue: "BadPriority")
    /// The request has an attribute that the service does not know (status 400).
    public static let badRequestParams = APNsReason(rawValue: "BadRequestParams")
    /// The body cannot be parsed as JSON (status 400).
    public static let badRequestPayload = APNsReason(rawValue: "BadRequestPayload")
    /// The topic is malformed (status 400).
    public static let badTopic = APNsReason(rawValue: "BadTopic")
    /// The app has the maximum number of channels (status 400): delete some first.
    public static let cannotCreateChannelConfig = APNsReason(rawValue: "CannotCreateChannelConfig")
    /// The channel does not exist in this environment (status 400).
    public static let channelNotRegistered = APNsReason(rawValue: "ChannelNotRegistered")
    /// The device token belongs to another topic (status 400): check the bundle identifier and its suffix.
    public static let deviceTokenNotForTopic = APNsReason(rawValue: "DeviceTokenNotForTopic")
    /// A header was sent more than once (status 400).
    public static let duplicateHeaders = APNsReason(rawValue: "DuplicateHeaders")
    /// The provider token is older than an hour (status 403): check the clock of the machine that created it.
    public static let expiredProviderToken = APNsReason(rawValue: "ExpiredProviderToken")
    /// The device token has expired (status 410).
    public static let expiredToken = APNsReason(rawValue: "ExpiredToken")
    /// Broadcasts are not enabled for the app (status 400): enable the capability in the developer portal.
    public static let featureNotEnabled = APNsReason(rawValue: "FeatureNotEnabled")
    /// The action is not allowed (status 403).
    public static let forbidden = APNsReason(rawValue: "Forbidden")
    /// The connection was idle for too long (status 400).
    public static let idleTimeout = APNsReason(rawValue: "IdleTimeout")
    /// An internal error occurred in APNs (status 500).
    public static let internalServerError = APNsReason(rawValue: "InternalServerError")
    /// The provider token or its signature is invalid (status 403): check key, key ID and team ID.
    public static let invalidProviderToken = APNsReason(rawValue: "InvalidProviderToken")
    /// The push type is unknown or not allowed for this request (status 400).
    public static let invalidPushType = APNsReason(rawValue: "InvalidPushType")
    /// The method is not allowed for this path (status 405).
    public static let methodNotAllowed = APNsReason(rawValue: "MethodNotAllowed")
    /// The channel identifier is missing (status 400).
    public static let missingChannelID = APNsReason(rawValue: "MissingChannelId")
    /// The path has no device token (status 400).
    public static let missingDeviceToken = APNsReason(rawValue: "MissingDeviceToken")
    /// The request has neither a client certificate nor a provider token (status 403).
    public static let missingProviderToken = APNsReason(rawValue: "MissingProviderToken")
    /// The push type is missing (status 400).
    public static let missingPushType = APNsReason(rawValue: "MissingPushType")
    /// The topic is missing (status 400); a provider token covers several topics, so each push must name its own.
    public static let missingTopic = APNsReason(rawValue: "MissingTopic")
    /// The payload is empty (status 400).
    public static let payloadEmpty = APNsReason(rawValue: "PayloadEmpty")
    /// The payload is larger than allowed (status 413).
    public static let payloadTooLarge = APNsReason(rawValue: "PayloadTooLarge")
    /// APNs is unavailable (status 503).
    public static let serviceUnavailable = APNsReason(rawValue: "ServiceUnavailable")
    /// This APNs server is shutting down (status 503).
    public static let shutdown = APNsReason(rawValue: "Shutdown")
    /// The provider token changed more often than every 20 minutes (status 429): keep using the current token.
    public static let tooManyProviderTokenUpdates = APNsReason(rawValue: "TooManyProviderTokenUpdates")
    /// Too many requests were sent for the same device or channel in a short time (status 429).
    public static let tooManyRequests = APNsReason(rawValue: "TooManyRequests")
    /// Pushing to this topic is not allowed (status 400).
    public static let topicDisallowed = APNsReason(rawValue: "TopicDisallowed")
    /// The credentials do not cover the bundle identifier in the path (status 403).
    public static let topicMismatch = APNsReason(rawValue: "TopicMismatch")
    /// The device token is no longer active for the topic (status 410): the app may have been removed.
    public static let unregistered = APNsReason(rawValue: "Unregistered")
    /// The signing key is not related to the first key used on the connection (status 403).
    public static let unrelatedKeyIDInToken = APNsReason(rawValue: "UnrelatedKeyIdInToken")

    /// All known reasons, sorted by name.
    public static let all: [APNsReason] = facts.keys.sorted { $0.rawValue < $1.rawValue }

    /// Returns the facts about a reason, ignoring spaces: Apple's documentation also spells one of them with a space.
    static func facts(of rawValue: String) -> Facts? {
        facts[APNsReason(rawValue: rawValue.contains(" ") ? rawValue.filter { $0 != " " } : rawValue)]
    }

    private static let facts: [APNsReason: Facts] = [
        .badCertificate: Facts(403, .everywhere).meaning("the client certificate is invalid"),
        .badCertificateEnvironment: Facts(403, .everywhere)
            .meaning("the client certificate is for the other environment"),
        .badChannelID: Facts(400, [.broadcast, .channel])
            .meaning("the channel identifier is not properly encoded, or too long"),
        .badCollapseID: Facts(400, .device).meaning("the collapse identifier is longer than 64 bytes"),
        .badDeviceToken: Facts(400, .device, endsDeviceToken: true)
            .meaning(
                "the device token is malformed or belongs to the other environment: check which environment gave it"
            ),
        .badEnvironmentKeyIDInToken: Facts(403, .device).meaning("the signing key is for the other environment"),
        .badEnvironmentKeyInToken: Facts(403, .device).meaning("the signing key is for the other environment"),
        .badExpirationDate: Facts(400, [.device, .broadcast])
            .meaning("the expiration is not a valid time; a channel that stores nothing accepts only 0"),
        .badMessageID: Facts(400, .everywhere).meaning("the identifier is not a UUID in canonical form"),
        .badPath: Facts(404, .everywhere).meaning("APNs does not know the path"),
        .badPriority: Facts(400, [.device, .broadcast]).meaning("the priority is not allowed for this push"),
        .badRequestParams: Facts(400, .channel).meaning("the request has an attribute that the service does not know"),
        .badRequestPayload: Facts(400, [.broadcast, .channel]).meaning("the body cannot be read as JSON"),
        .badTopic: Facts(400, .device).meaning("the topic is malformed"),
        .cannotCreateChannelConfig: Facts(400, .channel)
            .meaning("the app has as many channels as it may: delete some first"),
        .channelNotRegistered: Facts(400, [.broadcast, .channel])
            .meaning("there is no such channel in this environment"),
        .deviceTokenNotForTopic: Facts(400, .device)
            .meaning("the device token belongs to another topic: check the bundle identifier and its suffix"),
        .duplicateHeaders: Facts(400, .device).meaning("a header was sent more than once"),
        .expiredProviderToken: Facts(403, .everywhere, advice: .renewToken)
            .meaning("the provider token is older than an hour: check the clock of the machine that made it"),
        .expiredToken: Facts(410, .device, endsDeviceToken: true).meaning("the device token has expired"),
        .featureNotEnabled: Facts(400, [.broadcast, .channel])
            .meaning("the app is not enabled for broadcasts: switch the capability on in the developer portal"),
        .forbidden: Facts(403, .device).meaning("the action is not allowed"),
        .idleTimeout: Facts(400, .device, advice: .reconnect).meaning("the connection was idle for too long"),
        .internalServerError: Facts(500, .everywhere, advice: .backOff).meaning("something went wrong inside APNs"),
        .invalidProviderToken: Facts(403, .everywhere)
            .meaning("the provider token is not valid, or its signature does not fit: check key, key ID and team ID"),
        .invalidPushType: Facts(400, .everywhere).meaning("the push type is unknown, or not one for this request"),
        .methodNotAllowed: Facts(405, .everywhere).meaning("the method is not allowed here"),
        .missingChannelID: Facts(400, [.broadcast, .channel]).meaning("the channel identifier is missing"),
        .missingDeviceToken: Facts(400, .device).meaning("the path has no device token"),
        .missingProviderToken: Facts(403, .everywhere)
            .meaning("there is neither a client certificate nor a provider token"),
        .missingPushType: Facts(400, [.broadcast, .channel]).meaning("the push type is missing"),
        .missingTopic: Facts(400, .device)
            .meaning("the topic is missing; a provider token covers many, so each push has to name its own"),
        .payloadEmpty: Facts(400, [.device, .broadcast]).meaning("there is no payload"),
        .payloadTooLarge: Facts(413, [.device, .broadcast]).meaning("the payload is larger than allowed"),
        .serviceUnavailable: Facts(503, .everywhere, advice: .backOff).meaning("APNs is unavailable"),
        .shutdown: Facts(503, .everywhere, advice: .reconnect).meaning("this APNs server is shutting down"),
        .tooManyProviderTokenUpdates: Facts(429, .everywhere, advice: .backOff)
            .meaning("the provider token changed more often than every 20 minutes: keep the one there is"),
        .tooManyRequests: Facts(429, .everywhere, advice: .backOff)
            .meaning("too many requests for the same device or channel in a short time"),
        .topicDisallowed: Facts(400, .everywhere).meaning("pushing to this topic is not allowed"),
        .topicMismatch: Facts(403, [.broadcast, .channel])
            .meaning("the credentials do not cover the bundle identifier in the path"),
        .unregistered: Facts(410, .device, endsDeviceToken: true)
            .meaning("the device token is no longer active for the topic: the app may have been removed"),
        .unrelatedKeyIDInToken: Facts(403, .device, advice: .reconnect)
            .meaning("the signing key is not related to the first one used on the connection"),
    ]
}

extension APNsReason.Scope {
    fileprivate static let everywhere: APNsReason.Scope = [.device, .broadcast, .channel]
}

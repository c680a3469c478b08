extension Reason {
    /// 403: the client certificate is invalid.
    public static let badCertificate = Reason(rawValue: "BadCertificate")
    /// 403: the client certificate is for the other environment.
    public static let badCertificateEnvironment = Reason(rawValue: "BadCertificateEnvironment")
    /// 400: the channel identifier is not properly encoded, or too long.
    public static let badChannelID = Reason(rawValue: "BadChannelId")
    /// 400: the collapse identifier is longer than 64 bytes.
    public static let badCollapseID = Reason(rawValue: "BadCollapseId")
    /// 400: the device token is malformed or belongs to the other environment: check which environment gave it.
    public static let badDeviceToken = Reason(rawValue: "BadDeviceToken")
    /// 403: the signing key is for the other environment.
    public static let badEnvironmentKeyIDInToken = Reason(rawValue: "BadEnvironmentKeyIdInToken")
    /// 403: the signing key is for the other environment.
    public static let badEnvironmentKeyInToken = Reason(rawValue: "BadEnvironmentKeyInToken")
    /// 400: the expiration is not a valid time; a channel that stores nothing accepts only 0.
    public static let badExpirationDate = Reason(rawValue: "BadExpirationDate")
    /// 400: the identifier is not a UUID in canonical form.
    public static let badMessageID = Reason(rawValue: "BadMessageId")
    /// 404: APNs does not know the path.
    public static let badPath = Reason(rawValue: "BadPath")
    /// 400: the priority is not allowed for this push.
    public static let badPriority = Reason(rawValue: "BadPriority")
    /// 400: the request has an attribute that the service does not know.
    public static let badRequestParams = Reason(rawValue: "BadRequestParams")
    /// 400: the body cannot be read as JSON.
    public static let badRequestPayload = Reason(rawValue: "BadRequestPayload")
    /// 400: the topic is malformed.
    public static let badTopic = Reason(rawValue: "BadTopic")
    /// 400: the app has as many channels as it may: delete some first.
    public static let cannotCreateChannelConfig = Reason(rawValue: "CannotCreateChannelConfig")
    /// 400: there is no such channel in this environment.
    public static let channelNotRegistered = Reason(rawValue: "ChannelNotRegistered")
    /// 400: the device token belongs to another topic: check the bundle identifier and its suffix.
    public static let deviceTokenNotForTopic = Reason(rawValue: "DeviceTokenNotForTopic")
    /// 400: a header was sent more than once.
    public static let duplicateHeaders = Reason(rawValue: "DuplicateHeaders")
    /// 403: the provider token is older than an hour: check the clock of the machine that made it.
    public static let expiredProviderToken = Reason(rawValue: "ExpiredProviderToken")
    /// 410: the device token has expired.
    public static let expiredToken = Reason(rawValue: "ExpiredToken")
    /// 400: the app is not enabled for broadcasts: switch the capability on in the developer portal.
    public static let featureNotEnabled = Reason(rawValue: "FeatureNotEnabled")
    /// 403: the action is not allowed.
    public static let forbidden = Reason(rawValue: "Forbidden")
    /// 400: the connection was idle for too long.
    public static let idleTimeout = Reason(rawValue: "IdleTimeout")
    /// 500: something went wrong inside APNs.
    public static let internalServerError = Reason(rawValue: "InternalServerError")
    /// 403: the provider token is not valid, or its signature does not fit: check key, key ID and team ID.
    public static let invalidProviderToken = Reason(rawValue: "InvalidProviderToken")
    /// 400: the push type is unknown, or not one for this request.
    public static let invalidPushType = Reason(rawValue: "InvalidPushType")
    /// 405: the method is not allowed here.
    public static let methodNotAllowed = Reason(rawValue: "MethodNotAllowed")
    /// 400: the channel identifier is missing.
    public static let missingChannelID = Reason(rawValue: "MissingChannelId")
    /// 400: the path has no device token.
    public static let missingDeviceToken = Reason(rawValue: "MissingDeviceToken")
    /// 403: there is neither a client certificate nor a provider token.
    public static let missingProviderToken = Reason(rawValue: "MissingProviderToken")
    /// 400: the push type is missing.
    public static let missingPushType = Reason(rawValue: "MissingPushType")
    /// 400: the topic is missing; a provider token covers many, so each push has to name its own.
    public static let missingTopic = Reason(rawValue: "MissingTopic")
    /// 400: there is no payload.
    public static let payloadEmpty = Reason(rawValue: "PayloadEmpty")
    /// 413: the payload is larger than allowed.
    public static let payloadTooLarge = Reason(rawValue: "PayloadTooLarge")
    /// 503: APNs is unavailable.
    public static let serviceUnavailable = Reason(rawValue: "ServiceUnavailable")
    /// 503: this APNs server is shutting down.
    public static let shutdown = Reason(rawValue: "Shutdown")
    /// 429: the provider token changed more often than every 20 minutes: keep the one there is.
    public static let tooManyProviderTokenUpdates = Reason(rawValue: "TooManyProviderTokenUpdates")
    /// 429: too many requests for the same device or channel in a short time.
    public static let tooManyRequests = Reason(rawValue: "TooManyRequests")
    /// 400: pushing to this topic is not allowed.
    public static let topicDisallowed = Reason(rawValue: "TopicDisallowed")
    /// 403: the credentials do not cover the bundle identifier in the path.
    public static let topicMismatch = Reason(rawValue: "TopicMismatch")
    /// 410: the device token is no longer active for the topic: the app may have been removed.
    public static let unregistered = Reason(rawValue: "Unregistered")
    /// 403: the signing key is not related to the first one used on the connection.
    public static let unrelatedKeyIDInToken = Reason(rawValue: "UnrelatedKeyIdInToken")

    /// Every known reason, by name.
    public static let all: [Reason] = facts.keys.sorted { $0.rawValue < $1.rawValue }

    /// What is known of the reason of this text; one of them Apple also prints with a space.
    static func facts(of rawValue: String) -> Facts? {
        facts[Reason(rawValue: rawValue.contains(" ") ? rawValue.filter { $0 != " " } : rawValue)]
    }

    private static let facts: [Reason: Facts] = [
        .badCertificate: Facts(
            status: 403,
            scope: .everywhere,
            explanation: "the client certificate is invalid"
        ),
        .badCertificateEnvironment: Facts(
            status: 403,
            scope: .everywhere,
            explanation: "the client certificate is for the other environment"
        ),
        .badChannelID: Facts(
            status: 400,
            scope: [.broadcast, .channel],
            explanation: "the channel identifier is not properly encoded, or too long"
        ),
        .badCollapseID: Facts(
            status: 400,
            scope: .device,
            explanation: "the collapse identifier is longer than 64 bytes"
        ),
        .badDeviceToken: Facts(
            status: 400,
            scope: .device,
            endsDeviceToken: true,
            explanation:
                "the device token is malformed or belongs to the other environment: check which environment gave it"
        ),
        .badEnvironmentKeyIDInToken: Facts(
            status: 403,
            scope: .device,
            explanation: "the signing key is for the other environment"
        ),
        .badEnvironmentKeyInToken: Facts(
            status: 403,
            scope: .device,
            explanation: "the signing key is for the other environment"
        ),
        .badExpirationDate: Facts(
            status: 400,
            scope: [.device, .broadcast],
            explanation: "the expiration is not a valid time; a channel that stores nothing accepts only 0"
        ),
        .badMessageID: Facts(
            status: 400,
            scope: .everywhere,
            explanation: "the identifier is not a UUID in canonical form"
        ),
        .badPath: Facts(
            status: 404,
            scope: .everywhere,
            explanation: "APNs does not know the path"
        ),
        .badPriority: Facts(
            status: 400,
            scope: [.device, .broadcast],
            explanation: "the priority is not allowed for this push"
        ),
        .badRequestParams: Facts(
            status: 400,
            scope: .channel,
            explanation: "the request has an attribute that the service does not know"
        ),
        .badRequestPayload: Facts(
            status: 400,
            scope: [.broadcast, .channel],
            explanation: "the body cannot be read as JSON"
        ),
        .badTopic: Facts(
            status: 400,
            scope: .device,
            explanation: "the topic is malformed"
        ),
        .cannotCreateChannelConfig: Facts(
            status: 400,
            scope: .channel,
            explanation: "the app has as many channels as it may: delete some first"
        ),
        .channelNotRegistered: Facts(
            status: 400,
            scope: [.broadcast, .channel],
            explanation: "there is no such channel in this environment"
        ),
        .deviceTokenNotForTopic: Facts(
            status: 400,
            scope: .device,
            explanation: "the device token belongs to another topic: check the bundle identifier and its suffix"
        ),
        .duplicateHeaders: Facts(
            status: 400,
            scope: .device,
            explanation: "a header was sent more than once"
        ),
        .expiredProviderToken: Facts(
            status: 403,
            scope: .everywhere,
            advice: .renewToken,
            explanation: "the provider token is older than an hour: check the clock of the machine that made it"
        ),
        .expiredToken: Facts(
            status: 410,
            scope: .device,
            endsDeviceToken: true,
            explanation: "the device token has expired"
        ),
        .featureNotEnabled: Facts(
            status: 400,
            scope: [.broadcast, .channel],
            explanation: "the app is not enabled for broadcasts: switch the capability on in the developer portal"
        ),
        .forbidden: Facts(
            status: 403,
            scope: .device,
            explanation: "the action is not allowed"
        ),
        .idleTimeout: Facts(
            status: 400,
            scope: .device,
            advice: .reconnect,
            explanation: "the connection was idle for too long"
        ),
        .internalServerError: Facts(
            status: 500,
            scope: .everywhere,
            advice: .backOff,
            explanation: "something went wrong inside APNs"
        ),
        .invalidProviderToken: Facts(
            status: 403,
            scope: .everywhere,
            explanation: "the provider token is not valid, or its signature does not fit: check key, key ID and team ID"
        ),
        .invalidPushType: Facts(
            status: 400,
            scope: .everywhere,
            explanation: "the push type is unknown, or not one for this request"
        ),
        .methodNotAllowed: Facts(
            status: 405,
            scope: .everywhere,
            explanation: "the method is not allowed here"
        ),
        .missingChannelID: Facts(
            status: 400,
            scope: [.broadcast, .channel],
            explanation: "the channel identifier is missing"
        ),
        .missingDeviceToken: Facts(
            status: 400,
            scope: .device,
            explanation: "the path has no device token"
        ),
        .missingProviderToken: Facts(
            status: 403,
            scope: .everywhere,
            explanation: "there is neither a client certificate nor a provider token"
        ),
        .missingPushType: Facts(
            status: 400,
            scope: [.broadcast, .channel],
            explanation: "the push type is missing"
        ),
        .missingTopic: Facts(
            status: 400,
            scope: .device,
            explanation: "the topic is missing; a provider token covers many, so each push has to name its own"
        ),
        .payloadEmpty: Facts(
            status: 400,
            scope: [.device, .broadcast],
            explanation: "there is no payload"
        ),
        .payloadTooLarge: Facts(
            status: 413,
            scope: [.device, .broadcast],
            explanation: "the payload is larger than allowed"
        ),
        .serviceUnavailable: Facts(
            status: 503,
            scope: .everywhere,
            advice: .backOff,
            explanation: "APNs is unavailable"
        ),
        .shutdown: Facts(
            status: 503,
            scope: .everywhere,
            advice: .reconnect,
            explanation: "this APNs server is shutting down"
        ),
        .tooManyProviderTokenUpdates: Facts(
            status: 429,
            scope: .everywhere,
            advice: .backOff,
            explanation: "the provider token changed more often than every 20 minutes: keep the one there is"
        ),
        .tooManyRequests: Facts(
            status: 429,
            scope: .everywhere,
            advice: .backOff,
            explanation: "too many requests for the same device or channel in a short time"
        ),
        .topicDisallowed: Facts(
            status: 400,
            scope: .everywhere,
            explanation: "pushing to this topic is not allowed"
        ),
        .topicMismatch: Facts(
            status: 403,
            scope: [.broadcast, .channel],
            explanation: "the credentials do not cover the bundle identifier in the path"
        ),
        .unregistered: Facts(
            status: 410,
            scope: .device,
            endsDeviceToken: true,
            explanation: "the device token is no longer active for the topic: the app may have been removed"
        ),
        .unrelatedKeyIDInToken: Facts(
            status: 403,
            scope: .device,
            advice: .reconnect,
            explanation: "the signing key is not related to the first one used on the connection"
        ),
    ]
}

extension Reason.Scope {
    fileprivate static let everywhere: Reason.Scope = [.device, .broadcast, .channel]
}

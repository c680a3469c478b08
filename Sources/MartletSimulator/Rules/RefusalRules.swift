// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletServer
internal import MartletTransport

extension PushLint.Rule {
    static let requestPathUnknown = PushLint.Rule("request-path-unknown", .error, .sending)
        .when("the path of a request is not one of APNs")
    static let requestMethodWrong = PushLint.Rule("request-method-wrong", .error, .sending)
        .when("the path of a request does not accept its method")
    static let requestIDNotCanonical = PushLint.Rule("request-id-not-canonical", .error, .broadcast)
        .when("apns-request-id is not a UUID")
    static let headerRepeated = PushLint.Rule("header-repeated", .error, .sending)
        .when("a request has the same header twice")
    static let certificateNotForPushes = PushLint.Rule("certificate-not-for-pushes", .error, .certificate)
        .when("a client certificate names no topic")
    static let certificateEnvironmentWrong = PushLint.Rule("certificate-environment-wrong", .error, .certificate)
        .when("a client certificate is for the other environment")
    static let locationWithCertificate = PushLint.Rule("location-with-certificate", .error, .sending)
        .when("a push of type location comes with a client certificate")
    static let broadcastExpirationNotStored = PushLint.Rule("broadcast-expiration-not-stored", .error, .broadcast)
        .when("a broadcast to a channel without storage has an apns-expiration other than 0")
    static let topicNotAllowed = PushLint.Rule("topic-not-allowed", .error, .providerToken)
        .when("the signing key or the certificate is not for the topic")
    static let deviceTokenMissing = PushLint.Rule("device-token-missing", .error, .sending)
        .when("the path has no device token")
    static let deviceTokenMalformed = PushLint.Rule("device-token-malformed", .error, .sending)
        .when("the device token is not an even number of hexadecimal digits; the maximum is 1024")
    static let deviceTokenOfOtherEnvironment = PushLint.Rule("device-token-of-other-environment", .error, .responses)
        .when("the device token belongs to the other environment")
    static let deviceTokenOfOtherTopic = PushLint.Rule("device-token-of-other-topic", .error, .responses)
        .when("the device token is not registered for the topic")
    static let deviceTokenUnregistered = PushLint.Rule("device-token-unregistered", .error, .responses)
        .when("the device token is no longer valid")
    static let answeredByFault = PushLint.Rule("answered-by-fault", .warning, .responses)
        .when("a fault of the simulator, or the suffix of the device token, determined the answer")
    static let answerLost = PushLint.Rule("answer-lost", .warning, .responses)
        .when("the answer to a push was not written to the connection")
    static let trailersIgnored = PushLint.Rule("trailers-ignored", .warning, .sending)
        .when("a request has fields of APNs after its body, as trailers")
    static let mdmWithoutCertificate = PushLint.Rule("mdm-without-certificate", .error, .mdm)
        .when("a push for a managed device is authenticated by a provider token")
    static let pushRefused = PushLint.Rule("push-refused", .error, .responses)
        .when("APNs refuses a push for another reason")
}

/// The rules about the sending and the answer of a push, except those about provider tokens.
///
/// Most are broken only by refused pushes.
enum RefusalRules {
    static let all: [PushLint.Rule] = [
        .requestPathUnknown, .requestMethodWrong, .requestIDNotCanonical, .headerRepeated, .certificateNotForPushes,
        .certificateEnvironmentWrong, .locationWithCertificate, .broadcastExpirationNotStored, .topicNotAllowed,
        .deviceTokenMissing, .deviceTokenMalformed, .deviceTokenOfOtherEnvironment, .deviceTokenOfOtherTopic,
        .deviceTokenUnregistered, .answeredByFault, .answerLost, .trailersIgnored, .mdmWithoutCertificate, .pushRefused,
    ]

    /// Returns the finding about an answer that was not written to the connection.
    static func answerLost(status: Int, to loss: AnswerLoss) -> PushLint.Finding {
        let unknown = "the client cannot know the result of the push"
        let unprocessed = "the client knows that the push was not processed, and can send it again"
        let event: String
        var consequence = unknown
        switch loss {
        case .client: return answerNotAwaited
        case .connection(let injection): event = "\(injection) ended the connection before"
        case .fault(let injection):
            switch injection.action {
            case .hang: event = "\(injection) withheld"
            case .resetStream(let code):
                let code = HTTP2ErrorCode(rawValue: code)
                event = "\(injection) reset the stream (\(code)) before"
                if code == .refusedStream { consequence = unprocessed }
            case .goAway:
                event = "\(injection) left the stream out of the GOAWAY frame before"
                consequence = unprocessed
            default: event = "\(injection) ended the connection before"
            }
        }
        let answer = event.hasSuffix("before") ? "the answer, \(status), was sent" : "the answer, \(status)"
        return PushLint.Finding(.answerLost, .connection, "\(event) \(answer): \(consequence)")
    }

    /// The finding about an answer that the client did not wait for.
    ///
    /// It is a constant, because a client can reset thousands of streams.
    static let answerNotAwaited = PushLint.Finding(
        .answerLost,
        .connection,
        "the client reset the stream or left before the answer was sent: it cannot know the result of the push"
    )

    /// Returns the findings about the request of a push that do not change the answer of APNs.
    static func findings(about request: APNsRequest) -> [PushLint.Finding] {
        request.trailers.map { name in
            let message = "\(name) was sent as a trailer, which has no effect: send it before the body"
            return PushLint.Finding(.trailersIgnored, .header(name), message)
        }
    }

    /// The finding about a push of type mdm, or to a topic for MDM, without a client certificate.
    static let mdmWithToken = PushLint.Finding(
        .mdmWithoutCertificate,
        .header("authorization"),
        "pushes of type mdm need the MDM push certificate as TLS client certificate, not a provider token"
    )

    /// Returns the finding about an answer that a fault determined.
    static func answer(_ reason: APNsReason, by injection: FaultInjection) -> PushLint.Finding {
        PushLint.Finding(.answeredByFault, .connection, "\(injection) determined the answer \(reason.rawValue)")
    }

    /// Returns the finding about a refusal that no other rule explains.
    static func other(_ reason: APNsReason) -> PushLint.Finding {
        PushLint.Finding(.pushRefused, .connection, reason.explanation ?? reason.rawValue, reason: reason)
    }
}

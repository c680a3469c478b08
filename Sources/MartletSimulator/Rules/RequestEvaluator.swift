// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletServer
internal import MartletTransport

/// The checks that determine the answer of APNs to a request, without I/O or a clock.
///
/// Apple does not document the order of its checks. The order here: path, method, repeated headers, sender, values of
/// the headers, payload, device. `APNsIngress` of the relay has the same order without the sender, whose credentials it
/// checks before; its tests compare the two.
struct RequestEvaluator {
    /// The state of one connection.
    struct ConnectionState {
        /// The value of `authorization` in the last request, whose result is cached because clients send the same token
        /// for up to an hour.
        fileprivate var lastAuthorization = ""
        fileprivate var lastGeneration = 0
        fileprivate var lastResult: Result<ConnectionRules.Sender, Refusal>?
        /// The last provider token that was checked, as input of the traffic rules; nil when it is not valid.
        fileprivate(set) var providerToken: TrafficRules.SentToken?
        /// The claims of the provider token that was accepted last; nil when none was.
        fileprivate(set) var claims: ProviderToken?
        fileprivate var rules = ConnectionRules()
        /// The client certificate of the TLS handshake; nil for none.
        var certificate: CertificateFacts?
        /// Whether a request on the connection had a valid token, or a certificate in place of one.
        fileprivate(set) var isSenderKnown = false
        /// Whether the certificate replaces provider tokens, which only a certificate with topics does.
        var isKnownByCertificate: Bool { certificate?.topics.isEmpty == false }
        /// Whether a push was accepted, which binds the connection to its team and keys.
        var isBound: Bool { rules.isBound }

        /// Returns an identifier of the sender: a namespace, and the certificate or the signing key of the last
        /// accepted token.
        func sender(in namespace: String?) -> String {
            let key = claims.map { "\($0.teamID) \($0.keyID)" }
            let credentials = isKnownByCertificate ? certificate?.fingerprint : key
            return "\(namespace ?? "") \(credentials ?? "")"
        }

        /// Undoes the binding to the sender of a push that a fault refused after all.
        mutating func unbind() {
            rules.unbind()
        }
    }

    /// The answer to one request.
    struct Answer {
        var status: Int
        var reason: APNsReason?
        /// The time at which the token was last confirmed invalid, in milliseconds since 1970.
        var timestamp: Int64?
        /// The channel that was created.
        var channel: ChannelID?
        var body: JSONValue?
        /// The value of `retry-after`, in seconds.
        var retryAfter: Int?
        /// The finding about a refusal that the rules about a single push do not explain.
        var finding: PushLint.Finding?

        static let accepted = Answer(status: 200)

        static func refused(_ reason: APNsReason) -> Answer {
            Answer(status: reason.status ?? 400, reason: reason)
        }

        static func refused(_ refusal: Refusal) -> Answer {
            Answer(status: refusal.reason.status ?? 400, reason: refusal.reason, finding: refusal.finding)
        }
    }

    var tokens = ProviderTokenVerifier()
    var devices: DeviceRegistry
    var channels = ChannelRegistry()
    /// The simulated phones; nil for none.
    var phones: PhonePopulation?
    private let environment: SimulatedAPNs.Environment
    private let relaxedRules: RelaxedRules
    /// The last provider tokens that a fault has declared expired, by the hash of `authorization`.
    private var expiredTokens = ExpiredTokens(capacity: 100)
    /// The milliseconds by which a fault has set the clock ahead, which the times passed by callers include.
    var clockSkew: Int64 = 0

    init(
        environment: SimulatedAPNs.Environment,
        relaxedRules: RelaxedRules = [],
        rememberedNotifications: Int = 1_000
    ) {
        devices = DeviceRegistry(environment: environment, rememberedNotifications: rememberedNotifications)
        self.environment = environment
        self.relaxedRules = relaxedRules
    }

    /// Returns the request with the default topic that its client certificate supplies, if any.
    ///
    /// A certificate with a single topic supplies it to pushes without `apns-topic` ("Sending notification requests to
    /// APNs").
    static func completed(_ request: APNsRequest, over connection: ConnectionState) -> APNsRequest {
        guard case .device? = request.target, request.headers.topic == nil,
            let topics = connection.certificate?.topics, topics.count == 1
        else { return request }
        var request = request
        request.headers.topic = topics.first
        return request
    }

    /// Returns the answer to a request over a connection in this state, at a time in milliseconds since 1970.
    mutating func answer(
        to request: APNsRequest,
        over connection: inout ConnectionState,
        at now: Int64,
        using generator: inout some RandomNumberGenerator
    ) -> Answer {
        guard let target = request.target else { return .refused(RequestEvaluator.badPath) }
        if let refusal = RequestEvaluator.methodProblem(request.method, target) { return .refused(refusal) }
        if let field = request.duplicatedField, let reason = target.reason(forRepeated: field) {
            return .refused(Refusal(reason, .headerRepeated, .header(field), "\(field) was sent more than once"))
        }
        // With a provider certificate APNs ignores `authorization` ("Sending notification requests to APNs").
        if let certificate = connection.certificate, !certificate.topics.isEmpty || request.authorization == nil {
            connection.isSenderKnown = connection.isSenderKnown || connection.isKnownByCertificate
            return answer(to: request, to: target, from: certificate, using: &generator)
        }
        let sender: ConnectionRules.Sender
        switch evaluator(request.authorization, over: &connection, at: now) {
        case .success(let known): sender = known
        case .failure(var refusal):
            refusal.reason = RequestEvaluator.reason(refusal.reason, target)
            return .refused(refusal)
        }
        connection.isSenderKnown = true
        let answer = answer(to: request, to: target, using: &generator) { sender.scope.covers(topic: $0) }
        if answer.status == 200 { connection.rules.accepted(from: sender) }
        return answer
    }

    /// Returns the answer to a push from the inbox page, which needs no credentials and may send to every app.
    mutating func answer(
        onComposed request: APNsRequest,
        using generator: inout some RandomNumberGenerator
    ) -> Answer {
        guard let target = request.target else { return .refused(RequestEvaluator.badPath) }
        return answer(to: request, to: target, using: &generator) { _ in true }
    }

    /// Returns the answer to a request authenticated by a client certificate ("Establishing a certificate-based
    /// connection to APNs").
    private mutating func answer(
        to request: APNsRequest,
        to target: APNsRequest.Target,
        from certificate: CertificateFacts,
        using generator: inout some RandomNumberGenerator
    ) -> Answer {
        guard !certificate.topics.isEmpty else {
            let text = "the client certificate names no topic: it is not a certificate for pushes"
            return .refused(Refusal(.badCertificate, .certificateNotForPushes, .connection, text))
        }
        let isRightHere = environment == .development ? certificate.isForDevelopment : certificate.isForProduction
        guard isRightHere else {
            let text = "the client certificate is not for \(environment.rawValue), the environment of the simulator"
            return .refused(Refusal(.badCertificateEnvironment, .certificateEnvironmentWrong, .connection, text))
        }
        if case .device = target, request.headers.resolvedPushType == .location {
            // Apple does not document the answer.
            let text = "pushes of type location need a provider token; APNs does not accept a certificate for them"
            let place = PushLint.Place.header("apns-push-type")
            return .refused(Refusal(.topicDisallowed, .locationWithCertificate, place, text))
        }
        return answer(to: request, to: target, using: &generator) { certificate.topics.contains($0) }
    }

    /// Returns the answer to a request whose sender may use the connection, and may send to the covered topics.
    private mutating func answer(
        to request: APNsRequest,
        to target: APNsRequest.Target,
        using generator: inout some RandomNumberGenerator,
        covers: (String) -> Bool
    ) -> Answer {
        if request.hasMalformedRequestID {
            let text = "apns-request-id must be a UUID such as 123e4567-e89b-12d3-a456-4266554400a0"
            let place = PushLint.Place.header("apns-request-id")
            return .refused(Refusal(.badMessageID, .requestIDNotCanonical, place, text))
        }
        switch target {
        case .device(let token):
            let headers = relaxedRules.isEmpty ? request.headers : relaxed(request.headers)
            if let reason = PushLint.firstRefusal(headers: headers, payload: request.body) { return .refused(reason) }
            let topic = headers.topic ?? ""
            guard covers(topic) else {
                let text =
                    "the signing key or the certificate of this connection is not for the topic \(ShownValue(topic))"
                return .refused(Refusal(.topicDisallowed, .topicNotAllowed, .header("apns-topic"), text))
            }
            if let answer = phones?.answer(to: token, topic: topic) { return Answer(answer) }
            return devices.answer(to: token, topic: topic)
        case .broadcast(let app):
            guard covers(String(app)) else { return .refused(RequestEvaluator.topicMismatch(app)) }
            return channels.answer(onBroadcast: request, to: String(app))
        case .channels(let app), .allChannels(let app):
            guard covers(String(app)) else { return .refused(RequestEvaluator.topicMismatch(app)) }
            let answer = channels.answer(to: request, about: String(app), using: &generator)
            if answer.status == 204, let channel = request.channelID { devices.removed(ChannelID(channel)) }
            return answer
        }
    }

    /// Returns the headers with the values that relaxed rules permit replaced by valid ones.
    private func relaxed(_ headers: PushHeaders) -> PushHeaders {
        var headers = headers
        if relaxedRules.contains(.pushTypeCase) { headers.pushType = headers.pushType?.lowercased() }
        let isBackground = headers.pushType == PushType.background.rawValue
        if relaxedRules.contains(.highPriorityBackground), isBackground, headers.priority == "10" {
            headers.priority = "5"
        }
        return headers
    }

    /// Treats the provider token of a request as expired from now on, because a fault has answered that it is.
    mutating func expire(_ authorization: String?) {
        if let authorization { expiredTokens.updateValue(true, forKey: authorization.hashValue) }
    }

    /// Accepts the tokens again that ``expire(_:)`` has declared expired.
    mutating func forgetExpiredTokens() {
        expiredTokens = ExpiredTokens(capacity: 100)
    }

    /// Returns the sender that a provider token names, or the refusal of the token on this connection.
    private func evaluator(
        _ authorization: String?,
        over connection: inout ConnectionState,
        at now: Int64
    ) -> Result<ConnectionRules.Sender, Refusal> {
        guard let authorization else {
            let text = "there is no authorization header, and the client has sent no certificate"
            return .failure(.credentials(.missingProviderToken, .providerTokenMissing, text))
        }
        guard APNsRequest.hasCredential(authorization) else {
            let text =
                "authorization must contain a provider token (found \"\(authorization)\"), and the client has sent no"
                + " certificate"
            return .failure(.credentials(.missingProviderToken, .providerTokenMissing, text))
        }
        let result: Result<ConnectionRules.Sender, Refusal>
        if let last = connection.lastResult, authorization == connection.lastAuthorization,
            tokens.generation == connection.lastGeneration
        {
            result = last
        } else {
            result = check(authorization)
            connection.lastAuthorization = authorization
            connection.lastGeneration = tokens.generation
            connection.lastResult = result
            connection.providerToken = nil
            if case .success(let sender) = result {
                connection.providerToken = TrafficRules.SentToken(
                    identity: authorization.hashValue,
                    issuedAtSeconds: sender.claims.issuedAtSeconds,
                    deviations: sender.deviations
                )
            }
        }
        let sender: ConnectionRules.Sender
        switch result {
        case .success(let known): sender = known
        case .failure: return result
        }
        if let refusal = tokens.ageProblem(of: sender.claims, at: now, skew: clockSkew) { return .failure(refusal) }
        guard !expiredTokens.contains(authorization) else { return .failure(RequestEvaluator.expiredByFault) }
        if let refusal = connection.rules.problem(
            with: sender,
            authorization: connection.lastAuthorization,
            at: now,
            skew: clockSkew,
            expired: expiredTokens,
            relaxedRules
        ) {
            return .failure(refusal)
        }
        connection.providerToken?.earlyReplacement = connection.rules.earlyReplacement
        connection.claims = sender.claims
        return .success(sender)
    }

    /// Checks the properties of a provider token that depend neither on the time nor on the connection.
    private func check(_ authorization: String) -> Result<ConnectionRules.Sender, Refusal> {
        let result = tokens.check(authorization)
        guard case .success(let sender) = result, !sender.scope.covers(environment) else { return result }
        return .failure(
            .credentials(
                .badEnvironmentKeyIDInToken,
                .providerTokenEnvironmentWrong,
                "the key \(sender.claims.keyID) is not for \(environment.rawValue), the environment of the simulator"
            )
        )
    }

    /// The refusal of a provider token that a fault has declared expired.
    static let expiredByFault = Refusal.credentials(
        .expiredProviderToken,
        .providerTokenTooOld,
        "a fault of the simulator has declared this provider token expired: send a new one"
    )
}

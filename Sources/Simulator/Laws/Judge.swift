internal import APNs
internal import APNsServer
internal import Wire

/// Decides what APNs would answer to a request: a struct without I/O or a clock.
///
/// Apple does not document the order of its checks. This one goes from the outside in: path, method, headers that
/// came twice, who asks, what the headers say, the payload, and the device at last.
struct Judge {
    /// What is remembered of one connection.
    struct ConnectionState {
        /// The token of the last request and what came of it: clients send the same one for an hour.
        fileprivate var lastAuthorization = ""
        fileprivate var lastGeneration = 0
        fileprivate var lastJudgement: Reason?
        fileprivate var lastSender: ConnectionLaws.Sender?
        /// The provider token that was looked at last, in the words of the rules about traffic; nil when it is no good.
        fileprivate(set) var providerToken: TrafficRules.ProviderTokenFacts?
        /// What that token says of who sends.
        var claims: ProviderToken? { lastSender?.claims }
        fileprivate var laws = ConnectionLaws()
        /// What the client has shown in the TLS handshake, if anything.
        var certificate: CertificateFacts?
        /// Whether a request on the connection had a valid token, or a certificate in place of one.
        fileprivate(set) var isSenderKnown = false
        /// Whether the client may open as many streams as there are, not only the first.
        var hasAllStreams = false
    }

    /// The answer to one request.
    struct Verdict {
        var status: Int
        var reason: Reason?
        var timestamp: Int64?
        /// The channel that was made.
        var channel: ChannelID?
        var body: JSONValue?
        /// When to come again, in seconds.
        var retryAfter: Int?

        static let accepted = Verdict(status: 200)

        static func refused(_ reason: Reason) -> Verdict {
            Verdict(status: reason.status ?? 400, reason: reason)
        }

        /// An answer that a fault wants, whatever the request.
        static func injected(_ reason: Reason, status: Int?, retryAfter: Int?, at now: Int64) -> Verdict {
            let status = status ?? reason.status ?? 400
            return Verdict(
                status: status,
                reason: reason,
                timestamp: status == 410 ? now * 1_000 : nil,
                retryAfter: retryAfter
            )
        }
    }

    var tokens = ProviderTokenVerifier()
    var devices: DeviceRegistry
    var channels = ChannelRegistry()
    private let environment: SimulatedAPNs.Environment
    private let leniency: Leniency

    init(environment: SimulatedAPNs.Environment, leniency: Leniency = []) {
        devices = DeviceRegistry(environment: environment)
        self.environment = environment
        self.leniency = leniency
    }

    /// The answer to `request`, which came over a connection of this state at this time in seconds since 1970.
    mutating func verdict(
        on request: APNsRequest,
        over connection: inout ConnectionState,
        at now: Int64,
        using generator: inout some RandomNumberGenerator
    ) -> Verdict {
        guard let target = request.target else { return .refused(.badPath) }
        if let reason = methodProblem(request.method, target) { return .refused(reason) }
        guard request.duplicatedField == nil else { return .refused(.duplicateHeaders) }
        // A token counts, where there is one.
        if request.authorization == nil, let certificate = connection.certificate {
            connection.isSenderKnown = true
            return verdict(on: request, to: target, from: certificate, using: &generator)
        }
        let sender: ConnectionLaws.Sender
        switch judge(request.authorization, over: &connection, at: now) {
        case .success(let known): sender = known
        case .failure(let refusal): return .refused(refusal.reason)
        }
        connection.isSenderKnown = true
        let verdict = verdict(on: request, to: target, using: &generator) { sender.scope.covers(topic: $0) }
        if verdict.status == 200 { connection.laws.accepted(from: sender) }
        return verdict
    }

    /// The answer to a push of the page, which needs no credentials and may send to every app.
    mutating func verdict(
        onOwn request: APNsRequest,
        using generator: inout some RandomNumberGenerator
    ) -> Verdict {
        guard let target = request.target else { return .refused(.badPath) }
        return verdict(on: request, to: target, using: &generator) { _ in true }
    }

    /// The answer to a request of who has shown a certificate ("Establishing a certificate-based connection to APNs").
    private mutating func verdict(
        on request: APNsRequest,
        to target: APNsRequest.Target,
        from certificate: CertificateFacts,
        using generator: inout some RandomNumberGenerator
    ) -> Verdict {
        guard !certificate.topics.isEmpty else { return .refused(.badCertificate) }
        let isRightHere = environment == .development ? certificate.isForDevelopment : certificate.isForProduction
        guard isRightHere else { return .refused(.badCertificateEnvironment) }
        var request = request
        // The first topic is the app's own, and what is meant when none is named.
        if request.headers.topic == nil { request.headers.topic = certificate.topics.first }
        return verdict(on: request, to: target, using: &generator) { certificate.topics.contains($0) }
    }

    /// The answer to a request whose sender may use the connection, and may send to the topics that are covered.
    private mutating func verdict(
        on request: APNsRequest,
        to target: APNsRequest.Target,
        using generator: inout some RandomNumberGenerator,
        covers: (String) -> Bool
    ) -> Verdict {
        let allowsUpperCase = leniency.contains(.upperCaseIDs)
        if let id = request.requestID, (try? APNsID(id, allowsUpperCase: allowsUpperCase)) == nil {
            return .refused(.badMessageID)
        }
        switch target {
        case .device(let token):
            let headers = leniency.isEmpty ? request.headers : forgiving(request.headers)
            if let reason = Lint.firstRefusal(headers: headers, payload: request.body) { return .refused(reason) }
            let topic = headers.topic ?? ""
            guard covers(topic) else { return .refused(.topicDisallowed) }
            return devices.verdict(on: token, topic: topic)
        case .broadcast(let app):
            guard covers(String(app)) else { return .refused(.topicMismatch) }
            return channels.verdict(onBroadcast: request, to: String(app))
        case .channels(let app), .allChannels(let app):
            guard covers(String(app)) else { return .refused(.topicMismatch) }
            let verdict = channels.verdict(on: request, about: String(app), using: &generator)
            if verdict.status == 204, let channel = request.channelID { devices.removed(ChannelID(channel)) }
            return verdict
        }
    }

    /// The headers as the laws want them, where they are let rest.
    private func forgiving(_ headers: PushHeaders) -> PushHeaders {
        var headers = headers
        if leniency.contains(.upperCaseIDs) { headers.id = headers.id?.lowercased() }
        if leniency.contains(.pushTypeCase) { headers.pushType = headers.pushType?.lowercased() }
        let isBackground = headers.pushType == PushType.background.rawValue
        if leniency.contains(.hurriedBackground), isBackground, headers.priority == "10" { headers.priority = "5" }
        return headers
    }

    private func methodProblem(_ method: String, _ target: APNsRequest.Target) -> Reason? {
        switch (target, method) {
        case (.device, "POST"), (.broadcast, "POST"), (.allChannels, "GET"): nil
        case (.channels, "POST"), (.channels, "GET"), (.channels, "DELETE"): nil
        case (.device, _): .methodNotAllowed
        // Of these Apple says that the path or the method is bad.
        case (.broadcast, _), (.channels, _), (.allChannels, _): .badPath
        }
    }

    /// Who sends, or why nobody may with this token over this connection.
    private func judge(
        _ authorization: String?,
        over connection: inout ConnectionState,
        at now: Int64
    ) -> Result<ConnectionLaws.Sender, ProviderTokenVerifier.Refusal> {
        func refused(_ reason: Reason) -> Result<ConnectionLaws.Sender, ProviderTokenVerifier.Refusal> {
            .failure(ProviderTokenVerifier.Refusal(reason: reason))
        }
        guard let authorization else { return refused(.missingProviderToken) }
        if authorization != connection.lastAuthorization || tokens.generation != connection.lastGeneration {
            connection.lastAuthorization = authorization
            connection.lastGeneration = tokens.generation
            connection.lastSender = nil
            connection.providerToken = nil
            connection.lastJudgement = nil
            switch tokens.check(authorization, leniency) {
            case .success(let sender) where !sender.scope.covers(environment):
                connection.lastJudgement = .badEnvironmentKeyIDInToken
            case .success(let sender):
                connection.lastSender = sender
                connection.providerToken = TrafficRules.ProviderTokenFacts(
                    identity: authorization.hashValue,
                    issuedAt: sender.claims.issuedAt
                )
            case .failure(let refusal): connection.lastJudgement = refusal.reason
            }
        }
        guard let sender = connection.lastSender else {
            return refused(connection.lastJudgement ?? .invalidProviderToken)
        }
        if let reason = tokens.ageProblem(of: sender.claims, at: now) { return refused(reason) }
        if let reason = connection.laws.problem(
            with: sender,
            authorization: connection.lastAuthorization,
            at: now,
            leniency
        ) {
            return refused(reason)
        }
        return .success(sender)
    }
}

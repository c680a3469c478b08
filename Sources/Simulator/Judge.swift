internal import APNs
internal import APNsServer

/// Decides what APNs would answer to a request: a struct without I/O or a clock.
///
/// Apple does not document the order of its checks. This one goes from the outside in: path, method, headers that
/// came twice, who asks, what the headers say, the payload, and the device at last.
struct Judge {
    /// What is remembered of one connection.
    struct ConnectionState {
        /// The token of the last request and what came of it: clients send the same one for an hour.
        fileprivate var lastAuthorization: [UInt8] = []
        fileprivate var lastJudgement: Reason?
        fileprivate var lastClaims: ProviderToken?
        /// Whether a request on the connection had a valid token.
        fileprivate(set) var isTokenAccepted = false
        /// Whether the client has been told that it may open more than the first streams.
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

        static let accepted = Verdict(status: 200)

        static func refused(_ reason: Reason) -> Verdict {
            Verdict(status: reason.status ?? 400, reason: reason)
        }
    }

    var tokens = ProviderTokenVerifier()
    var devices: DeviceRegistry
    var channels = ChannelRegistry()

    init(environment: SimulatedAPNs.Environment) {
        devices = DeviceRegistry(environment: environment)
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
        if let reason = tokenProblem(request.authorization, over: &connection, at: now) { return .refused(reason) }
        connection.isTokenAccepted = true
        if let id = request.requestID, (try? APNsID(id)) == nil { return .refused(.badMessageID) }
        switch target {
        case .device(let token):
            if let reason = Lint.firstRefusal(headers: request.headers, payload: request.body) {
                return .refused(reason)
            }
            return devices.verdict(on: token, topic: request.headers.topic ?? "")
        case .broadcast(let app):
            return channels.verdict(onBroadcast: request, to: String(app))
        case .channels(let app), .allChannels(let app):
            return channels.verdict(on: request, about: String(app), using: &generator)
        }
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

    private func tokenProblem(
        _ authorization: [UInt8]?,
        over connection: inout ConnectionState,
        at now: Int64
    ) -> Reason? {
        guard let authorization else { return .missingProviderToken }
        if authorization != connection.lastAuthorization {
            connection.lastAuthorization = authorization
            connection.lastClaims = nil
            connection.lastJudgement = nil
            switch tokens.check(authorization) {
            case .success(let claims): connection.lastClaims = claims
            case .failure(let refusal): connection.lastJudgement = refusal.reason
            }
        }
        guard let claims = connection.lastClaims else { return connection.lastJudgement }
        return tokens.ageProblem(of: claims, at: now)
    }
}

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
    struct Verdict: Equatable {
        var status: Int
        var reason: Reason?
        var timestamp: Int64?

        static let accepted = Verdict(status: 200)

        static func refused(_ reason: Reason) -> Verdict {
            Verdict(status: reason.status ?? 400, reason: reason)
        }
    }

    var tokens = ProviderTokenVerifier()
    var devices: DeviceRegistry

    init(environment: SimulatedAPNs.Environment) {
        devices = DeviceRegistry(environment: environment)
    }

    /// The answer to `request`, which came over a connection of this state at this time in seconds since 1970.
    func verdict(on request: APNsRequest, over connection: inout ConnectionState, at now: Int64) -> Verdict {
        guard let token = request.deviceToken else { return .refused(.badPath) }
        guard request.method == "POST" else { return .refused(.methodNotAllowed) }
        guard request.duplicatedField == nil else { return .refused(.duplicateHeaders) }
        if let reason = tokenProblem(request.authorization, over: &connection, at: now) { return .refused(reason) }
        connection.isTokenAccepted = true
        if let reason = Lint.firstRefusal(headers: request.headers, payload: request.body) { return .refused(reason) }
        return devices.verdict(on: token, topic: request.headers.topic ?? "")
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

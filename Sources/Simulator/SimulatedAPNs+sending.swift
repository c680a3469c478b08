public import APNs
public import APNsClient
internal import APNsServer
internal import Wire

/// Pushes of the page's own: written there, or sent on from there.
extension SimulatedAPNs {
    /// How pushes that came in may be sent on for real.
    public struct Release: Sendable {
        /// What they are sent with, which stays the caller's to close.
        ///
        /// It should neither check before sending nor try again, so that the answer is that to this very push.
        public var client: PushClient
        /// Where the client sends, for the person who is asked whether to: `api.push.apple.com`.
        public var destination: String
        /// Apple's environment there.
        public var environment: Environment
        /// The only devices that may get one.
        public var deviceTokens: Set<DeviceToken>

        /// A way to devices of one's own.
        public init(
            with client: PushClient,
            destination: String,
            environment: Environment,
            to deviceTokens: Set<DeviceToken>
        ) {
            self.client = client
            self.destination = destination
            self.environment = environment
            self.deviceTokens = deviceTokens
        }
    }

    /// Takes in a push that was written on the page, and judges it as if it had come over HTTP/2.
    ///
    /// Faults that answer in place of APNs do so here, too; those that harm connections find none.
    ///
    /// - Parameters:
    ///   - fields: The fields, pseudo fields among them.
    ///   - payload: The payload, byte by byte.
    /// - Returns: The push with its answer.
    func compose(_ fields: HTTPFields, payload: [UInt8]) -> ReceivedPush {
        let limit = APNsListener.Limits().bodyBytes
        var request = APNsRequest(fields, body: Array(payload.prefix(limit)), isBodyTooLong: payload.count > limit)
        if request.isBodyTooLong { request.declaredBodyByteCount = payload.count }
        let now = clock.secondsSince1970()
        var verdict = judge.verdict(onOwn: request, using: &generator)
        var injection: FaultInjection?
        for candidate in plan.injections(on: request.deviceToken, request.headers, at: now) {
            guard let injected = Judge.Verdict(candidate, at: now) else { continue }
            verdict = injected
            injection = candidate
        }
        let (id, _) = response(to: request, verdict, hasRequestID: request.hasRequestID)
        return receive(request, answeredWith: verdict, id: id, injection, from: nil, at: now)
    }

    /// Notes that a push was sent on, and how that was answered.
    func noteRelease(of number: Int, _ answer: String) {
        inbox.note(DeliveryEvent(.released, at: clock.secondsSince1970(), answer), on: number)
        tellFollowersSoon()
    }
}

extension PushNotification {
    /// A push as it came in, to be sent on; nil when its headers say what no client says.
    init?(sendingOn push: ReceivedPush) {
        let headers = push.headers
        let priority = headers.priority.flatMap { Int($0) }.map(Priority.init(rawValue:))
        let expiration = headers.expiration.flatMap { Int64($0) }.map(Expiration.init(secondsSince1970:))
        let collapseID = headers.collapseID.flatMap(CollapseID.init(rawValue:))
        guard (priority == nil) == (headers.priority == nil), (expiration == nil) == (headers.expiration == nil),
            (collapseID == nil) == (headers.collapseID == nil)
        else { return nil }
        self = .opaque(
            push.payload,
            pushType: headers.pushType.map(PushType.init(rawValue:)),
            priority: priority,
            expiration: expiration,
            collapseID: collapseID
        )
    }
}

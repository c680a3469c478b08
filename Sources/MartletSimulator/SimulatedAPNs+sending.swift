public import Martlet
public import MartletCore
internal import MartletServer
internal import MartletTransport

/// Pushes that are written on the inbox's page, or sent on from there.
extension SimulatedAPNs {
    /// The way to send received pushes on to real devices.
    public struct Release: Sendable {
        /// The client that sends them, which the caller must close.
        ///
        /// It should not check pushes before sending or retry, so that the answer is the answer to this push.
        public var client: PushClient
        /// The host that the client sends to, such as `api.push.apple.com`, shown for confirmation.
        public var destination: String
        /// Apple's environment of the host.
        public var environment: Environment
        /// The only devices that pushes may be sent on to.
        public var deviceTokens: Set<DeviceToken>

        /// Creates a way to send pushes on to these devices.
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

    /// Receives a push that was written on the page, and judges it as if it had come over HTTP/2.
    ///
    /// Faults that answer in place of APNs apply to it; faults of connections do not.
    ///
    /// - Parameters:
    ///   - fields: The header fields, including pseudo-header fields.
    ///   - payload: The payload.
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

    /// Records that a push was sent on, with its answer.
    func noteRelease(of number: Int, _ answer: String) {
        inbox.note(DeliveryEvent(.released, at: clock.secondsSince1970(), answer), on: number)
        tellFollowersSoon()
    }
}

extension PushNotification {
    /// Creates a push to send on from a received one; nil when its headers have values that no client can send.
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

internal import MartletCore
internal import MartletServer
internal import MartletTransport

/// Applies faults to connections, and limits the streams of clients whose requests are refused.
extension SimulatedAPNs {
    /// Applies a fault to a connection; the GOAWAY frames that follow an answer are sent by
    /// ``ServedClient/end(with:_:)``.
    func inject(_ injection: FaultInjection, into client: ServedClient, _ reply: APNsReply) {
        let connection = client.connection
        switch injection.action {
        // These change the answer, or the number of streams, and are applied with it.
        case .respond, .throttle, .limitErrors, .skewClock, .delay, .hang, .limitStreams: break
        case .resetStream(let code): reply.reset(HTTP2ErrorCode(rawValue: code))
        case .goAway, .drain: client.end(with: injection, reply)
        case .close:
            client.endingFault = injection
            connection.close()
        case .resetConnection:
            client.endingFault = injection
            connection.abort()
        case .refuseConnections(let count): refusals = min(refusals, 1_000_000) + min(max(0, count), 1_000_000)
        case .limitWindow(let octets): connection.allow(octetsPerStream: octets)
        }
    }

    /// Raises the stream limit of a client once its token is accepted, and lowers it to the initial limit when a push
    /// is refused, as APNs does to slow down senders that ignore its answers ("Handling notification responses from
    /// APNs").
    func adjustStreams(of client: ServedClient, after verdict: Judge.Verdict) {
        let isMistake = (400..<500).contains(verdict.status) && verdict.status != 410
        if client.state.hasAllStreams, isMistake, !configuration.leniency.contains(.fullSpeedAfterRefusals) {
            client.state.hasAllStreams = false
        } else if client.state.isSenderKnown, !client.state.hasAllStreams, !isMistake {
            client.state.hasAllStreams = true
        }
        updateStreamLimit(of: client)
    }

    /// Applies changed faults to the stream limits of all connections, and reports the change.
    func applyFaults() {
        for listener in listeners { listener.use(initialStreams: initialStreams) }
        for client in clients.values { updateStreamLimit(of: client) }
        inbox.note(.faultsChanged)
        tellFollowersSoon()
    }

    /// Updates the number of streams that a client may have open, which is sent when it has changed.
    func updateStreamLimit(of client: ServedClient) {
        let limit = client.state.hasAllStreams ? SimulatedAPNs.streamsAfterToken : configuration.streamsBeforeToken
        let limits = [limit, plan.streamLimit, client.faultStreamLimit].compactMap(\.self)
        client.connection.allow(concurrentStreams: limits.min() ?? limit)
    }

    /// The number of streams in the first SETTINGS frame of a connection.
    var initialStreams: UInt32 { min(configuration.streamsBeforeToken, plan.streamLimit ?? .max) }

    /// The number of streams that APNs was observed to allow after it accepts a token.
    static let streamsAfterToken: UInt32 = 1_000
}

extension ServedClient {
    /// Ends the connection with the GOAWAY frames of a fault.
    func end(with injection: FaultInjection, _ reply: APNsReply) {
        switch injection.action {
        case .goAway(let code, let text, let includesRequest):
            endingFault = injection
            connection.goAway(
                HTTP2ErrorCode(rawValue: code),
                debugData: Array(text.utf8),
                lastStreamID: includesRequest ? nil : max(0, reply.streamID - 2)
            )
        case .drain(let text):
            endingFault = injection
            connection.shutDown(debugData: Array(text.utf8))
        default: break
        }
    }
}

extension Judge.Verdict {
    /// Creates the answer that a fault gives to any request at this time in seconds since 1970; nil for other faults.
    init?(_ injection: FaultInjection, at now: Int64) {
        guard case .respond(let reason, let status, let retryAfter) = injection.action else { return nil }
        self.init(
            status: status ?? reason.status ?? 400,
            reason: reason,
            retryAfter: retryAfter,
            finding: RefusalRules.answer(reason, by: injection)
        )
        if self.status == 410 { timestamp = now * 1_000 }
    }

    /// The number of errors that the answer counts for.
    ///
    /// Apple says that too many errors end the connection, that those about bad device tokens do so sooner, and that
    /// 410 is not an error; it gives no numbers ("Handling notification responses from APNs").
    var errorWeight: Int {
        guard (400..<500).contains(status), status != 410 else { return 0 }
        return reason == .badDeviceToken ? 2 : 1
    }
}

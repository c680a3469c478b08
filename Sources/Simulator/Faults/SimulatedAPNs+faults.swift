internal import APNs
internal import APNsServer
internal import Wire

/// Applies faults to connections, and limits the streams of clients whose requests are refused.
extension SimulatedAPNs {
    /// Does to the connection what is to go wrong.
    ///
    /// - Returns: How long the answer is to wait; nil when there will be none.
    func disturb(
        _ client: ServedClient,
        _ reply: APNsReply,
        _ actions: [Fault.Action]
    ) -> Duration? {
        let connection = client.connection
        var delay: Duration? = .zero
        for action in actions {
            switch action {
            case .respond, .throttle, .limitErrors, .skewClock: break
            case .delay(let more, _): delay = delay.map { $0 + more }
            case .hang: delay = nil
            case .resetStream(let code):
                reply.reset(HTTP2ErrorCode(rawValue: code))
                delay = nil
            case .goAway(let code, let text, let includesRequest):
                let last = includesRequest ? nil : max(0, reply.streamID - 2)
                client.endingFault = action.name
                connection.goAway(HTTP2ErrorCode(rawValue: code), debugData: Array(text.utf8), lastStreamID: last)
                if !includesRequest { delay = nil }
            case .drain(let text):
                client.endingFault = action.name
                connection.shutDown(debugData: Array(text.utf8))
            case .close:
                client.endingFault = action.name
                connection.close()
                delay = nil
            case .resetConnection:
                client.endingFault = action.name
                connection.abort()
                delay = nil
            case .refuseConnections(let count): refusals = min(refusals, 1_000_000) + min(max(0, count), 1_000_000)
            case .limitStreams(let limit): connection.allow(concurrentStreams: limit)
            case .limitWindow(let octets): connection.allow(octetsPerStream: octets)
            }
        }
        return delay
    }

    /// Gives a client all streams once its token is accepted, and one while its pushes are refused, as APNs does to
    /// slow down senders that do not look at its answers ("Handling notification responses from APNs").
    func adjustStreams(of client: ServedClient, after verdict: Judge.Verdict) {
        let isMistake = (400..<500).contains(verdict.status) && verdict.status != 410
        if client.state.hasAllStreams, isMistake, !configuration.leniency.contains(.fullSpeedAfterRefusals) {
            client.state.hasAllStreams = false
            client.connection.allow(concurrentStreams: configuration.streamsBeforeToken)
        } else if client.state.isSenderKnown, !client.state.hasAllStreams, !isMistake {
            client.state.hasAllStreams = true
            client.connection.allow(concurrentStreams: SimulatedAPNs.streamsAfterToken)
        }
    }

    /// Streams that APNs was seen to allow once a token has been accepted.
    static let streamsAfterToken: UInt32 = 1_000
}

extension Judge.Verdict {
    /// The number of errors that the answer counts for: Apple says that too many end the connection, that those about
    /// bad device tokens do so sooner, and that 410 is none; it gives no numbers ("Handling notification responses from
    /// APNs").
    var errorWeight: Int {
        guard (400..<500).contains(status), status != 410 else { return 0 }
        return reason == .badDeviceToken ? 2 : 1
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import MartletServer
internal import MartletTransport

/// A connected client; used only on the event loop of the simulator.
final class ServedClient {
    let connection: ClientConnection
    var state = ClientState()
    var record: ConnectionRecord
    /// The fault that has ended the connection.
    private(set) var endingFault: FaultInjection?
    /// The highest stream that is processed, after a fault has sent a GOAWAY frame that excludes later ones.
    private(set) var lastStreamID = Int32.max

    init(_ connection: ClientConnection, on port: ConnectionRecord.Port, at now: Int64) {
        self.connection = connection
        record = ConnectionRecord(connection, on: port, at: now)
        state.connection.certificate = connection.certificate
        // A client authenticated by a certificate for pushes need not wait for a first answer.
        state.hasAllStreams = state.connection.isKnownByCertificate
    }

    /// The record with the current state of the connection.
    var currentRecord: ConnectionRecord { record.open(with: state.connection, connection) }

    /// Sends the response of a decision, unless a fault withholds it, and applies the faults to the connection.
    func send(_ decision: ServiceMachine.Decision, _ reply: APNsReply, on loop: EventLoop) {
        guard !decision.injections.contains(where: \.withholdsAnswer) else {
            for injection in decision.injections { apply(injection, reply) }
            return
        }
        for injection in decision.injections where !injection.isGoAway { apply(injection, reply) }
        // Some clients read nothing after a GOAWAY frame, so the answer that caused it is sent first.
        let goAways = decision.injections.filter(\.isGoAway)
        let delay = decision.injections.reduce(Duration.zero) { $0 + $1.delay }
        let response = decision.response
        guard delay != .zero else {
            reply.send(response)
            for goAway in goAways { apply(goAway, reply) }
            return
        }
        loop.schedule(after: delay) {
            reply.send(response)
            for goAway in goAways { self.apply(goAway, reply) }
        }
    }

    /// Applies a fault to the connection.
    private func apply(_ injection: FaultInjection, _ reply: APNsReply) {
        switch injection.action {
        // These change the answer, the number of streams or later connections: see ``ServiceMachine``.
        case .respond, .throttle, .limitErrors, .skewClock, .delay, .hang, .limitStreams, .refuseConnections: break
        case .resetStream(let code): reply.reset(HTTP2ErrorCode(rawValue: code))
        case .goAway(let code, let text, let includesRequest):
            endingFault = injection
            let last = includesRequest ? nil : max(0, reply.streamID - 2)
            if let last { lastStreamID = last }
            connection.goAway(HTTP2ErrorCode(rawValue: code), debugData: Array(text.utf8), lastStreamID: last)
        case .drain(let text):
            endingFault = injection
            connection.shutDown(debugData: Array(text.utf8))
        case .close:
            endingFault = injection
            connection.close()
        case .resetConnection:
            endingFault = injection
            connection.abort()
        case .limitWindow(let octets): connection.allow(octetsPerStream: octets)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCore
import MartletTransport

/// A server in the clear that answers 200, save to requests that the test has other plans for.
actor ScriptedServer {
    /// The reaction to one request.
    enum Reaction {
        case answer(Int, body: String = "", fields: [(String, String)] = [])
        /// Keep it open until `release()`.
        case hold
        case reset(HTTP2ErrorCode)
        /// End its connection without a word.
        case cut
    }

    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private var listener: HTTP2Listener?
    private var port: UInt16 = 0
    private var plan: [Reaction]
    private var held: [(HTTP2Connection, HTTP2Stream)] = []
    private var waiters: [CheckedContinuation<Void, Never>] = []
    /// The `authorization` field of every request, in the order of arrival.
    private(set) var authorizations: [String?] = []
    /// Connections there have been.
    private(set) var connections = 0

    private init(_ plan: [Reaction]) throws {
        self.plan = plan
        loop = try EventLoop()
    }

    /// Starts a server that does these things to the first requests.
    static func start(_ plan: [Reaction] = [], streams: UInt32 = 100) async throws -> ScriptedServer {
        let server = try ScriptedServer(plan)
        try await server.listen(streams: streams)
        return server
    }

    private func listen(streams: UInt32) throws {
        let limits = HTTP2Limits(concurrentStreams: streams, bodyBytes: 8_192, fieldBytes: 8_192)
        let configuration = HTTP2Listener.Configuration(tls: nil, limits: limits)
        let listener = try HTTP2Listener(host: "127.0.0.1", port: 0, configuration: configuration, on: loop) {
            connection,
            event in
            self.handle(event, on: connection)
        }
        self.listener = listener
        port = listener.port
    }

    var endpoint: APNsEndpoint { APNsEndpoint(host: "127.0.0.1", port: port, isEncrypted: false) }

    var requests: Int { authorizations.count }

    private func handle(_ event: HTTP2Connection.Event, on connection: HTTP2Connection) {
        switch event {
        case .ready:
            connections += 1
        case .request(let stream):
            authorizations.append(stream.fields["authorization"])
            carryOut(plan.isEmpty ? .answer(200) : plan.removeFirst(), stream, on: connection)
        default:
            break
        }
        for waiter in waiters { waiter.resume() }
        waiters = []
    }

    private func carryOut(_ reaction: Reaction, _ stream: HTTP2Stream, on connection: HTTP2Connection) {
        switch reaction {
        case .answer(let status, let body, let more):
            var fields = HTTPFields()
            for (name, value) in more { fields.append(name, value) }
            connection.answer(stream, with: HTTPResponse(status: status, fields: fields, body: Array(body.utf8)))
        case .hold:
            held.append((connection, stream))
        case .reset(let code):
            connection.reset(stream, code)
        case .cut:
            connection.close(TransportError(.closedLocally, "cut by the test"))
        }
    }

    /// Answers every request that is held.
    func release() {
        for (connection, stream) in held { connection.answer(stream, with: HTTPResponse(status: 200)) }
        held = []
    }

    /// Whether a held request has been taken back by its client.
    var isHeldRequestGone: Bool { held.contains { $0.1.isClosed } }

    /// Waits until this many requests have come in altogether.
    func waitForRequests(_ count: Int) async {
        while requests < count {
            await withCheckedContinuation { continuation in
                if requests < count { waiters.append(continuation) } else { continuation.resume() }
            }
        }
    }

    func stop() async {
        guard let listener else { return }
        self.listener = nil
        await withCheckedContinuation { continuation in
            listener.close(grace: .zero) { continuation.resume() }
        }
        loop.shutdown()
    }
}

// SPDX-License-Identifier: Apache-2.0

import Dispatch

@testable import MartletTransport

/// A server that answers each request with its own path as the body and the size of the body it got.
actor EchoServer {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private var listener: HTTP2Listener?
    private(set) var port: UInt16 = 0
    private var connections: [HTTP2Connection] = []
    private var waiters: [CheckedContinuation<Void, Never>] = []
    private(set) var requests = 0
    /// The number of requests in each turn of the loop.
    private(set) var requestsByTurn: [UInt64: Int] = [:]
    /// The reasons for which connections have closed.
    private(set) var endings: [String] = []
    /// The number of connections that have closed in each turn of the loop.
    private(set) var endingsByTurn: [UInt64: Int] = [:]
    /// The number of clients that have connected.
    private(set) var acceptedCount = 0
    /// Whether the next request makes the server go away.
    private var isLeaving = false
    /// Whether requests are left without an answer.
    private var isHoldingAnswers = false
    /// Clients that are connected and have shaken hands.
    var clientCount: Int { connections.count }

    init(on loop: EventLoop) {
        self.loop = loop
    }

    func start(tls: TLSContext? = nil, limits: HTTP2Limits = .test) throws {
        try start(HTTP2Listener.Configuration(tls: tls, limits: limits))
    }

    func start(_ configuration: HTTP2Listener.Configuration) throws {
        let listener = try HTTP2Listener(
            host: "127.0.0.1",
            port: 0,
            configuration: configuration,
            on: loop,
            admits: {
                self.acceptedCount += 1
                return true
            },
            onEvent: { connection, event in self.handle(event, on: connection) }
        )
        self.listener = listener
        port = listener.port
    }

    private func handle(_ event: HTTP2Connection.Event, on connection: HTTP2Connection) {
        switch event {
        case .ready:
            connections.append(connection)
            for waiter in waiters { waiter.resume() }
            waiters = []
        case .request(let stream):
            requests += 1
            requestsByTurn[loop.turn, default: 0] += 1
            if isLeaving {
                isLeaving = false
                connection.goAway()
            }
            if isHoldingAnswers { return }
            let path = HTTPRequest(fields: stream.fields).target
            let fields: HTTPFields = [
                "received": String(stream.body.count), "too-long": String(stream.isBodyTooLong),
            ]
            connection.answer(stream, with: HTTPResponse(status: 200, fields: fields, body: Array(path.utf8)))
        case .closed(let reason):
            endings.append(reason.description)
            endingsByTurn[loop.turn, default: 0] += 1
            connections.removeAll { $0 === connection }
        default:
            break
        }
    }

    /// Waits until a client is there: it may count itself as connected before it has been accepted.
    func waitForClient() async {
        // Asked where the wait begins: getting there may itself take a turn of the loop.
        await withCheckedContinuation { continuation in
            if connections.isEmpty { waiters.append(continuation) } else { continuation.resume() }
        }
    }

    func goAway(_ debugData: String) {
        for connection in connections { connection.goAway(debugData: Array(debugData.utf8)) }
    }

    /// Blocks the loop.
    func hold(until event: DispatchSemaphore) { event.wait() }

    func holdAnswers() { isHoldingAnswers = true }

    func leaveAtNextRequest() { isLeaving = true }

    func allow(concurrentStreams: UInt32) {
        for connection in connections { connection.allow(concurrentStreams: concurrentStreams) }
    }

    /// Marks the clients as authenticated.
    func authenticateClients() {
        for connection in connections { connection.authenticated() }
    }

    func cut() {
        for connection in connections { connection.close(TransportError(.closedLocally, "cut")) }
    }

    func abort() {
        for connection in connections { connection.abort() }
    }

    func close(grace: Duration = .seconds(5)) async {
        guard let listener else { return }
        self.listener = nil
        await withCheckedContinuation { continuation in
            listener.close(grace: grace) { continuation.resume() }
        }
    }
}

extension HTTP2Limits {
    static let test = HTTP2Limits(concurrentStreams: 100, bodyBytes: 10_000, fieldBytes: 8_000)
}

/// A client that awaits answers.
actor TestClient {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private var connection: HTTP2Connection?
    private var opening: CheckedContinuation<Void, any Error>?
    private(set) var goAways: [HTTP2GoAway] = []
    private(set) var settingsCount = 0
    private(set) var pongs = 0
    private(set) var closedBy: TransportError?
    private var abortsAtGoAway = false
    /// The events of requests and of their end, in order.
    private(set) var recordedEvents: [String] = []
    private var waiters: [CheckedContinuation<Void, Never>] = []

    init(on loop: EventLoop) {
        self.loop = loop
    }

    func open(host: String = "127.0.0.1", port: UInt16, tls: TLSContext? = nil, timeout: Duration = .seconds(10))
        async throws
    {
        let endpoint = HTTP2Connection.Endpoint(host: host, port: port, tls: tls)
        let connection = try HTTP2Connection(to: endpoint, limits: .test, timeout: timeout, on: loop)
        self.connection = connection
        try await withCheckedThrowingContinuation { continuation in
            opening = continuation
            connection.start { event in self.handle(event) }
        }
    }

    private func handle(_ event: HTTP2Connection.Event) {
        switch event {
        case .ready: opening.take()?.resume()
        case .settings: settingsCount += 1
        case .goAway(let goAway):
            goAways.append(goAway)
            if abortsAtGoAway { connection?.abort() }
        case .pong: pongs += 1
        case .ended(let stream, let sender, let outcome): (sender as? Sender)?.end(stream, outcome)
        case .caughtUp: recordedEvents.append("caught up")
        case .request, .served: break
        case .closed(let error):
            closedBy = error
            opening.take()?.resume(throwing: error)
        }
        for waiter in waiters { waiter.resume() }
        waiters = []
    }

    /// Waits until a condition is true.
    func wait(until isTrue: @Sendable (isolated TestClient) -> Bool) async {
        while !isTrue(self) {
            await withCheckedContinuation { continuation in
                if isTrue(self) { continuation.resume() } else { waiters.append(continuation) }
            }
        }
    }

    /// Sends a request, after something else has happened in the same turn of the loop.
    func get(
        _ path: String,
        body: [UInt8] = [],
        fields: HTTPFields = [:],
        after somethingElse: @Sendable () -> Void = {}
    ) async throws -> HTTPResponse {
        try await withCheckedThrowingContinuation { continuation in
            somethingElse()
            do {
                let request = HTTPRequest(
                    method: "POST",
                    scheme: "https",
                    authority: "localhost",
                    target: path,
                    fields: fields
                )
                let sender = Sender { stream, outcome in
                    self.recordedEvents.append("ended")
                    switch outcome {
                    case .answered:
                        continuation.resume(returning: HTTPResponse(fields: stream.fields, body: stream.body))
                    case .broken(let failure): continuation.resume(throwing: failure)
                    }
                }
                try connection?.send(request.fields, body: body, for: sender)
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }

    /// Sends many requests in one turn, after something else, and waits until the connection has closed.
    ///
    /// - Returns: The number of times that each has ended.
    func send(_ count: Int, of body: [UInt8], after somethingElse: @Sendable () -> Void) async -> [Int] {
        let request = HTTPRequest(method: "POST", scheme: "https", authority: "localhost", target: "/").fields
        let ends = Ends(count)
        somethingElse()
        for number in 0..<count {
            do {
                try connection?.send(request, body: body, for: Sender { _, _ in ends.counts[number] += 1 })
            } catch {
                ends.counts[number] += 1
            }
        }
        await wait { $0.closedBy != nil }
        return ends.counts
    }

    private final class Sender {
        let end: (HTTP2Stream, StreamOutcome) -> Void

        init(end: @escaping (HTTP2Stream, StreamOutcome) -> Void) {
            self.end = end
        }
    }

    private final class Ends {
        var counts: [Int]

        init(_ count: Int) {
            counts = Array(repeating: 0, count: count)
        }
    }

    func abortAtGoAway() { abortsAtGoAway = true }

    func ping() { connection?.ping() }
    var peerConcurrentStreams: UInt32? { connection?.peerConcurrentStreams }

    func close() {
        connection?.close(TransportError(.closedLocally, "done"))
        connection = nil
    }
}

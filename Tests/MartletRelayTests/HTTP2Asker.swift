// SPDX-License-Identifier: Apache-2.0

import MartletTransport

/// Sends requests over one connection of HTTP/2 in the clear.
actor HTTP2Asker {
    /// An answer to a request.
    struct Answer: Sendable {
        var status: Int
        var fields: HTTPFields
        var body: String
    }

    private nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private let port: UInt16
    private let sendsAuthority: Bool
    private var connection: HTTP2Connection?

    init(port: UInt16, sendsAuthority: Bool = true) throws {
        loop = try EventLoop()
        self.port = port
        self.sendsAuthority = sendsAuthority
    }

    deinit {
        loop.shutdown()
    }

    private func connected() async throws -> HTTP2Connection {
        if let connection { return connection }
        let connection = try HTTP2Connection(
            to: HTTP2Connection.Endpoint(host: "127.0.0.1", port: port, tls: nil),
            limits: HTTP2Limits(concurrentStreams: 0, bodyBytes: 1 << 20, fieldBytes: 16_000),
            timeout: .seconds(120),
            on: loop
        )
        self.connection = connection
        await withCheckedContinuation { continuation in
            var waiting: CheckedContinuation<Void, Never>? = continuation
            connection.start { event in
                if case .settings = event { waiting.take()?.resume() }
                if case .closed = event { waiting.take()?.resume() }
                if case .ended(let stream, let sender, _) = event {
                    let body = String(decoding: stream.body, as: UTF8.self)
                    let answer = Answer(status: stream.fields.status, fields: stream.fields, body: body)
                    (sender as? Question)?.answered(answer)
                }
            }
        }
        return connection
    }

    func status(_ method: String, _ path: String, _ fields: HTTPFields, body: String = "") async throws -> Int {
        try await answer(method, path, fields, body: body).status
    }

    func answer(_ method: String, _ path: String, _ fields: HTTPFields, body: String = "") async throws -> Answer {
        let connection = try await connected()
        var all: HTTPFields = [":method": method, ":scheme": "http", ":path": path]
        if sendsAuthority { all.append(":authority", "localhost") }
        all.append(contentsOf: fields)
        return try await withCheckedThrowingContinuation { continuation in
            do throws(TransportError) {
                let question = Question { continuation.resume(returning: $0) }
                try connection.send(all, body: Array(body.utf8), for: question)
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }

    func close() {
        connection?.close(TransportError(.closedLocally, "done"))
        connection = nil
    }

    private final class Question {
        let answered: (Answer) -> Void

        init(answered: @escaping (Answer) -> Void) {
            self.answered = answered
        }
    }
}

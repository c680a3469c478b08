// SPDX-License-Identifier: Apache-2.0

import MartletCore
import TestSupport
import Testing

/// Requests of all shapes at all routes of the servers, which are processes of their own, so that a crash is seen.
@Suite(.serialized, .timeLimit(.minutes(30))) struct RequestShapeTests {
    /// A route of an interface, with values in place of the placeholders of its path.
    private struct Route {
        var method: String
        var path: String
        /// Whether the route answers and does not end the server, and does not stream.
        var isAsked: Bool

        init(_ method: String, _ path: String, _ operation: JSONValue, id: String) {
            let values = [
                "app": "app", "token": "5d3a", "id": id, "user": "anna", "environment": "production", "node": "1",
                "number": "1", "name": "a", "index": "0", "topic": "com.example.app", "attributes-type": "A",
                "language": "en", "kind": "k",
            ]
            self.method = method.uppercased()
            self.path = values.reduce(path) { $0.replacing("{\($1.key)}", with: $1.value) }
            let streams = operation["responses"]?["200"]?["content"]?["text/event-stream"] != nil
            let waits = ["/v1/drain", "/v1/backup", "/api/v1/pushes/wait", "/api/v1/events"].contains(path)
            isAsked = !streams && !waits && !path.hasSuffix("/drain")
        }

        var readsBody: Bool { isAsked && ["POST", "PUT", "PATCH"].contains(method) }
    }

    /// A server with what its tests measure.
    private struct Server: Sendable {
        var port: UInt16
        var key: String
        /// The identifier in the paths of routes.
        var id = "123e4567-e89b-42d3-a456-426655440000"
        var processorTime: @Sendable () -> Duration?

        func ask(
            _ method: String,
            _ path: String,
            key: String? = nil,
            _ fields: [String] = [],
            _ body: [UInt8] = []
        ) async -> RawHTTP1.Answer? {
            guard let client = try? RawClient(port: port) else { return nil }
            let all =
                ["\(method) \(path) HTTP/1.1", "host: localhost", "connection: close", "content-length: \(body.count)"]
                + ["authorization: bearer \(key ?? self.key)"] + fields
            let bytes = Array((all.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
            async let sent: Void = client.sendAll(bytes)
            let received = await client.bytes()
            await sent
            return RawHTTP1.answers(in: received).first
        }

        /// The routes of the server's description.
        func routes() async throws -> [Route] {
            let answer = try #require(await ask("GET", "/openapi.json"))
            let paths = try JSONReader.read(Array(answer.body.utf8))["paths"]?.members ?? []
            return paths.flatMap { path in
                (path.value.members ?? []).map { Route($0.name, path.name, $0.value, id: id) }
            }
        }

        /// Returns the processor time of a request.
        func time(of route: Route, _ shape: RequestShape, _ byteCount: Int) async -> (time: Duration, status: Int?)? {
            let body = shape.body(byteCount)
            guard let start = processorTime() else { return nil }
            let status = await ask(route.method, route.path, [], body)?.status
            guard let end = processorTime() else { return nil }
            return (end - start, status)
        }
    }

    /// Sends bodies and fields of all shapes to all routes.
    private func attack(_ server: Server) async throws {
        let routes = try await server.routes()
        #expect(routes.count > 20)
        for route in routes where route.readsBody {
            for shape in RequestShape.allCases {
                try await compareTimes(of: route, shape, server)
            }
        }
        let names = ["accept", "idempotency-key", "traceparent", "if-match", "last-event-id", "content-type"]
        for route in routes where route.isAsked && route.method == "GET" {
            for value in RequestShape.fields {
                let fields = names.map { "\($0): \(value)" }
                let answer = await server.ask(route.method, route.path, fields)
                #expect(answer?.status != 500, "\(route.path) \(value.prefix(20)): \(answer?.body ?? "")")
            }
        }
        #expect(await server.ask("GET", "/livez")?.status == 200)
    }

    /// Compares the processor time of a body with that of one that has eight times as many bytes.
    private func compareTimes(of route: Route, _ shape: RequestShape, _ server: Server) async throws {
        let (small, large) = (32 << 10, 256 << 10)
        let place: Comment = "\(route.method) \(route.path) \(shape)"
        var isProportional = false
        // Measured again if something else in the server took time.
        for _ in 0..<4 where !isProportional {
            guard let first = await server.time(of: route, shape, small),
                let second = await server.time(of: route, shape, large)
            else {
                // Without a clock only the answers are checked.
                for size in [small, large] {
                    #expect(await server.ask(route.method, route.path, [], shape.body(size))?.status != 500, place)
                }
                return
            }
            #expect(first.status != 500 && second.status != 500, place)
            // What a request costs without its body varies by less than this.
            isProportional = second.time <= max(first.time, .milliseconds(2)) * 16
        }
        #expect(isProportional, place)
    }

    /// Enrolls an installation and returns its identifier.
    private func enroll(at relay: Server) async throws -> String {
        let issued = try #require(await relay.ask("POST", "/v1/apps/app/tickets", [], Array(#"{"user":"anna"}"#.utf8)))
        let ticket = try #require(try JSONReader.read(Array(issued.body.utf8))["ticket"]?.stringValue, "\(issued.body)")
        let body = Array(#"{"environment":"production"}"#.utf8)
        let enrolled = try #require(await relay.ask("POST", "/v1/installation", key: ticket, [], body))
        let installation = try JSONReader.read(Array(enrolled.body.utf8))["installation"]
        return try #require(installation?["id"]?.stringValue, "\(enrolled.body)")
    }

    @Test func `the simulator reads bodies of any shape in proportion to their size`() async throws {
        let simulator = try await SimulatorProcess()
        try await attack(
            Server(port: simulator.inboxPort, key: "x", processorTime: { simulator.processorTime })
        )
        #expect(simulator.isRunning)
        simulator.kill()
    }

    @Test func `the relay reads bodies of any shape in proportion to their size`() async throws {
        let caller: [String: any Sendable] = [
            "name": "test", "key-sha256": RelayProcess.callerKeyHash, "apps": ["app"],
            "scopes": ["send", "read", "manage", "installations"],
        ]
        let relay = try await RelayProcess(
            to: ["host": "127.0.0.1", "port": Int(try SilentServer.unusedPort().port), "clear": true],
            ["answer-seconds": 0, "callers": [caller]]
        )
        try await relay.start()
        var server = Server(
            port: relay.httpPort,
            key: RelayProcess.callerKey,
            processorTime: { relay.processorTime }
        )
        server.id = try await enroll(at: server)
        try await attack(server)
        #expect(relay.isRunning)
        #expect(await relay.stop() == 0)
    }
}

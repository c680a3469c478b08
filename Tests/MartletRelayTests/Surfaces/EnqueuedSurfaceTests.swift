// SPDX-License-Identifier: Apache-2.0

import Foundation
import LiveSurfaces
import MartletCore
import MartletOutbox
import TestSupport
import Testing

@testable import MartletRelay

/// Requests of back ends in SQL about surfaces, which the running relay checks.
@Suite(.timeLimit(.minutes(10))) struct EnqueuedSurfaceTests {
    private static let surface = "/v1/apps/orders/surfaces/order-7"

    /// The key of a caller that only reads.
    private static let reader = "mrt_reader"

    private let server: PostgreSQLServer
    private let database: String
    private let bench: RelayBench

    init() async throws {
        server = try await PostgreSQLServer.shared.value
        database = try await server.makeDatabase()
        try await OutboxSchema.create(in: server.address(of: database))
        let installer = try RelayConfiguration.Caller(
            key: EnrollmentBench.key,
            apps: ["orders"],
            scopes: [.installations]
        )
        let reader = try RelayConfiguration.Caller(key: Self.reader, apps: ["orders"], scopes: [.read])
        bench = try await RelayBench(data: .database(server.address(of: database))) { configuration in
            configuration.callers += [installer, reader]
        }
        // Afterwards the relay has registered its app.
        _ = await bench.push()
    }

    /// Stores or withdraws the surface in a transaction; returns the identifier of the request.
    private func enqueue(_ body: String?, _ more: String = "", id: String = "order-7") async throws -> String {
        let call =
            if let text = body?.replacing("'", with: "''") {
                "enqueue_surface('orders', '\(id)', '\(text)'"
            } else {
                "enqueue_withdrawal('orders', '\(id)'"
            }
        return try await server.ask("SELECT martlet.\(call)\(more))", of: database)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static func body(_ kind: String = "widget", of id: String = "order-7", more: String = "") -> String {
        let snapshot = SurfaceExample.json(of: kind).replacing("order-17-\(kind)", with: id)
        return #"{"to":{"user":"anna"},"snapshots":[\#(snapshot)]\#(more)}"#
    }

    private func stored() async -> RelayBench.Answer { await bench.ask("GET", Self.surface) }

    /// Waits for the outcome of a refused request.
    private func refusal(of id: String) async throws -> JSONValue {
        var answer = RelayBench.Answer(status: 0, text: "")
        try await eventually("the request is refused") {
            answer = await bench.ask("GET", "/v1/pushes/\(id)")
            return answer.status == 200
        }
        return answer.json
    }

    /// The events of the app from now on.
    private static func events(of intake: isolated Intake) -> AsyncStream<[UInt8]> {
        intake.events.listen(for: RelayBench.listener(to: "orders")) { _ in }.further
    }

    @Test func `a surface is stored, replaced and withdrawn in SQL`() async throws {
        _ = try await enqueue(Self.body())
        try await eventually("the surface is stored") { await stored().json["revision"] == 1 }
        let first = await stored()
        #expect(first.json["caller"] == "role postgres" && first.json["state"] == "desired", "\(first.text)")
        #expect(first.json["snapshots"]?.elements?.count == 1, "\(first.text)")
        _ = try await enqueue(Self.body(more: #","priority":5"#), ", revision => 1")
        try await eventually("the surface is replaced") { await stored().json["priority"] == 5 }
        _ = try await enqueue(nil)
        try await eventually("the surface is withdrawn") { await stored().json["state"] == "withdrawn" }
        #expect(await stored().json["revision"] == 3)
        await bench.stop()
    }

    @Test func `a request with the stored content changes nothing`() async throws {
        #expect(await bench.ask("PUT", Self.surface, Self.body()).status == 201)
        _ = try await enqueue(Self.body())
        try await eventually("the request is carried out") {
            try await bench.parts.outbox.surfaces.enqueued?.enqueuedSurfaces(of: nil, limit: 1) == []
        }
        let after = await stored()
        #expect(after.json["revision"] == 1 && after.json["caller"] == "back end", "\(after.text)")
        await bench.stop()
    }

    @Test func `a request knows the kinds that it leaves as they are`() async throws {
        #expect(await bench.ask("PUT", Self.surface, Self.body()).status == 201)
        _ = try await enqueue(Self.body(more: #","priority":5"#))
        try await eventually("the surface is replaced") { await stored().json["priority"] == 5 }
        let surface = try #require(try await bench.parts.outbox.surfaces.surface("order-7", of: "orders"))
        let change = surface.content?.change(of: .widget, until: ContentChange(of: surface))
        #expect(surface.revision == 2 && change?.revision == 1)
        await bench.stop()
    }

    /// Requests that break a rule, with the status of `PUT` and a part of the problem.
    private static let refused: [(body: String?, more: String, id: String, status: Int, problem: String)] = [
        ("{}", "", "order-7", 400, "to is missing"),
        (#"{"to":{"user":"anna"},"snapshots":[]}"#, "", "order-7", 400, "snapshots must have 1 to 6 elements"),
        (body(more: #","colour":1"#), "", "order-7", 400, "colour"),
        (body(), "", "order-8", 400, #"must be "order-8", as in the path"#),
        (body().replacing(#"{"user":"anna"}"#, with: #"{"where":"("}"#), "", "order-7", 400, "where"),
        (body(), ", revision => 4", "order-7", 412, "the surface does not exist"),
        (nil, "", "order-7", 404, "the surface order-7 does not exist"),
    ]

    @Test func `a request that PUT would refuse has an outcome`() async throws {
        for (body, more, id, status, problem) in Self.refused {
            let request = try await enqueue(body, more, id: id)
            let outcome = try await refusal(of: request)
            #expect(outcome["state"] == "refused" && outcome["surface"]?.stringValue == id, "\(outcome)")
            // Apple has answered nothing.
            #expect(outcome["apns"] == nil && outcome["problem"]?["status"]?.integerValue == Int64(status))
            #expect(outcome["problem"]?["detail"]?.stringValue?.contains(problem) == true, "\(outcome)")
            let cause = "the request in SQL about a surface breaks a rule, or its condition is not met"
            #expect(outcome["cause"]?.stringValue == cause)
        }
        #expect(await stored().status == 404)
        await bench.stop()
    }

    @Test func `values of a refused request are shown only with send`() async throws {
        let events = await Self.events(of: bench.parts.intake)
        let id = try await enqueue(#"{"to":{"users":"secret-user"},"snapshots":[]}"#)
        let outcome = try await refusal(of: id)
        #expect(outcome["problem"]?["detail"]?.stringValue?.contains("secret-user") == true, "\(outcome)")
        for path in ["/v1/pushes/\(id)", "/v1/pushes?id=\(id)"] {
            let read = await bench.ask("GET", path, key: Self.reader)
            #expect(read.status == 200 && !read.text.contains("secret-user"), "\(read.text)")
            #expect(read.text.contains("order-7") && read.text.contains("scope send"), "\(read.text)")
        }
        for await bytes in events {
            let event = String(decoding: bytes, as: UTF8.self)
            guard event.contains(id) else { continue }
            #expect(!event.contains("secret-user") && event.contains("order-7"), "\(event)")
            break
        }
        await bench.stop()
    }

    @Test func `a push that Apple would refuse refuses the request`() async throws {
        let long = SurfaceBench.snapshot(of: .widget, String(repeating: "a", count: 5_000))
        let body: JSONValue = ["to": ["user": "anna"], "snapshots": [long.json]]
        let id = try await enqueue(String(decoding: body.encoded(), as: UTF8.self))
        let outcome = try await refusal(of: id)
        #expect(outcome["problem"]?["detail"]?.stringValue?.contains("snapshots[0]: ") == true, "\(outcome)")
        #expect(await stored().status == 404)
        await bench.stop()
    }

    @Test func `a request for the channel of another surface has an outcome`() async throws {
        let channel = #","channel":{"id":"YQ=="}"#
        let first = await bench.ask("PUT", Self.surface, Self.body("liveActivity", more: channel))
        #expect(first.status == 201, "\(first.text)")
        let id = try await enqueue(Self.body("liveActivity", of: "order-8", more: channel), id: "order-8")
        let outcome = try await refusal(of: id)
        #expect(outcome["surface"] == "order-8" && outcome["problem"]?["status"] == 409, "\(outcome)")
        let detail = outcome["problem"]?["detail"]?.stringValue ?? ""
        #expect(detail.contains("the surface order-7 has it"), "\(detail)")
        #expect(await bench.ask("GET", "/v1/apps/orders/surfaces/order-8").status == 404)
        await bench.stop()
    }

    @Test func `the removal of a user includes the requests that wait`() async throws {
        _ = try await enqueue(Self.body())
        let removed = await bench.ask("DELETE", "/v1/apps/orders/users/anna", key: EnrollmentBench.key)
        #expect(removed.status == 200, "\(removed.text)")
        #expect(try await bench.parts.outbox.surfaces.enqueued?.enqueuedSurfaces(of: nil, limit: 1) == [])
        #expect(await stored().status == 404)
        await bench.stop()
    }

    @Test func `requests about one surface are carried out in their order`() async throws {
        let body = Self.body().replacing("'", with: "''")
        let call = "martlet.enqueue_surface('orders', 'order-7', '\(body)'"
        let withdrawal = "martlet.enqueue_withdrawal('orders', 'order-7', 1)"
        let answer = try await server.ask(
            "SELECT \(call)), \(withdrawal), \(call), revision => 9), \(call), is_absent => true)",
            of: database
        )
        let ids = answer.trimmingCharacters(in: .whitespacesAndNewlines).split(separator: "|").map(String.init)
        try #require(ids.count == 4)
        try await eventually("the last request is carried out") { await stored().json["revision"] == 3 }
        #expect(try await refusal(of: ids[2])["problem"]?["status"] == 412)
        #expect(await stored().json["state"] == "desired")
        await bench.stop()
    }

    @Test func `the requests of another app do not delay a request`() async throws {
        await bench.parts.surfaces.drain()
        _ = try await server.ask("SELECT martlet.app_number('rides')", of: database)
        let other = "SELECT martlet.enqueue_surface('rides', 'ride-' || n, '{}') FROM generate_series(1, 300) n"
        _ = try await server.ask(other, of: database)
        _ = try await enqueue(Self.body())
        let runner = SurfaceRunner(await bench.relay.context, dispatcher: bench.parts.dispatcher)
        _ = await runner.run()
        #expect(await stored().json["revision"] == 1)
        let left = try await bench.parts.outbox.surfaces.enqueued?.enqueuedSurfaces(of: nil, limit: 1_000)
        #expect(left?.count == 201)
        await bench.stop()
    }

    @Test func `a refused request does not delay the next ones`() async throws {
        let id = try await enqueue("{}")
        _ = try await enqueue(Self.body())
        try await eventually("the surface is stored") { await stored().status == 200 }
        #expect(try await refusal(of: id)["state"] == "refused")
        try await eventually("the metrics have the refusal") {
            await bench.ask("GET", "/metrics").text.split(separator: "\n").contains {
                $0.contains("outcomes_total") && $0.contains(#"state="refused""#) && $0.hasSuffix(" 1")
            }
        }
        await bench.stop()
    }
}

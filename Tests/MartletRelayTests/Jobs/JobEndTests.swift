// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletHTTPServer
import MartletOutbox
import MartletTransport
import TestSupport
import Testing

@testable import MartletRelay

/// The reports of jobs that have ended, to event streams and webhooks.
@Suite(.timeLimit(.minutes(10))) struct JobEndTests {
    private static let path = "/v1/apps/orders/jobs/"

    /// The next job of an event stream, without the other events; nil after its end.
    private static func nextJob(_ events: inout OutcomeStream.Iterator) async throws -> JSONValue? {
        while let bytes = await events.next() {
            for event in String(decoding: bytes, as: UTF8.self).split(separator: "\n\n") {
                guard event.hasPrefix("event: job\n"), let data = event.split(separator: "\n").last else { continue }
                return try JSONReader.read(Array(data.utf8.dropFirst("data: ".utf8.count)))
            }
        }
        return nil
    }

    @Test func `the end of a job is an event for listeners to its app`() async throws {
        let bench = try await EnrollmentBench()
        _ = try await bench.enroll("anna", #","tokens":{"device":"a1"}"#)
        _ = try await bench.enroll("bert")
        let intake = bench.relay.parts.intake
        var events = try await intake.listen(for: RelayBench.listener(to: "orders"), after: nil).makeAsyncIterator()
        let elsewhere = try await intake.listen(for: RelayBench.listener(to: "rides"), after: nil)
        let answer = await bench.send(to: #"{"all":true}"#)
        let ended = try #require(try await Self.nextJob(&events))
        let id = try #require(answer.json["id"]?.stringValue, "\(answer.text)")
        let shown = await bench.relay.ask("GET", Self.path + id).json
        #expect(shown == ended)
        #expect(ended["state"] == "expanded" && ended["matched"] == 2 && ended["outcomes"] == ["delivered": 1])
        #expect(ended["left-out"] == ["no-token": 1] && ended["ended-at"] != nil)
        // The first job has no further event.
        let other = await bench.send(to: #"{"tag":"none"}"#)
        let next = try await Self.nextJob(&events)
        #expect(next?["id"] == other.json["id"] && next?["matched"] == 0, "\(other.text)")
        await bench.stop()
        var nothing = elsewhere.makeAsyncIterator()
        let missed = try await Self.nextJob(&nothing)
        #expect(missed == nil)
    }

    @Test func `a restart repeats no event of a job`() async throws {
        let bench = try await RelayBench()
        let body = #"{"to":{"all":true},\#(EnrollmentBench.alert)}"#
        let listener = RelayBench.listener(to: "orders")
        let first = await bench.ask("POST", "/v1/pushes", body)
        var events = try await bench.parts.intake.listen(for: listener, after: "1-1").makeAsyncIterator()
        let firstEnded = try await Self.nextJob(&events)
        #expect(firstEnded?["id"] == first.json["id"], "\(first.text)")
        await bench.relay.stop()
        let restarted = try await bench.another()
        let second = await restarted.ask("POST", "/v1/pushes", body)
        events = try await restarted.parts.intake.listen(for: listener, after: "1-1").makeAsyncIterator()
        let secondEnded = try await Self.nextJob(&events)
        #expect(secondEnded?["id"] == second.json["id"], "\(second.text)")
        await restarted.stop()
    }

    @Test func `the end of a job is reported until the webhook accepts it`() async throws {
        let calls = Calls()
        let server = try await HTTP1Listener(host: "127.0.0.1", port: 0, limits: HTTP1Listener.Limits()) { request in
            await calls.record(request)
        }
        let webhook = try Webhook(
            url: "http://127.0.0.1:\(server.port)/hook",
            secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            allowsPrivateAddresses: true
        )
        let bench = try await RelayBench { $0.apps[0].webhook = webhook }
        let answer = await bench.ask("POST", "/v1/pushes", #"{"to":{"all":true},\#(EnrollmentBench.alert)}"#)
        let id = try #require(answer.json["id"]?.stringValue, "\(answer.text)")
        try await eventually("the report is accepted") {
            try await bench.parts.outbox.records.cursor(of: "webhook-jobs orders") == 1
        }
        let requests = await calls.requests
        #expect(requests.map { $0.fields["webhook-id"] } == ["jobs-ended.orders.1", "jobs-ended.orders.1"])
        let body = try JSONReader.read(try #require(requests.last).body)
        #expect(body["type"] == "jobs.ended" && body["data"]?["app"] == "orders")
        let jobs = try #require(body["data"]?["jobs"]?.elements)
        let shown = await bench.ask("GET", Self.path + id).json
        #expect(jobs == [shown])
        await bench.stop()
        server.stop()
    }

    /// Refuses the first call, and accepts the others.
    private actor Calls {
        private(set) var requests: [HTTPRequest] = []

        func record(_ request: HTTPRequest) -> HTTP1Answer {
            requests.append(request)
            return .whole(HTTPResponse(status: requests.count == 1 ? 500 : 204))
        }
    }
}

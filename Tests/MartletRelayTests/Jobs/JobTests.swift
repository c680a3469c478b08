// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletHTTPServer
import MartletOutbox
import MartletSimulator
import MartletTransport
import TestSupport
import Testing

@testable import MartletRelay

/// Pushes to all installations that match, in JSON.
@Suite(.timeLimit(.minutes(10))) struct JobTests {
    private static let alert = EnrollmentBench.alert
    private static let longText = String(repeating: "a", count: 5_000)
    private static let path = "/v1/apps/orders/jobs"

    private func path(of answer: RelayBench.Answer) throws -> String {
        let id = try #require(answer.json["id"]?.stringValue, "\(answer.text)")
        return Self.path + "/" + id
    }

    /// Waits until all pushes of a job have ended, and returns it.
    private func end(of answer: RelayBench.Answer, _ relay: RelayBench) async throws -> JSONValue {
        let path = try path(of: answer)
        try await eventually("the job ends") { await relay.ask("GET", path).json["ended-at"] != nil }
        return await relay.ask("GET", path).json
    }

    private func pause(_ relay: RelayBench, _ action: String = "pause") async {
        #expect(await relay.ask("POST", "/v1/apps/orders/lanes/production/\(action)").status == 200)
    }

    /// The caller of a back end that may import phones.
    private static func installer() throws -> RelayConfiguration.Caller {
        try RelayConfiguration.Caller(key: EnrollmentBench.key, apps: ["orders"], scopes: [.installations])
    }

    /// Imports phones, each of another user.
    private func importPhones(_ count: Int, _ relay: RelayBench) async {
        let lines = (0..<count).map { number in
            let token = String(0xA0_0000 + number, radix: 16)
            return #"{"user":"user \#(number)","tokens":{"device":"\#(token)"}}"#
        }
        let body = lines.joined(separator: "\n")
        let answer = await relay.ask("POST", "/v1/apps/orders/installations", body, key: EnrollmentBench.key)
        #expect(answer.json["added"]?.integerValue == Int64(count), "\(answer.text)")
    }

    @Test func `a push to a tag reaches the phones with the tag`() async throws {
        let lines = LogLines()
        let bench = try await EnrollmentBench(log: lines.logger(.info))
        for (index, more) in [
            #","tokens":{"device":"a1"}"#, #","tokens":{"device":"a2"},"permissions":{"alerts":false}"#, "",
            #","tokens":{"device":"a4"}"#, #","tokens":{"device":"a5"}"#,
        ].enumerated() {
            let phone = try await bench.enroll("user \(index)", more)
            guard index != 3 else { continue }
            #expect(await bench.ask("PATCH", "/installations/\(phone.id)", #"{"tags":["vip"]}"#).status == 200)
        }
        let answer = await bench.send(to: #"{"tag":"vip"}"#)
        #expect(answer.status == 202 && answer.json["state"] == "expanding", "\(answer.text)")
        #expect(answer.json["audience"] == "vip" && answer.json["app"] == "orders")
        let job = try await end(of: answer, bench.relay)
        #expect(job["state"] == "expanded" && job["matched"] == 4 && job["stored"] == 2 && job["waiting"] == 0)
        #expect(job["left-out"] == ["no-token": 1, "not-allowed": 1] && job["outcomes"] == ["delivered": 2])
        let sent = await bench.relay.apple.pushes
        #expect(Set(sent.map(\.deviceToken)) == ["a1", "a5"] && sent.count == 2)
        let messages = lines.objects.compactMap { $0["msg"]?.stringValue }.filter { $0.hasPrefix("job ") }
        #expect(messages.sorted() == ["job expanded", "job started"])
        for line in [
            #"jobs{app="orders",state="expanding"} 0"#, #"job_pages_total{app="orders"} 1"#,
            #"job_left_out_total{app="orders",reason="no-token"} 1"#,
        ] {
            try await eventually("the metrics have \(line)") {
                await bench.relay.ask("GET", "/metrics").text.contains("martlet_relay_" + line)
            }
        }
        await bench.stop()
    }

    @Test func `a repeated request is answered with the same job`() async throws {
        let bench = try await EnrollmentBench()
        _ = try await bench.enroll("anna", #","tokens":{"device":"a1"}"#)
        let fields: HTTPFields = ["idempotency-key": "sale"]
        let first = await bench.send(to: #"{"all":true}"#, fields: fields)
        _ = try await end(of: first, bench.relay)
        // The members have another order.
        let body = #"{"app":"orders",\#(Self.alert),"to":{"all":true}}"#
        let again = await bench.relay.ask("POST", "/v1/pushes", body, fields: fields)
        #expect(again.status == 200 && again.json["id"] == first.json["id"], "\(again.text)")
        let other = await bench.send(to: #"{"tag":"vip"}"#, fields: fields)
        #expect(other.status == 422 && other.text.contains("choose a new one"), "\(other.text)")
        let id = #","id":"123e4567-e89b-42d3-a456-426655440000""#
        let named = await bench.send(to: #"{"all":true}"#, Self.alert + id)
        #expect(named.json["id"] == "123e4567-e89b-42d3-a456-426655440000")
        _ = try await end(of: named, bench.relay)
        #expect(await bench.relay.apple.pushCount == 2)
        let list = await bench.relay.ask("GET", Self.path + "?limit=1")
        #expect(list.json["jobs"]?.elements?.map { $0["id"] } == [named.json["id"]], "\(list.text)")
        let cursor = try #require(list.json["cursor"]?.integerValue)
        let rest = await bench.relay.ask("GET", Self.path + "?before=\(cursor)")
        #expect(rest.json["jobs"]?.elements?.map { $0["id"] } == [first.json["id"]] && rest.json["cursor"] == nil)
        await bench.stop()
    }

    @Test(
        arguments: [
            (#"{"all":true}"#, alert + #","priority":7"#, "/priority", "BadPriority"),
            (#"{"all":true}"#, alert.replacing("Hi", with: longText), "/payload", "PayloadTooLarge"),
            (#"{"all":true}"#, alert + #","push-type":"voip""#, "/push-type", "send other types to a token"),
            (#"{"tag":"two words"}"#, alert, "/to/tag", "ASCII letters"),
            (#"{"where":"vip &&"}"#, alert, "/to/where", "to.where"),
            (#"{"all":true,"tag":"vip"}"#, alert, "/to", "exactly one of"),
            (#"{"all":true}"#, alert + #","environment":"production""#, "/environment", "each phone has one"),
            (#"{"all":true}"#, alert + #","not-before":99999999999"#, "/not-before", "at most 30 days ahead"),
            (#"{"all":true}"#, alert + #","not-before":5,"expiration":5"#, "/expiration", "after not-before"),
        ] as [(String, String, String, String)]
    )
    func `a mistake is reported when the request arrives`(
        audience: String,
        content: String,
        pointer: String,
        message: String
    ) async throws {
        let bench = try await EnrollmentBench()
        let answer = await bench.send(to: audience, content)
        #expect(answer.status == 400 && answer.text.contains(message), "\(answer.text)")
        let found = answer.json["errors"]?.elements?.first?["pointer"]?.stringValue
        #expect(found == pointer, "\(answer.text)")
        #expect(await bench.relay.ask("GET", Self.path).json["jobs"] == [])
        await bench.stop()
    }

    @Test func `a push by a job cannot be waited for`() async throws {
        let bench = try await EnrollmentBench()
        let answer = await bench.send(to: #"{"all":true}"#, query: "?wait=5")
        #expect(answer.status == 400 && answer.text.contains("wait must be left out"), "\(answer.text)")
        #expect(await bench.relay.ask("GET", Self.path).json["jobs"] == [])
        await bench.stop()
    }

    @Test func `a cancelled job sends nothing more`() async throws {
        let bench = try await EnrollmentBench()
        await pause(bench.relay)
        await importPhones(5, bench.relay)
        let answer = await bench.send(to: #"{"all":true}"#)
        let path = try path(of: answer)
        try await eventually("the pushes wait") { await bench.relay.ask("GET", path).json["waiting"] == 5 }
        let cancelled = await bench.relay.ask("DELETE", path)
        #expect(cancelled.status == 200 && cancelled.json["state"] == "cancelled", "\(cancelled.text)")
        let job = try await end(of: answer, bench.relay)
        #expect(job["outcomes"] == ["cancelled": 5] && job["waiting"] == 0)
        await pause(bench.relay, "resume")
        #expect(await bench.relay.ask("DELETE", path).status == 200)
        let other = await bench.send(to: #"{"tag":"none"}"#)
        _ = try await end(of: other, bench.relay)
        let otherPath = try self.path(of: other)
        #expect(await bench.relay.ask("DELETE", otherPath).status == 409)
        #expect(await bench.relay.apple.pushCount == 0)
        let unknown = Self.path + "/123e4567-e89b-42d3-a456-426655440000"
        for method in ["GET", "DELETE"] { #expect(await bench.relay.ask(method, unknown).status == 404) }
        await bench.stop()
    }

    @Test func `a job goes on after a restart`() async throws {
        let bench = try await EnrollmentBench()
        await importPhones(450, bench.relay)
        let answer = await bench.send(to: #"{"all":true}"#)
        let path = try path(of: answer)
        try await eventually("a page is stored") { await bench.relay.ask("GET", path).json["stored"] != 0 }
        await bench.relay.relay.stop()
        let second = try await bench.relay.another()
        let job = try await end(of: answer, second)
        #expect(job["matched"] == 450 && job["outcomes"] == ["delivered": 450], "\(job)")
        let sent = await second.apple.pushes.map(\.deviceToken)
        #expect(sent.count == 450 && Set(sent).count == 450)
        await second.stop()
    }

    @Test func `a job waits for room in the outbox`() async throws {
        let installer = try Self.installer()
        let relay = try await RelayBench {
            $0.callers.append(installer)
            $0.outbox.limit = 500
        }
        await importPhones(700, relay)
        await pause(relay)
        let answer = await relay.ask("POST", "/v1/pushes", #"{"to":{"all":true},\#(Self.alert)}"#)
        let path = try path(of: answer)
        try await eventually("two pages are stored") { await relay.ask("GET", path).json["stored"] == 400 }
        // The next page has no room, but a single push has.
        let interval = await relay.parts.jobs.run()
        #expect(interval > .zero)
        #expect(await relay.ask("POST", "/v1/pushes", #"{"to":"b1",\#(Self.alert)}"#).status == 202)
        #expect(await relay.ask("GET", path).json["stored"] == 400)
        await pause(relay, "resume")
        let job = try await end(of: answer, relay)
        #expect(job["matched"] == 700 && job["outcomes"] == ["delivered": 700], "\(job)")
        await relay.stop()
    }

    @Test func `another relay goes on with a job`() async throws {
        let server = try await PostgreSQLServer.shared.value
        let address = server.address(of: try await server.makeDatabase())
        try await OutboxSchema.create(in: address)
        let installer = try Self.installer()
        let first = try await RelayBench(data: .database(address)) { $0.callers.append(installer) }
        let second = try await first.another()
        await importPhones(450, first)
        let answer = await second.ask("POST", "/v1/pushes", #"{"to":{"all":true},\#(Self.alert)}"#)
        let path = try path(of: answer)
        try await eventually("a page is stored") { await second.ask("GET", path).json["stored"] != 0 }
        await first.relay.stop()
        let job = try await end(of: answer, second)
        #expect(job["matched"] == 450 && job["outcomes"] == ["delivered": 450], "\(job)")
        let sent = await second.apple.pushes.map(\.deviceToken)
        #expect(sent.count == 450 && Set(sent).count == 450)
        await second.stop()
    }

    @Test func `a scheduled job reads the phones at its time`() async throws {
        let clock = TestClock()
        let bench = try await EnrollmentBench(clock: clock.wall)
        let leaving = try await bench.enroll("anna", #","tokens":{"device":"a1"}"#)
        _ = try await bench.enroll("bert", #","tokens":{"device":"a2"}"#)
        let answer = await bench.send(to: #"{"all":true}"#, Self.alert + #","not-before":\#(clock.now + 600)"#)
        #expect(answer.status == 202 && answer.json["starts-at"]?.integerValue == (clock.now + 600) * 1_000)
        // One phone leaves, and one comes too late.
        #expect(await bench.phone("DELETE", with: leaving.secret).status == 204)
        _ = try await bench.enroll("cleo", #","tokens":{"device":"a3"}"#)
        clock.advance(by: 601)
        let job = try await end(of: answer, bench.relay)
        #expect(job["matched"] == 1 && job["outcomes"] == ["delivered": 1], "\(job)")
        #expect(await bench.relay.apple.pushes.map(\.deviceToken) == ["a2"])
        await bench.stop()
    }

    @Test func `an app has a limited number of jobs`() async throws {
        let clock = TestClock()
        let bench = try await EnrollmentBench(clock: clock.wall)
        let content = Self.alert + #","not-before":\#(clock.now + 600)"#
        let first = await bench.send(to: #"{"all":true}"#, content, fields: ["idempotency-key": "0"])
        for number in 1..<RelayAPI.Service.jobLimit {
            let answer = await bench.send(to: #"{"all":true}"#, content, fields: ["idempotency-key": "\(number)"])
            #expect(answer.status == 202, "\(answer.text)")
        }
        let refused = await bench.send(to: #"{"all":true}"#, content)
        #expect(refused.status == 429 && refused.json["retry-after"] == 30, "\(refused.text)")
        let again = await bench.send(to: #"{"all":true}"#, content, fields: ["idempotency-key": "0"])
        #expect(again.status == 202 && again.json["id"] == first.json["id"])
        let path = try path(of: first)
        #expect(await bench.relay.ask("DELETE", path).status == 200)
        #expect(await bench.send(to: #"{"all":true}"#, content).status == 202)
        await bench.stop()
    }

    @Test func `a key creates and reads jobs of its own apps only`() async throws {
        let bench = try await EnrollmentBench()
        let answer = await bench.send(to: #"{"all":true}"#)
        let path = try path(of: answer)
        let body = #"{"app":"orders","to":{"all":true},\#(Self.alert)}"#
        for key in ["mrt_rides", EnrollmentBench.key] {
            #expect(await bench.relay.ask("POST", "/v1/pushes", body, key: key).status == 403)
            #expect(await bench.relay.ask("GET", path, key: key).status == 403)
            #expect(await bench.relay.ask("GET", Self.path, key: key).status == 403)
            #expect(await bench.relay.ask("DELETE", path, key: key).status == 403)
        }
        await bench.stop()
    }

    @Test func `a line of a batch creates a job`() async throws {
        let bench = try await EnrollmentBench()
        _ = try await bench.enroll("anna", #","tokens":{"device":"a1"}"#)
        let lines = [#""5d3a6a1c""#, #"{"all":true}"#, #"{"user":"anna"}"#, #"{"tag":"two words"}"#]
        let answers = await bench.relay.batch(lines.map { #"{"to":\#($0),\#(Self.alert)}"# })
        try #require(answers.count == 4)
        #expect(answers[0]["state"] == "accepted" && answers[2]["pushes"]?.elements?.count == 1)
        #expect(answers[3]["errors"]?.elements?.first?["pointer"] == "/to/tag")
        let id = try #require(answers[1]["id"]?.stringValue)
        try await eventually("the job ends") {
            await bench.relay.ask("GET", Self.path + "/" + id).json["outcomes"] == ["delivered": 1]
        }
        await bench.stop()
    }
}

// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import MartletSimulator
import TestSupport
import Testing

@testable import MartletRelay

/// A relay whose database hangs, dies or is away.
@Suite(.serialized, .timeLimit(.minutes(10))) struct DatabaseOutageTests {
    /// One whose commits survive its own end.
    private static let server = Task { try await PostgreSQLServer(options: ["-F"]) }

    private let server: PostgreSQLServer
    private let place: OutboxLocation
    private let lines = LogLines()

    init() async throws {
        server = try await Self.server.value
        let address = server.address(of: try await server.makeDatabase())
        try await OutboxSchema.create(in: address)
        place = .database(address)
    }

    private func bench() async throws -> RelayBench {
        try await RelayBench(data: place, log: lines.logger(.warning)) { $0.statementTime = .seconds(1) }
    }

    /// The answer to a push with an identifier of its own, which is not waited for.
    private func send(_ number: Int, to bench: RelayBench) async -> RelayBench.Answer {
        let id = "00000000-0000-4000-8000-0000000" + String(10_000 + number)
        return await bench.ask(
            "POST",
            "/v1/pushes",
            #"{"to":"5d3a6a1c","id":"\#(id)","payload":{"aps":{"alert":"Hi"}}}"#
        )
    }

    /// Sends until pushes are refused; the numbers of those that were accepted.
    private func sendUntilRefused(_ bench: RelayBench) async -> (accepted: [Int], refusal: RelayBench.Answer) {
        var accepted: [Int] = []
        for number in 0..<5_000 {
            let answer = await send(number, to: bench)
            guard answer.status == 202 || answer.status == 200 else { return (accepted, answer) }
            accepted.append(number)
        }
        return (accepted, RelayBench.Answer(status: 0, text: "never refused"))
    }

    /// Sends all again until each is accepted, and checks that each was delivered, once unless its outcome says more.
    private func expectDelivery(of count: Int, by bench: RelayBench) async throws {
        for number in 0..<count {
            var answer = RelayBench.Answer(status: 0, text: "")
            try await eventually("push \(number) is stored") {
                answer = await send(number, to: bench)
                return answer.status != 503
            }
            let id = answer.json["id"]?.stringValue ?? ""
            var end = RelayBench.Answer(status: 0, text: "")
            // Each connection is opened again in its own time.
            try await eventually("the state of push \(number) can be read") {
                end = await bench.ask("GET", "/v1/pushes/\(id)?wait=30")
                return end.status != 503
            }
            #expect(end.json["state"] == "delivered", "\(answer) \(end)")
            let arrivals = await bench.apple.pushes.count { $0.id == id }
            let unknown = Int(end.json["unknown-tries"]?.integerValue ?? 0)
            #expect(arrivals >= 1 && arrivals <= 1 + unknown, "\(arrivals) arrivals, \(unknown) announced")
        }
    }

    private func expectReports(of bench: RelayBench, _ message: String) async {
        let ready = await bench.ask("GET", "/readyz", key: nil)
        #expect(ready.status == 503 && ready.text.contains(message), "\(ready)")
        #expect(await bench.ask("GET", "/livez", key: nil).status == 200)
        #expect(lines.objects.contains { $0["error"]?.stringValue?.contains(message) ?? false }, "\(lines.all)")
        let metrics = await bench.parts.monitor.metrics(of: ["orders"]).exposition
        #expect(metrics.contains("martlet_relay_outbox_writable 0"), "\(metrics)")
        let status = await bench.ask("GET", "/v1/status").json
        #expect(status["state"] == "not-storing", "\(status)")
        #expect(status["storage"]?["problem"]?.stringValue?.contains(message) == true, "\(status)")
        #expect(status["storage"]?["action"]?.stringValue?.contains("check that the database runs") == true)
    }

    @Test func `a database that hangs is reported, and used when it answers`() async throws {
        let bench = try await bench()
        try await expectDelivery(of: 3, by: bench)
        try await server.freeze()
        let (accepted, refusal) = await sendUntilRefused(bench)
        #expect(refusal.status == 503, "\(refusal)")
        try await eventually("the relay is not ready") {
            await bench.ask("GET", "/readyz", key: nil).status != 200
        }
        await expectReports(of: bench, "the database has not answered since 20")
        let late = await send(6_000, to: bench)
        #expect(late.status == 503 && late.text.contains("the database has not answered since 20"), "\(late)")
        server.thaw()
        try await expectDelivery(of: max(10, accepted.count + 1), by: bench)
        try await eventually("the relay is ready again") {
            await bench.ask("GET", "/readyz", key: nil).status == 200
        }
        // Requests of the lost connections must not be executed later.
        if case .database(let address) = place, let name = address.split(separator: "/").last {
            let question = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'martlet%'"
            try await eventually("the relay has five connections to the database") {
                try await server.ask(question + " AND datname = '\(name)'", of: String(name)) == "5\n"
            }
        }
        await bench.stop()
    }

    @Test func `a locked table is an outage before the commit fails`() async throws {
        let bench = try await bench()
        guard case .database(let address) = place, let name = address.split(separator: "/").last.map(String.init) else {
            Issue.record("\(place)")
            return
        }
        try await expectDelivery(of: 1, by: bench)
        async let lock = server.ask("BEGIN; LOCK TABLE martlet.push; SELECT pg_sleep(10); COMMIT", of: name)
        try await eventually("the table is locked") {
            try await server.ask(
                "SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted"
                    + " AND relation = 'martlet.push'::regclass",
                of: name
            ) == "1\n"
        }
        // The statement itself takes six seconds until it is cancelled.
        async let sending = send(7_000, to: bench)
        try await eventually("the relay is not ready") {
            await bench.ask("GET", "/readyz", key: nil).status != 200
        }
        let status = await bench.ask("GET", "/v1/status").json
        let problem = "the database has not answered since 20"
        #expect(status["state"] == "not-storing", "\(status)")
        #expect(status["storage"]?["problem"]?.stringValue?.hasPrefix(problem) == true, "\(status)")
        #expect(status["headline"]?.stringValue?.hasPrefix("The database does not answer since") == true, "\(status)")
        let answer = await sending
        #expect(answer.status == 503 && answer.text.contains(problem), "\(answer)")
        #expect(lines.objects.contains { $0["error"]?.stringValue?.contains(problem) ?? false }, "\(lines.all)")
        _ = try await lock
        try await expectDelivery(of: 3, by: bench)
        try await eventually("the relay is ready again") {
            await bench.ask("GET", "/readyz", key: nil).status == 200
        }
        await bench.stop()
    }

    @Test func `no accepted push is lost when the database is killed`() async throws {
        let bench = try await bench()
        async let sending = sendUntilRefused(bench)
        try await eventually("the first push arrives") { await !bench.apple.pushes.isEmpty }
        try await server.crash()
        let (accepted, _) = await sending
        try await eventually("the relay is not ready") {
            await bench.ask("GET", "/readyz", key: nil).status != 200
        }
        await expectReports(of: bench, "the database has not answered since 20")
        try await server.restart()
        #expect(!accepted.isEmpty)
        try await expectDelivery(of: accepted.count + 1, by: bench)
        await bench.stop()
    }

    @Test func `a relay starts without its database and delivers later`() async throws {
        try await server.crash()
        let bench = try await bench()
        await expectReports(of: bench, "the database has not answered yet: ")
        let starts = lines.objects.filter { $0["msg"]?.stringValue?.hasPrefix("relay started") == true }
        #expect(starts.map { $0["msg"] } == ["relay started without outbox"], "\(lines.all)")
        #expect(starts.first?["error"]?.stringValue?.contains("the database has not answered yet") == true)
        #expect(await backlog(of: bench) == nil)
        #expect(!(await bench.parts.monitor.metrics(of: ["orders"]).exposition.contains(#"state="waiting""#)))
        let refusal = await send(1, to: bench)
        #expect(refusal.status == 503 && refusal.text.contains("the database has not answered yet"), "\(refusal)")
        try await server.restart()
        try await expectDelivery(of: 2, by: bench)
        #expect(await bench.ask("GET", "/readyz", key: nil).status == 200)
        #expect(await backlog(of: bench) == 0)
        await bench.stop()
    }

    /// The backlog that the status tells of the only lane.
    private func backlog(of bench: RelayBench) async -> Int64? {
        let status = await bench.ask("GET", "/v1/status").json
        return status["lanes"]?.elements?.first?["backlog"]?.integerValue
    }
}

// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCore
import Synchronization
import TestSupport
import Testing

@testable import MartletSimulator

/// Simulated phones beside the inbox, over HTTP.
@Suite(.timeLimit(.minutes(10))) struct InboxPhonesTests {
    /// A simulator with one phone, whose time a test sets.
    private struct Bench {
        private final class Clock: Sendable {
            let milliseconds = Atomic<Int64>(1_790_000_000_000)
        }

        let apns: SimulatedAPNs
        private let clock: Clock
        private let base: String

        init() async throws {
            let clock = Clock()
            self.clock = clock
            var configuration = SimulatedAPNs.Configuration(inboxPort: 0, isEncrypted: false, seed: 7)
            let app = SimulatedPhone.App(topic: "com.example.app")
            configuration.phones = SimulatedAPNs.Phones(count: 1, app: app, behavior: .reliable)
            apns = try await SimulatedAPNs.start(
                configuration,
                clock: .milliseconds { clock.milliseconds.load(ordering: .relaxed) }
            )
            base = "http://127.0.0.1:\(try #require(await apns.inboxPort))"
        }

        func advance(milliseconds: Int64) {
            clock.milliseconds.wrappingAdd(milliseconds, ordering: .relaxed)
        }

        func json(_ method: String, _ path: String, _ body: JSONValue? = nil) async throws -> JSONValue {
            let data = body.map { ["--data-binary", String(decoding: $0.encoded(), as: UTF8.self)] } ?? []
            let run = try await ProgramRun.curl(["--request", method] + data + [base + path])
            return run.output.isEmpty ? .null : try JSONReader.read(run.output)
        }

        /// The members of the accounts of all phones.
        func account() async throws -> JSONValue {
            try #require(try await json("GET", "/api/v1/phones")["account"])
        }

        /// The changes that the app has reported after a number.
        func changes(after number: Int = 0) async throws -> [JSONValue] {
            let reports = try await json("GET", "/api/v1/phones/reports?after=\(number)")["reports"]?.elements
            return try #require(reports).compactMap { $0["change"] }
        }

        /// Sends a Live Activity push, and returns its status.
        func push(_ event: String, _ more: JSONValue, to token: String) async throws -> Int64? {
            let seconds = clock.milliseconds.load(ordering: .relaxed) / 1_000
            let aps: JSONValue = ["event": .string(event), "timestamp": .integer(seconds)]
            let push: JSONValue = [
                "device-token": .string(token),
                "headers": [
                    "apns-push-type": "liveactivity", "apns-topic": "com.example.app.push-type.liveactivity",
                    "apns-priority": "10",
                ],
                "payload": ["aps": aps.merging(more)],
            ]
            return try await json("POST", "/api/v1/pushes", push)["status"]?.integerValue
        }

        /// Sends an alert.
        func send(_ alert: JSONValue, to token: String) async throws {
            let push: JSONValue = [
                "device-token": .string(token),
                "headers": ["apns-push-type": "alert", "apns-topic": "com.example.app"],
                "payload": ["aps": ["alert": alert]],
            ]
            _ = try await json("POST", "/api/v1/pushes", push)
        }

        /// The token for alerts that the app has reported last.
        func deviceToken() async throws -> String {
            let tokens = try await changes().compactMap { $0["tokens"]?["device"] }
            return try #require(tokens.last?.stringValue)
        }

        /// Starts the card of `order-1` with `{"n": 1}`, and returns the status of the push.
        func startCard() async throws -> Int64? {
            let tokens = try await changes().compactMap { $0["tokens"]?["start"]?["SurfaceActivityAttributes"] }
            let start = try #require(tokens.last?.stringValue)
            let more: JSONValue = [
                "content-state": ["n": 1], "attributes-type": "SurfaceActivityAttributes",
                "attributes": ["surfaceId": "order-1"], "alert": ["title": "Order", "body": "Packed"],
            ]
            return try await push("start", more, to: start)
        }

        /// The update token of the activity that the app has reported last.
        func updateToken() async throws -> String {
            let tokens = try await changes().compactMap { $0["activities"]?["activity-1"]?["token"] }
            return try #require(tokens.last?.stringValue)
        }
    }

    @Test func `the terminal names the page of the phones`() async throws {
        let bench = try await Bench()
        let inbox = "http://localhost:\(try #require(await bench.apns.inboxPort))"
        #expect(await bench.apns.recipes.text.contains("\n1 simulated phone with com.example.app: \(inbox)/#/phones\n"))
        await bench.apns.stop()
    }

    @Test func `a phone takes a push and reports the token of its card`() async throws {
        let bench = try await Bench()
        _ = try await bench.json("PUT", "/api/v1/phones/surfaces/order-1", ["content": ["n": 1]])
        #expect(try await bench.account()["stale-surfaces"] == 1)
        bench.advance(milliseconds: 500)
        #expect(try await bench.startCard() == 200)
        let account = try await bench.account()
        #expect(account["effective"] == 1 && account["pushes"] == 1 && account["cards-started"] == 1, "\(account)")
        #expect(account["stale-surfaces"] == 0 && account["longest-staleness"]?.description == "0.5", "\(account)")
        let token = try await bench.updateToken()
        bench.advance(milliseconds: 500)
        #expect(try await bench.push("update", ["content-state": ["n": 2]], to: token) == 200)
        let phone = try await bench.json("GET", "/api/v1/phones/1")
        #expect(phone["cards"]?.elements?.map { $0["content-state"] } == [["n": 2]], "\(phone)")
        #expect(phone["user"] == "phone-1" && phone["account"]?["effective"] == 2, "\(phone)")
        await bench.apns.stop()
    }

    @Test func `a phone that is set offline gets a push when it is online`() async throws {
        let bench = try await Bench()
        #expect(try await bench.json("PUT", "/api/v1/phones/1", ["online": false]) == .null)
        #expect(try await bench.startCard() == 200)
        let offline = try await bench.json("GET", "/api/v1/phones/1")
        #expect(offline["online"] == false && offline["fixed"] == ["online": false], "\(offline)")
        #expect(offline["cards"] == [] && offline["account"]?["waiting"] == 1, "\(offline)")
        #expect(try await bench.json("PUT", "/api/v1/phones/1", ["online": .null]) == .null)
        #expect(try await bench.json("GET", "/api/v1/phones/1")["fixed"] == [:])
        #expect(try await bench.json("PUT", "/api/v1/phones/1", ["online": true]) == .null)
        let online = try await bench.json("GET", "/api/v1/phones/1")
        #expect(online["online"] == true && online["cards"]?.elements?.count == 1, "\(online)")
        await bench.apns.stop()
    }

    @Test func `a phone is set not to allow Live Activities`() async throws {
        let bench = try await Bench()
        #expect(try await bench.startCard() == 200)
        #expect(try await bench.json("PUT", "/api/v1/phones/1", ["live-activities": false]) == .null)
        let phone = try await bench.json("GET", "/api/v1/phones/1")
        #expect(phone["permissions"]?["live-activities"] == false && phone["cards"] == [], "\(phone)")
        let last = try await bench.changes().compactMap { $0["permissions"]?["live-activities"] }.last
        #expect(last == false)
        await bench.apns.stop()
    }

    @Test func `a phone lists its notifications with the newest first`() async throws {
        let bench = try await Bench()
        let token = try await bench.deviceToken()
        try await bench.send(["title": "Order", "body": "Packed", "launch-image": "order"], to: token)
        try await bench.send("Ready", to: token)
        let phone = try await bench.json("GET", "/api/v1/phones/1")
        #expect(phone["notifications"] == [["body": "Ready"], ["title": "Order", "body": "Packed"]], "\(phone)")
        await bench.apns.stop()
    }

    @Test func `a token of a phone cannot be changed as a device`() async throws {
        let bench = try await Bench()
        let path = "/api/v1/devices/" + (try await bench.deviceToken())
        for body: JSONValue in [["online": false], ["unregistered-at": 1_790_000_000_000], ["topics": ["a.b"]]] {
            let problem = try await bench.json("PUT", path, body)
            #expect(problem["status"] == 409, "\(problem)")
            #expect(problem["detail"]?.stringValue?.contains("PUT /api/v1/phones/1") == true, "\(problem)")
        }
        #expect(try await bench.json("PUT", path, ["name": "Kim"]) == .null)
        await bench.apns.stop()
    }

    @Test func `APNs answers 410 for the token of a card that has ended`() async throws {
        let bench = try await Bench()
        #expect(try await bench.startCard() == 200)
        let token = try await bench.updateToken()
        let end: JSONValue = ["content-state": ["n": 2], "dismissal-date": 1]
        bench.advance(milliseconds: 1_000)
        #expect(try await bench.push("end", end, to: token) == 200)
        #expect(try await bench.push("update", ["content-state": ["n": 3]], to: token) == 410)
        let account = try await bench.account()
        #expect(account["to-invalid-tokens"] == 1 && account["cards-removed"] == 1, "\(account)")
        let causes = try await bench.changes().compactMap { $0["activities"]?["activity-1"]?["ended"]?["cause"] }
        #expect(causes == ["app"])
        await bench.apns.stop()
    }

    @Test func `a push that a fault refuses does not reach the phone`() async throws {
        let bench = try await Bench()
        let fault: JSONValue = ["do": "respond", "reason": "ServiceUnavailable"]
        _ = try await bench.json("PUT", "/api/v1/chaos", ["rules": [fault]])
        #expect(try await bench.startCard() == 503)
        #expect(try await bench.account()["pushes"] == 0)
        _ = try await bench.json("PUT", "/api/v1/chaos", [:])
        #expect(try await bench.startCard() == 200)
        #expect(try await bench.account()["pushes"] == 1)
        await bench.apns.stop()
    }

    @Test func `reports are streamed after the last received one`() async throws {
        let bench = try await Bench()
        let count = try await bench.changes().count
        #expect(count > 1)
        var numbers: [Int] = []
        for await event in await bench.apns.service.reportEvents(after: 1) {
            guard case .reported(let report) = event else { continue }
            numbers.append(report.number)
            if numbers.count == 1 { #expect(String(decoding: event.reportBytes, as: UTF8.self).contains("id: 2\n")) }
            if report.number == count { break }
        }
        #expect(numbers == Array(2...count))
        await bench.apns.stop()
    }

    @Test func `readers of reports get no pushes, and others no reports`() async throws {
        let bench = try await Bench()
        let reports = await bench.apns.service.reportEvents(after: nil)
        let others = await bench.apns.inbox.events(after: nil)
        #expect(try await bench.startCard() == 200)
        await bench.apns.stop()
        var (reportCount, pushCount) = (0, 0)
        for await event in reports {
            if case .reported = event { reportCount += 1 }
            #expect(event.isFor(readersOfReports: true))
        }
        for await event in others {
            if case .received = event { pushCount += 1 }
            #expect(event.isFor(readersOfReports: false))
        }
        #expect(reportCount > 0 && pushCount == 1)
    }

    @Test func `a mistake in a request about phones is reported`() async throws {
        let bench = try await Bench()
        let longName = String(repeating: "a", count: 121)
        let longContent = JSONValue.string(String(repeating: "a", count: 4_095))
        for (method, path, body, status) in [
            ("GET", "/api/v1/phones/2", nil, 404), ("GET", "/api/v1/phones/none", nil, 404),
            ("GET", "/api/v1/phones?limit=1001", nil, 400), ("PUT", "/api/v1/phones/surfaces/a", [:], 400),
            ("PUT", "/api/v1/phones/surfaces/a", ["content": .null, "phones": [2]], 400),
            ("PUT", "/api/v1/phones/2", ["online": false], 404), ("PUT", "/api/v1/phones/1", ["online": 1], 400),
            ("PUT", "/api/v1/phones/1", ["offline": true], 400), ("GET", "/api/v1/phones/+1", nil, 404),
            ("GET", "/api/v1/phones/01", nil, 404), ("PUT", "/api/v1/phones/surfaces/%00", ["content": .null], 400),
            ("PUT", "/api/v1/phones/surfaces/%", ["content": .null], 400),
            ("PUT", "/api/v1/phones/surfaces/\(longName)", ["content": .null], 400),
            ("PUT", "/api/v1/phones/surfaces/a", ["content": longContent], 400),
        ] as [(String, String, JSONValue?, Int64)] {
            #expect(try await bench.json(method, path, body)["status"]?.integerValue == status, "\(path)")
        }
        await bench.apns.stop()
        let other = try await InboxBench()
        let problem = try await other.json("GET", "/api/v1/phones")
        #expect(problem["detail"]?.stringValue?.contains("--phones") == true, "\(problem)")
        await other.apns.stop()
    }
}

// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletHTTPServer
import MartletOutbox
import Synchronization
import Testing

@testable import MartletRelay

/// Counts of the installations that match an expression.
@Suite(.timeLimit(.minutes(10))) struct AudienceCountTests {
    private static let path = "/v1/apps/orders/audiences/count"

    /// Counts, as a back end with a key of scope `send`.
    private func count(_ bench: EnrollmentBench, _ text: String, _ more: String = "") async -> RelayBench.Answer {
        await bench.relay.ask("POST", Self.path, #"{"where":"\#(text)"\#(more)}"#)
    }

    @Test func `a count has the phones that a push would reach`() async throws {
        let bench = try await EnrollmentBench()
        for (index, more) in [
            #","tokens":{"device":"a1","start":{"Order":"b1"},"controls":{"lamp":"c1"}},"locale":"de-CH""#,
            #","tokens":{"device":"a2"},"permissions":{"alerts":false},"locale":"de","app-version":"2.10""#,
            #","locale":"de","app-version":"2.9""#,
            #","tokens":{"device":"a4"},"locale":"fr""#,
        ].enumerated() {
            let phone = try await bench.enroll("user \(index)", more)
            let tags = index.isMultiple(of: 2) ? #"["vip"]"# : #"["vip","trial"]"#
            #expect(await bench.ask("PATCH", "/installations/\(phone.id)", #"{"tags":\#(tags)}"#).status == 200)
        }
        let all = await count(bench, "all")
        let leftOut: JSONValue = ["no-token": 1, "not-allowed": 1]
        #expect(all.status == 200, "\(all.text)")
        #expect(all.json["matched"] == 4 && all.json["reachable"] == 2, "\(all.text)")
        #expect(all.json["left-out"] == leftOut && all.json["complete"] == true, "\(all.text)")
        for (text, more, matched, reachable) in [
            ("vip && trial", "", 2, 1), ("vip && !trial", "", 2, 1), ("locale:de", "", 3, 1),
            ("app-version>=2.10", "", 1, 0), ("environment:development", "", 0, 0), ("new", "", 0, 0),
            ("all", #","push-type":"background""#, 4, 3), ("all", #","push-type":"widgets""#, 4, 0),
            ("all", #","push-type":"liveactivity","attributes-type":"Order""#, 4, 1),
            ("all", #","push-type":"controls","control":"lamp""#, 4, 1),
        ] as [(String, String, Int64, Int64)] {
            let answer = await count(bench, text, more)
            #expect(answer.json["matched"]?.integerValue == matched, "\(text): \(answer.text)")
            #expect(answer.json["reachable"]?.integerValue == reachable, "\(text)\(more): \(answer.text)")
        }
        await bench.stop()
    }

    @Test func `a count has the numbers by environment, version and permission`() async throws {
        let bench = try await EnrollmentBench()
        for (index, more) in [
            #","app-version":"2.10","system-version":"26.1","permissions":{"alerts":true}"#,
            #","app-version":"2.9","system-version":"26.1","permissions":{"alerts":false,"live-activities":true}"#,
            #","app-version":"2.10""#,
        ].enumerated() {
            _ = try await bench.enroll("user \(index)", more)
        }
        let json = await count(bench, "all").json
        #expect(json["environments"] == ["production": 3])
        #expect(
            json["app-versions"] == [
                ["version": "2.10", "installations": 2], ["version": "2.9", "installations": 1],
            ]
        )
        #expect(json["system-versions"] == [["version": "26.1", "installations": 2], ["installations": 1]])
        #expect(json["permissions"]?["alerts"] == ["granted": 1, "denied": 1])
        #expect(json["permissions"]?["live-activities"] == ["granted": 1, "denied": 0])
        #expect(json["permissions"]?["frequent-updates"] == ["granted": 0, "denied": 0])
        // Only those that match count.
        #expect(await count(bench, "app-version<2.10").json["system-versions"]?.elements?.count == 1)
        await bench.stop()
    }

    @Test func `a count lists the most frequent versions`() async throws {
        let bench = try await EnrollmentBench()
        for index in 0...AudienceCount.versionLimit + 1 {
            let version = index == 0 ? 1 : index
            _ = try await bench.enroll("user \(index)", #","app-version":"\#(version).0""#)
        }
        let versions = await count(bench, "all").json["app-versions"]?.elements
        #expect(versions?.count == AudienceCount.versionLimit)
        #expect(versions?.first == ["version": "1.0", "installations": 2])
        await bench.stop()
    }

    @Test(
        arguments: [
            (#"{}"#, "/where", "is missing"), (#"{"where":""}"#, "/where", "not empty"),
            (#"{"where":["vip"]}"#, "/where", "a string"), (#"{"where":"!vip"}"#, "/where", "only excludes"),
            (#"{"where":"a b"}"#, "/where", "where: at character 3: expected && or ||"),
            (#"{"where":"a","tag":"b"}"#, "/tag", "is unknown"),
            (#"{"where":"a","push-type":"voip"}"#, "/push-type", "must be alert, background"),
            (#"{"where":"a","push-type":"liveactivity"}"#, "/attributes-type", "is missing"),
            (#"{"where":"a","push-type":"controls"}"#, "/control", "is missing"),
            (#"{"where":"a","control":"lamp"}"#, "/control", "must be left out unless push-type is controls"),
            (#"{"where":"a","attributes-type":"A"}"#, "/attributes-type", "unless push-type is liveactivity"),
        ] as [(String, String, String)]
    )
    func `a mistake in a count is named with its rule`(body: String, pointer: String, message: String) async throws {
        let bench = try await EnrollmentBench()
        let answer = await bench.relay.ask("POST", Self.path, body)
        #expect(answer.status == 400 && answer.text.contains(message), "\(answer.text)")
        #expect(answer.json["errors"]?.elements?.first?["pointer"]?.stringValue == pointer, "\(answer.text)")
        await bench.stop()
    }

    @Test func `a count needs a key of the app with the scope send`() async throws {
        let bench = try await EnrollmentBench()
        let phone = try await bench.enroll()
        for (key, status) in [(EnrollmentBench.key, 403), ("mrt_rides", 403), (phone.secret, 401)] {
            let answer = await bench.relay.ask("POST", Self.path, #"{"where":"all"}"#, key: key)
            #expect(answer.status == status, "\(answer.text)")
        }
        await bench.stop()
    }

    @Test(arguments: [("POST", path, #"{"where":"all"}"#), ("GET", "/v1/apps/orders/installations", "")])
    func `a count or list of a caller waits for the caller's others`(
        method: String,
        path: String,
        body: String
    ) async throws {
        let own = try RelayConfiguration.Caller(key: "mrt_own", apps: ["orders"], scopes: [.send, .installations])
        let other = try RelayConfiguration.Caller(key: "mrt_other", apps: ["orders"], scopes: [.send, .installations])
        let bench = try await RelayBench {
            $0.callers += [own, other]
            $0.loadLimits.answerTime = 600_000
        }
        let longReads = await bench.relay.context.longReads
        await longReads.begin(of: "own")
        let isAnswered = Mutex(false)
        async let answer = {
            let answer = await bench.ask(method, path, body, key: "mrt_own")
            isAnswered.withLock { $0 = true }
            return answer.status
        }()
        for _ in 0..<10 { #expect(await bench.ask(method, path, body, key: "mrt_other").status == 200) }
        #expect(!isAnswered.withLock { $0 })
        longReads.end(of: "own")
        #expect(await answer == 200)
        await bench.stop()
    }

    @Test func `a count ends at its limit and says that it is not complete`() async throws {
        let bench = try await EnrollmentBench()
        for index in 0..<3 { _ = try await bench.enroll("user \(index)") }
        let context = await bench.relay.relay.context
        let app = try #require(context.configuration.apps.first { $0.name == "orders" })
        for (limit, matched, isComplete) in [(2, 2, false), (3, 3, false), (4, 3, true)] as [(Int, Int64, Bool)] {
            let body = JSONField<APIProblem>(["where": "all"], named: "the body")
            var count = try AudienceCount(body, of: app)
            try await count.run(in: context, for: "back end", limit: limit)
            #expect(count.json["matched"]?.integerValue == matched && count.json["complete"] == .bool(isComplete))
        }
        await bench.stop()
    }
}

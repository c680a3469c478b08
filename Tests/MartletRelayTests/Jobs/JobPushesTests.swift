// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletHTTPServer
import MartletOutbox
import MartletSimulator
import TestSupport
import Testing

@testable import MartletRelay

/// The list of a job's pushes, over the API.
@Suite(.timeLimit(.minutes(10))) struct JobPushesTests {
    private static let path = "/v1/apps/orders/jobs/"

    /// A relay with three phones, and the path of an ended job whose push to the second one was refused.
    private func benchWithJob() async throws -> (bench: EnrollmentBench, path: String, phones: [String]) {
        let bench = try await EnrollmentBench()
        await bench.relay.apple.unregister(try DeviceToken(hex: "a2"))
        var phones: [String] = []
        for (number, user) in ["anna", "bert", "cleo"].enumerated() {
            phones.append(try await bench.enroll(user, #","tokens":{"device":"a\#(number + 1)"}"#).id)
        }
        let answer = await bench.send(to: #"{"all":true}"#)
        let id = try #require(answer.json["id"]?.stringValue, "\(answer.text)")
        let path = Self.path + id
        try await eventually("the job ends") { await bench.relay.ask("GET", path).json["ended-at"] != nil }
        return (bench, path + "/pushes", phones)
    }

    private func phones(of answer: RelayBench.Answer) -> [String] {
        (answer.json["pushes"]?.elements ?? []).compactMap { $0["installation"]?.stringValue }
    }

    @Test func `the pushes of a job show which phones were not reached`() async throws {
        let (bench, path, phones) = try await benchWithJob()
        let all = await bench.relay.ask("GET", path)
        #expect(all.status == 200 && self.phones(of: all) == phones, "\(all.text)")
        let refused = await bench.relay.ask("GET", path + "?state=refused")
        let push = try #require(refused.json["pushes"]?.elements?.first, "\(refused.text)")
        #expect(self.phones(of: refused) == [phones[1]] && push["state"] == "refused" && push["ended-at"] != nil)
        #expect(push["apns"]?["reason"] == "Unregistered" && push["cause"] != nil)
        let id = try #require(push["id"]?.stringValue)
        #expect(await bench.relay.ask("GET", "/v1/pushes/" + id).json["state"] == "refused")
        let waiting = await bench.relay.ask("GET", path + "?state=waiting")
        #expect(self.phones(of: waiting) == [] && waiting.json["cursor"] == 0)
        // The key does not have the scope `installations`.
        for name in ["user", "anna", "payload", "token\":", "\"a1\""] { #expect(!all.text.contains(name), "\(name)") }
        await bench.stop()
    }

    @Test func `the pushes of a job are read page by page`() async throws {
        let (bench, path, phones) = try await benchWithJob()
        var found: [String] = []
        var cursor: Int64 = 0
        for count in [1, 1, 1, 0] {
            let page = await bench.relay.ask("GET", path + "?limit=1&after=\(cursor)")
            let own = self.phones(of: page)
            #expect(own.count == count, "\(page.text)")
            found += own
            cursor = try #require(page.json["cursor"]?.integerValue)
        }
        #expect(found == phones)
        await bench.stop()
    }

    @Test func `only a key of the app for installations reads the users`() async throws {
        let key = EnrollmentBench.key
        let scopes: Set<RelayConfiguration.Caller.Scope> = [.send, .read, .installations]
        let own = try RelayConfiguration.Caller(key: key, apps: ["orders"], scopes: scopes)
        let elsewhere = try RelayConfiguration.Caller(key: "rides", apps: ["rides"], scopes: scopes)
        let bench = try await RelayBench { $0.callers += [own, elsewhere] }
        let line = #"{"user":"anna","tokens":{"device":"a1"}}"#
        #expect(await bench.ask("POST", "/v1/apps/orders/installations", line, key: key).json["added"] == 1)
        let body = #"{"to":{"all":true},\#(EnrollmentBench.alert)}"#
        let job = await bench.ask("POST", "/v1/pushes", body, key: key)
        let id = try #require(job.json["id"]?.stringValue, "\(job.text)")
        let path = Self.path + id + "/pushes"
        try await eventually("the push is listed") {
            await bench.ask("GET", path, key: key).json["pushes"]?.elements?.first?["user"] == "anna"
        }
        let reader = await bench.ask("GET", path)
        #expect(reader.json["pushes"]?.elements?.count == 1 && !reader.text.contains("anna"), "\(reader.text)")
        let refused = await bench.ask("GET", path, key: "rides")
        #expect(refused.status == 403 && refused.text.contains("this key is not for the app orders"))
        await bench.stop()
    }

    @Test func `a list of pushes is refused with the reason`() async throws {
        let (bench, path, _) = try await benchWithJob()
        for (query, text) in [
            ("?state=failed", "state must be one of waiting, delivered, refused, expired, cancelled, superseded, dead"),
            ("?limit=1001", "limit"), ("?after=-1", "after"), ("?before=1", "unknown parameter"),
        ] {
            let answer = await bench.relay.ask("GET", path + query)
            #expect(answer.status == 400 && answer.text.contains(text), "\(answer.text)")
        }
        let unknown = Self.path + "123e4567-e89b-42d3-a456-426655440000/pushes"
        #expect(await bench.relay.ask("GET", unknown).status == 404)
        // Neither key has the scope `read`.
        for key in ["mrt_rides", EnrollmentBench.key] {
            #expect(await bench.relay.ask("GET", path, key: key).status == 403)
        }
        await bench.stop()
    }
}

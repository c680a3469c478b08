// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import MartletCore
import MartletOutbox
import MartletServer
import MartletSimulator
import MartletTransport
import TestSupport
import Testing

@testable import MartletRelay

/// The identifier and the state that each answer over the APNs protocol has.
@Suite(.timeLimit(.minutes(10))) struct AnswerStateTests {
    private static let id = "123e4567-e89b-42d3-a456-426655440000"
    private static let device = "/3/device/5d3a6a1c8f9a42d6"

    /// Sends requests as `RelayBench.callerKey`, one after the other over one connection.
    private struct Client {
        let asker: HTTP2Asker

        init(_ bench: RelayBench) async throws {
            asker = try HTTP2Asker(port: try #require(await bench.relay.ports[.production]))
        }

        func push(
            _ path: String = AnswerStateTests.device,
            _ more: [String: String] = [:],
            method: String = "POST",
            body: String = #"{"aps":{"alert":"Hi"}}"#
        ) async throws -> HTTP2Asker.Answer {
            var all = [
                "authorization": "bearer \(RelayBench.callerKey)", "apns-topic": "com.example.orders",
                "apns-push-type": "alert",
            ]
            all.merge(more) { $1 }
            var fields = HTTPFields()
            for (name, value) in all where !value.isEmpty { fields.append(name, value) }
            return try await asker.answer(method, path, fields, body: body)
        }
    }

    @Test func `a repeated identifier has the same state in the answer`() async throws {
        let bench = try await RelayBench()
        let client = try await Client(bench)
        let upperCase = ["apns-id": Self.id.uppercased()]
        for more in [upperCase, upperCase, ["apns-id": Self.id]] {
            let answer = try await client.push(Self.device, more)
            #expect(answer.status == 200 && answer.fields["x-martlet-state"] == "delivered")
            #expect(answer.fields["apns-id"] == more["apns-id"])
        }
        #expect(await bench.apple.pushes.map(\.id) == [Self.id])
        let other = try await client.push(Self.device, upperCase, body: #"{"aps":{"alert":"Bye"}}"#)
        #expect(other.status == 400 && other.fields["x-martlet-state"] == "rejected")
        await client.asker.close()
        await bench.stop()
    }

    @Test func `an answer says that the push is stored when Apple is slow`() async throws {
        let bench = try await RelayBench(faults: [SimulatedAPNs.Fault(.hang)]) { $0.answerTime = .milliseconds(20) }
        let client = try await Client(bench)
        for more in [["apns-id": Self.id], ["apns-id": Self.id], ["prefer": "respond-async"]] {
            let answer = try await client.push(Self.device, more)
            #expect(answer.status == 200 && answer.fields["x-martlet-state"] == "accepted")
        }
        await client.asker.close()
        await bench.relay.stop(within: .milliseconds(10))
        await bench.apple.stop()
    }

    /// The client would otherwise wait for longer than the test may take.
    @Test func `a push of a paused lane is answered at once`() async throws {
        let bench = try await RelayBench { $0.answerTime = .seconds(3_600) }
        let client = try await Client(bench)
        #expect(await bench.ask("POST", "/v1/apps/orders/lanes/production/pause").status == 200)
        let held = try await client.push()
        #expect(held.status == 200 && held.fields["x-martlet-state"] == "accepted")
        #expect(await bench.apple.pushCount == 0)
        #expect(await bench.ask("POST", "/v1/apps/orders/lanes/production/resume").status == 200)
        let delivered = try await client.push()
        #expect(delivered.status == 200 && delivered.fields["x-martlet-state"] == "delivered")
        await client.asker.close()
        await bench.stop()
    }

    @Test func `a push of a lane that is down is answered at once`() async throws {
        let fault = SimulatedAPNs.Fault(.respond(.serviceUnavailable, retryAfter: 120))
        let bench = try await RelayBench(faults: [fault]) { $0.answerTime = .seconds(3_600) }
        let client = try await Client(bench)
        // Apple's third error in a row ends the attempts of the lane for two minutes.
        for number in 0..<3 {
            let answer = try await client.push("/3/device/5d3a6a1\(number)", ["prefer": "respond-async"])
            #expect(answer.status == 200 && answer.fields["x-martlet-state"] == "accepted")
        }
        let lane = Lane(app: "orders", environment: .production)
        try await eventually("the lane is down", in: bench.parts.dispatcher) { $0.machine.lanes[lane]?.outage != nil }
        let held = try await client.push()
        #expect(held.status == 200 && held.fields["x-martlet-state"] == "accepted")
        await client.asker.close()
        await bench.relay.stop(within: .milliseconds(10))
        await bench.apple.stop()
    }

    @Test(arguments: [(APNsReason.internalServerError, 500), (.serviceUnavailable, 503), (.tooManyRequests, 429)])
    func `a push that expires after an error of Apple's is answered with the error`(
        reason: APNsReason,
        status: Int
    ) async throws {
        let bench = try await RelayBench(faults: [SimulatedAPNs.Fault(.respond(reason, retryAfter: 120))])
        let client = try await Client(bench)
        for _ in 0..<2 {
            let answer = try await client.push(Self.device, ["apns-expiration": "0", "apns-id": Self.id])
            #expect(answer.status == status && answer.fields["x-martlet-state"] == "expired")
            #expect(answer.body.contains(reason.rawValue), "\(answer.body)")
        }
        await client.asker.close()
        await bench.stop()
    }

    @Test(arguments: ["", "42", "{123e4567-e89b-42d3-a456-426655440000}"])
    func `a malformed identifier is answered with another one`(malformed: String) async throws {
        let bench = try await RelayBench()
        let asker = try HTTP2Asker(port: try #require(await bench.relay.ports[.production]))
        for (path, name) in [(Self.device, "apns-id"), ("/4/broadcasts/apps/com.example.orders", "apns-request-id")] {
            var fields: HTTPFields = ["authorization": "bearer \(RelayBench.callerKey)"]
            for (name, value) in [("apns-topic", "com.example.orders"), (name, malformed)] {
                fields.append(name, value)
            }
            let answer = try await asker.answer("POST", path, fields, body: #"{"aps":{"alert":"Hi"}}"#)
            #expect(answer.status == 400 && answer.body.contains("BadMessageId"), "\(answer)")
            let id = answer.fields.first { $0.name == name }?.value
            #expect(id.flatMap { try? APNsID($0) } != nil, "\(answer)")
        }
        await asker.close()
        await bench.stop()
    }

    @Test func `an answer distinguishes Apple's refusal from the relay's`() async throws {
        let bench = try await RelayBench()
        await bench.apple.unregister(
            try DeviceToken(hex: "dead00ff"),
            since: Date(timeIntervalSince1970: 1_790_000_000)
        )
        let client = try await Client(bench)
        for state in ["refused", "suppressed"] {
            let answer = try await client.push("/3/device/dead00ff")
            #expect(answer.status == 410 && answer.fields["x-martlet-state"] == state)
            #expect(answer.body.contains("1790000000000") && answer.fields["apns-id"]?.count == 36)
        }
        await client.asker.close()
        await bench.stop()
    }

    @Test func `each refusal of the relay's has an identifier, which the client may have chosen`() async throws {
        let bench = try await RelayBench()
        let client = try await Client(bench)
        let channels = "/1/apps/com.example.orders/channels"
        let broadcast = "/4/broadcasts/apps/com.example.orders"
        for (path, more, method, status) in [
            (Self.device, ["authorization": ""], "POST", 403),
            (Self.device, ["authorization": "bearer x"], "POST", 403),
            (Self.device, ["apns-topic": "com.example.other"], "POST", 400),
            (Self.device, ["apns-topic": ""], "POST", 400),
            (Self.device, [:], "GET", 405), ("/3/device/xyz", [:], "POST", 400),
            (Self.device, ["apns-priority": "7"], "POST", 400),
            (broadcast, ["authorization": "bearer x"], "POST", 403), (broadcast, [:], "POST", 400),
            (channels, ["authorization": "bearer x"], "GET", 403),
        ] {
            let answer = try await client.push(path, more, method: method)
            #expect(answer.status == status && answer.fields["x-martlet-state"] == "rejected", "\(path): \(answer)")
            let name: StaticString = path.hasPrefix("/3") ? "apns-id" : "apns-request-id"
            let id = try #require(answer.fields[name], "\(path): \(more)")
            #expect((try? APNsID(id)) != nil)
            let chosen = try await client.push(path, more.merging(["\(name)": Self.id]) { $1 }, method: method)
            #expect(chosen.fields[name] == Self.id)
        }
        #expect(await bench.apple.pushCount == 0)
        await client.asker.close()
        await bench.stop()
    }

    @Test func `the answer to a request about channels has the state forwarded`() async throws {
        let bench = try await RelayBench()
        let client = try await Client(bench)
        let body = #"{"message-storage-policy":0,"push-type":"LiveActivity"}"#
        let made = try await client.push(
            "/1/apps/com.example.orders/channels",
            ["apns-request-id": Self.id.uppercased()],
            body: body
        )
        #expect(made.status == 201 && made.fields["x-martlet-state"] == "forwarded")
        #expect(made.fields["apns-request-id"] == Self.id.uppercased() && made.fields["apns-channel-id"] != nil)
        await client.asker.close()
        await bench.stop()
    }

    @Test(arguments: [
        (Outcome(.expired), 503, "ServiceUnavailable"), (Outcome(.cancelled), 503, "ServiceUnavailable"),
        (Outcome(.superseded), 503, "ServiceUnavailable"),
        (Outcome(.expired, status: 503, reason: "ServiceUnavailable"), 503, "ServiceUnavailable"),
        (Outcome(.expired, status: 429, reason: "TooManyRequests"), 429, "TooManyRequests"),
        (Outcome(.expired, reason: "NoAnswer", unknownTries: 1), 503, "ServiceUnavailable"),
        (Outcome(.dead, status: 429, reason: "TooManyRequests"), 429, "TooManyRequests"),
        (Outcome(.dead, reason: "NoAnswer"), 503, "ServiceUnavailable"),
        (Outcome(.refused, status: 400, reason: "BadTopic"), 400, "BadTopic"),
    ])
    func `a push that has ended otherwise is answered with its state`(outcome: Outcome, status: Int, reason: String?) {
        let answer = APNsResponse.ended(outcome)
        #expect(answer.status == status && answer.reason?.rawValue == reason)
        #expect(answer.fields.contains { $0.name == "x-martlet-state" && $0.value == outcome.state.rawValue })
    }

    @Test func `the article describes each state`() throws {
        let article = try String(
            contentsOfFile: "Sources/MartletRelay/Documentation.docc/RunTheRelay.md",
            encoding: .utf8
        )
        for state in AnswerState.allCases { #expect(article.contains("| `\(state.rawValue)` |"), "\(state)") }
    }
}

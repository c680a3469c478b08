// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import MartletCore
import MartletOutbox
import MartletSimulator
import MartletTransport
import TestSupport
import Testing

@testable import MartletRelay

/// Rules about headers and the badge at each entrance: library, relay in JSON, relay over the APNs protocol, simulator,
/// and the function of the database.
@Suite(.timeLimit(.minutes(10))) struct RuleEntranceTests {
    /// Headers or a payload that break one rule.
    struct Headers: Sendable, CustomTestStringConvertible {
        var rule: String
        var type = "alert"
        var payload = #"{"aps":{"alert":"Hi"}}"#
        var priority: Int?
        var expiration: Int64?
        /// The answer to a push that is not sent; nil for one that is sent with a note.
        var reason: APNsReason?
        /// Whether APNs accepts the push.
        var isAccepted = true

        var testDescription: String { rule }

        var notification: PushNotification {
            .opaque(
                Array(payload.utf8),
                pushType: PushType(rawValue: type),
                priority: priority.map(PushNotification.Priority.init(rawValue:)),
                expiration: expiration.map(PushNotification.Expiration.init(secondsSince1970:))
            )
        }
    }

    private static let wake = #"{"aps":{"content-available":1}}"#

    static let cases = [
        Headers(rule: "expiration-past", expiration: 45),
        Headers(rule: "badge-negative", payload: #"{"aps":{"alert":"Hi","badge":-1}}"#),
        Headers(rule: "background-priority-missing", type: "background", payload: wake),
        Headers(rule: "expiration-in-milliseconds", expiration: 1_795_874_187_000, reason: .badExpirationDate),
        Headers(rule: "priority-unknown", priority: 7, reason: .badPriority, isAccepted: false),
        Headers(
            rule: "background-priority-immediate",
            type: "background",
            payload: wake,
            priority: 10,
            reason: .badPriority,
            isAccepted: false
        ),
    ]

    @Test(arguments: cases) func `the library describes the push, and sends it or not`(_ headers: Headers) async throws
    {
        let apple = try await SimulatedAPNs.start()
        let client = try PushClient(
            await apple.endpoint,
            authentication: .token(.ephemeral()),
            configuration: apple.clientConfiguration
        )
        let described = try client.describe(headers.notification, to: RelayBench.token, topic: "com.example.orders")
        #expect(described.findings.map(\.rule) == [headers.rule])
        var error: APNsError?
        do throws(APNsError) {
            try await client.send(headers.notification, to: RelayBench.token, topic: "com.example.orders")
        } catch let failure {
            error = failure
        }
        let expected: APNsError.Code? = headers.reason == nil ? nil : .invalid
        #expect(error?.code == expected, "\(String(describing: error))")
        await client.close()
        await apple.stop()
    }

    @Test(arguments: cases) func `the simulator answers as APNs, with the finding`(_ headers: Headers) async throws {
        let apple = try await SimulatedAPNs.start()
        var configuration = apple.clientConfiguration
        configuration.checksBeforeSending = false
        let client = try PushClient(
            await apple.endpoint,
            authentication: .token(.ephemeral()),
            configuration: configuration
        )
        _ = try? await client.send(headers.notification, to: RelayBench.token, topic: "com.example.orders")
        let push = try #require(await apple.pushes.first)
        #expect((push.status == 200) == headers.isAccepted)
        #expect(push.findings.map(\.rule).contains(headers.rule), "\(push.findings)")
        await client.close()
        await apple.stop()
    }

    @Test(arguments: cases) func `the relay answers in JSON`(_ headers: Headers) async throws {
        let bench = try await RelayBench()
        var members = #""to":"5d3a6a1c","push-type":"\#(headers.type)","payload":\#(headers.payload)"#
        if let priority = headers.priority { members += #","priority":\#(priority)"# }
        if let expiration = headers.expiration { members += #","expiration":\#(expiration)"# }
        let answer = await bench.ask("POST", "/v1/pushes", "{\(members)}")
        if let reason = headers.reason {
            #expect(answer.status == 400 && answer.text.contains("(\(reason))"), "\(answer.text)")
        } else {
            let notes = answer.json["notes"]?.elements?.compactMap(\.stringValue) ?? []
            #expect(answer.status == 202 && notes.count == 1, "\(answer.text)")
        }
        let line = await bench.ask("POST", "/v1/pushes", #"{"to":"5d3a6a1c","payload":{"aps":{"alert":"Hi"}}}"#)
        #expect(line.status == 202 && line.json["notes"] == nil, "\(line.text)")
        await bench.stop()
    }

    @Test(arguments: cases) func `the relay answers over the APNs protocol`(_ headers: Headers) async throws {
        let bench = try await RelayBench()
        let asker = try HTTP2Asker(port: try #require(await bench.relay.ports[.production]))
        var fields: HTTPFields = [
            "authorization": "bearer \(RelayBench.callerKey)", "apns-topic": "com.example.orders",
            "apns-push-type": headers.type,
        ]
        if let priority = headers.priority { fields.append("apns-priority", "\(priority)") }
        if let expiration = headers.expiration { fields.append("apns-expiration", "\(expiration)") }
        let answer = try await asker.answer("POST", "/3/device/5d3a6a1c", fields, body: headers.payload)
        if let reason = headers.reason {
            #expect(answer.status == 400 && answer.body.contains(reason.rawValue), "\(answer)")
            #expect(await bench.apple.pushCount == 0)
        } else {
            #expect(answer.status == 200 && answer.fields["x-martlet-notes"] == headers.rule, "\(answer)")
        }
        await asker.close()
        await bench.stop()
    }

    /// Parameters of `martlet.enqueue` that break a rule, as SQL, and the reason in the outcome.
    private static let parameters: [(values: [String: String], reason: APNsReason)] = [
        (["push_type": "'silent'"], .invalidPushType),
        (["push_type": "'background'"], .badPriority),
        (["push_type": "'alert'", "topic": "'com.example.orders.push-type.liveactivity'"], .topicDisallowed),
        (["topic": "'com example'"], .badTopic),
        (["collapse_id": "E'a\\nb'"], .badCollapseID),
        (["expires_at": "to_timestamp(1795874187000)"], .badExpirationDate),
        (["channel": "'AAAA'", "token": "NULL"], .invalidPushType),
        (["channel": "'AAAA'", "token": "NULL", "push_type": "'liveactivity'"], .badExpirationDate),
        (
            ["channel": "'?'", "token": "NULL", "push_type": "'liveactivity'", "expires_at": "now() + '1 hour'"],
            .badChannelID
        ),
    ]

    @Test func `the relay refuses the pushes of back ends in SQL`() async throws {
        let server = try await PostgreSQLServer.shared.value
        let database = try await server.makeDatabase()
        let address = server.address(of: database)
        try await OutboxSchema.create(in: address)
        let bench = try await RelayBench(data: .database(address))
        // Afterwards the relay has registered its app.
        #expect(await bench.push().json["state"] == "delivered")
        for (values, reason) in Self.parameters {
            let valid = [
                "app": "'orders'", "payload": #"'{"aps":{"alert":"Hi"}}'"#, "topic": "'com.example.orders'",
                "token": "'5d3a6a1c'",
            ]
            let list = valid.merging(values) { $1 }.map { "\($0) => \($1)" }.joined(separator: ", ")
            let id = try await server.ask("SELECT martlet.enqueue(\(list))", of: database)
                .trimmingCharacters(in: .whitespacesAndNewlines)
            var answer = RelayBench.Answer(status: 0, text: "")
            try await eventually("the push has ended") {
                answer = await bench.ask("GET", "/v1/pushes/\(id)")
                return answer.json["apns"] != nil
            }
            #expect(answer.json["state"] == "refused", "\(values)")
            #expect(answer.json["apns"]?["reason"]?.stringValue == reason.rawValue, "\(values)")
            #expect(answer.json["cause"] == "the headers break a rule, so the push was not sent", "\(values)")
        }
        #expect(await bench.apple.pushCount == 1)
        await bench.stop()
    }

    @Test func `the answer to a push that is not stored has no notes`() async throws {
        let bench = try await RelayBench(faults: [SimulatedAPNs.Fault(.hang)]) { $0.outbox.limit = 1 }
        async let waiting = bench.push()
        try await eventually("the outbox is full", in: bench.parts.intake) { $0.waiters.count == 1 }
        let asker = try HTTP2Asker(port: try #require(await bench.relay.ports[.production]))
        let fields: HTTPFields = [
            "authorization": "bearer \(RelayBench.callerKey)", "apns-topic": "com.example.orders",
            "apns-push-type": "background",
        ]
        let answer = try await asker.answer("POST", "/3/device/5d3a6a1c", fields, body: Self.wake)
        #expect(answer.status == 503 && answer.fields["x-martlet-notes"] == nil, "\(answer)")
        await asker.close()
        await bench.apple.stop()
        await bench.relay.stop(within: .zero)
        _ = await waiting
    }
}

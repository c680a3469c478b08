// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import MartletCore
import MartletServer
import MartletTransport
import Testing

@testable import MartletSimulator

/// Requests that break one rule each, or just do not, with the answer that Apple documents.
@Suite struct ConformanceTests {
    /// A request that differs from a valid one, with the answer of APNs.
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var path = "/3/device/5d3a6a1c8f9a42d6"
        var method = "POST"
        /// Fields that replace those of the good request; nil leaves one out.
        var fields: [String: String?] = [:]
        var moreFields: [(String, String)] = []
        var payload = #"{"aps":{"alert":"Hello"}}"#
        var status = 200
        var reason: APNsReason?
    }

    /// The time of the requests in seconds since 1970.
    static let now: Int64 = 1_790_000_000

    @Test(arguments: cases) func `a request has the status and reason of APNs`(_ test: Case) throws {
        var bench = try Bench()
        let answer = bench.answer(to: test)
        #expect(answer.status == test.status, "\(answer)")
        #expect(answer.reason == test.reason)
        #expect((answer.finding?.reason ?? answer.reason) == answer.reason)
    }

    @Test func `no two requests have the same name, and there are many`() {
        #expect(Set(Self.cases.map(\.testDescription)).count == Self.cases.count)
        #expect(Self.cases.count >= 150, "\(Self.cases.count)")
    }

    /// A evaluator with keys, devices and a channel, and one connection to it.
    struct Bench {
        static let key = Result { () throws(APNsError) in
            try SigningKey.ephemeral(keyID: "KEY0000001", teamID: "TEAM000001")
        }
        var evaluator: RequestEvaluator
        var connection = RequestEvaluator.ConnectionState()
        var generator = SplitMix64(state: 1)
        var now = ConformanceTests.now
        let channel: String

        init(_ relaxedRules: RelaxedRules = []) throws {
            evaluator = RequestEvaluator(environment: .development, relaxedRules: relaxedRules)
            let key = try Self.key.get()
            try evaluator.tokens.register(
                publicKeyPEM: key.publicKeyPEM(),
                keyID: key.keyID,
                teamID: key.teamID,
                scope: .team()
            )
            evaluator.devices.unregister(try DeviceToken(hex: "dead"), since: 1_780_000_000_123)
            evaluator.devices.register(try DeviceToken(hex: "0f1e"), for: ["com.example.other"], in: .development)
            evaluator.devices.register(try DeviceToken(hex: "a1b2"), for: ["com.example.app"], in: .production)
            let made = evaluator.channels.create(for: "com.example.app", storing: .nothing, using: &generator)
            channel = try #require(made).rawValue
        }

        static func authorization(age: Int64 = 0, of key: SigningKey? = nil) -> String {
            let token = try? (key ?? Self.key.get()).token(issuedAt: Date(secondsSince1970: ConformanceTests.now - age))
            return "bearer " + String(decoding: token ?? [], as: UTF8.self)
        }

        mutating func answer(to test: Case) -> RequestEvaluator.Answer {
            var fields: [String: String?] = [
                "authorization": Self.authorization(), "apns-topic": "com.example.app", "apns-push-type": "alert",
            ]
            if !test.path.hasPrefix("/3/") {
                fields["apns-topic"] = nil as String?
                fields["apns-push-type"] = nil as String?
            }
            fields.merge(test.fields) { $1 }
            var all: HTTPFields = [":method": test.method, ":scheme": "https", ":path": test.path]
            for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
                if let value { all.append(name, value.replacing("CHANNEL", with: channel)) }
            }
            for (name, value) in test.moreFields { all.append(name, value) }
            let request = APNsRequest(all, body: Array(test.payload.utf8))
            return evaluator.answer(to: request, over: &connection, at: now * 1_000, using: &generator)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import MartletCore
import MartletOutbox
import MartletServer
import MartletTransport
import Testing

@testable import MartletRelay
@testable import MartletSimulator

/// The relay and the simulator answer a request with several errors alike, so both check in the same order.
@Suite struct CheckOrderTests {
    /// The errors of a request.
    struct Errors: OptionSet, Sendable {
        let rawValue: Int

        static let method = Errors(rawValue: 1)
        static let repeatedHeader = Errors(rawValue: 2)
        static let requestID = Errors(rawValue: 4)
        static let recipient = Errors(rawValue: 8)
        static let priority = Errors(rawValue: 16)
        static let payload = Errors(rawValue: 32)
        static let topic = Errors(rawValue: 64)
        static let allCombinations = 0..<128
    }

    private let ingress: APNsIngress
    private let caller = Callers.Caller(name: "a", apps: ["orders"], scopes: [.send], tokenIssuedAt: nil)
    private var evaluator = RequestEvaluator(environment: .development)
    private var generator = SplitMix64(state: 1)
    private let channel: ChannelID
    private let authorization: String
    private var connection = RequestEvaluator.ConnectionState()

    init() throws {
        let key = try SigningKey.ephemeral(keyID: "KEY0000001", teamID: "TEAM000001")
        let app = RelayConfiguration.App(name: "orders", bundleIDs: ["com.example.orders"], key: key)
        let token = try key.token(issuedAt: Date(secondsSince1970: 1_790_000_000))
        authorization = "bearer " + String(decoding: token, as: UTF8.self)
        let callers = try Callers(RelayConfiguration(data: .file(""), apps: [app], listeners: [:]))
        ingress = APNsIngress(callers: callers, environment: .development)
        let made = evaluator.channels.create(for: "com.example.orders", storing: .nothing, using: &generator)
        channel = try #require(made)
    }

    private mutating func expectSameReason(_ fields: HTTPFields, _ errors: Errors) {
        var fields = fields
        fields.append("authorization", authorization)
        if errors.contains(.repeatedHeader) { fields.append("apns-priority", "10") }
        if errors.contains(.requestID) { fields.append("apns-request-id", "1") }
        let body = errors.contains(.payload) ? [] : Array(#"{"aps":{"alert":"Hi"}}"#.utf8)
        let request = APNsRequest(fields, body: body)
        let id = APNsID(randomBits: (1, 2))
        let reason: APNsReason? =
            switch ingress.decision(on: request, from: caller, id: id, at: 1_790_000_000_000, hasLane: { _ in true }) {
            case .refused(let reason), .notPermitted(let reason, _): reason
            case .push, .channels: nil
            }
        let answer = evaluator.answer(to: request, over: &connection, at: 1_790_000_000_000, using: &generator)
        #expect(reason == answer.reason, "errors \(errors.rawValue)")
    }

    @Test mutating func `pushes are checked in the same order`() {
        for errors in Errors.allCombinations.map(Errors.init(rawValue:)) {
            var fields: HTTPFields = [
                ":method": errors.contains(.method) ? "PUT" : "POST",
                ":path": errors.contains(.recipient) ? "/3/device/martlet" : "/3/device/5d3a6a1c",
                "apns-push-type": "alert", "apns-priority": errors.contains(.priority) ? "7" : "10",
            ]
            if !errors.contains(.topic) { fields.append("apns-topic", "com.example.orders") }
            expectSameReason(fields, errors)
        }
    }

    @Test mutating func `broadcasts are checked in the same order`() {
        for errors in Errors.allCombinations.map(Errors.init(rawValue:)) where !errors.contains(.topic) {
            var fields: HTTPFields = [
                ":method": errors.contains(.method) ? "PUT" : "POST",
                ":path": "/4/broadcasts/apps/com.example.orders", "apns-push-type": "liveactivity",
                "apns-expiration": "0", "apns-priority": errors.contains(.priority) ? "7" : "10",
            ]
            if !errors.contains(.recipient) { fields.append("apns-channel-id", channel.rawValue) }
            expectSameReason(fields, errors)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Martlet

/// Every reason of the reference table, answered on every path where Apple gives it.
@Suite(.timeLimit(.minutes(10))) struct ReasonTests {
    struct Row: Decodable, Sendable, CustomTestStringConvertible {
        var status: Int
        var reason: String
        var scope: [String]
        var retry: String
        var dropToken: Bool
        var testDescription: String { "\(status) \(reason)" }
    }

    static let rows: [Row] = {
        let file = "../shared/reference/apns-reasons.json"
        guard let data = FileManager.default.contents(atPath: file) else {
            print("NOT TESTED: \(file) is not there, so no reason is compared with Apple's table")
            return []
        }
        return (try? JSONDecoder().decode([Row].self, from: data)) ?? []
    }()

    @Test(arguments: rows) func `an error agrees with the table of reasons`(row: Row) async throws {
        let timestamp: Int64 = 1_790_000_000_000
        let body =
            row.status == 410
            ? #"{"reason":"\#(row.reason)","timestamp":\#(timestamp)}"# : #"{"reason":"\#(row.reason)"}"#
        for scope in row.scope {
            let server = try await ScriptedServer.start([.answer(row.status, body: body)])
            let client = try PushClient(
                await server.endpoint,
                authentication: .token(.ephemeral()),
                configuration: .init(retry: .none)
            )
            let error = await #expect(throws: APNsError.self) {
                switch scope {
                case "device":
                    try await client.send(.alert("Hello"), to: DeviceToken(hex: "5d3a"), topic: "com.example.app")
                case "broadcast":
                    try await client.broadcast(.end(), to: "YQ==", topic: "com.example.app")
                default:
                    _ = try await client.channels(of: "com.example.app").list()
                }
            }
            #expect(error?.status == row.status)
            #expect(error?.reason?.rawValue == row.reason.filter { $0 != " " })
            #expect(error?.reason?.status == row.status, "the reason is known")
            #expect(error?.code == .refused && error?.outcome == .answered)
            #expect(error?.unregisteredAt == (row.status == 410 ? Date(millisecondsSince1970: timestamp) : nil))
            let advice: [String: APNsReason.Advice] = [
                "no": .fixFirst, "backoff": .backOff, "refresh-token": .renewToken, "reconnect": .reconnect,
            ]
            #expect(error?.reason?.advice == advice[row.retry])
            #expect(error?.reason?.endsDeviceToken == row.dropToken)
            await client.close()
            await server.stop()
        }
    }

    @Test func `a Retry-After may be a date`() async throws {
        let server = try await ScriptedServer.start([
            .answer(
                429,
                body: #"{"reason":"TooManyRequests"}"#,
                fields: [("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT"), ("date", "Sun, 06 Nov 1994 08:49:37 GMT")]
            )
        ])
        let client = try PushClient(
            await server.endpoint,
            authentication: .token(.ephemeral()),
            configuration: .init(retry: .none)
        )
        let error = await #expect(throws: APNsError.self) {
            try await client.send(.alert("Hello"), to: DeviceToken(hex: "5d3a"), topic: "com.example.app")
        }
        #expect(error?.retryAfter == .seconds(30))
        await client.close()
        await server.stop()
    }

    @Test func `a clock that is wrong is named when APNs refuses the token for it`() async throws {
        let server = try await ScriptedServer.start([
            .answer(
                403,
                body: #"{"reason":"InvalidProviderToken"}"#,
                fields: [("date", "Sun, 06 Nov 1994 08:49:37 GMT")]
            )
        ])
        let client = try PushClient(
            await server.endpoint,
            authentication: .token(.ephemeral()),
            configuration: .init(retry: .none),
            clock: WallClock { 784_111_777 + 7_200 }
        )
        let events = client.events()
        let error = await #expect(throws: APNsError.self) {
            try await client.send(.alert("Hello"), to: DeviceToken(hex: "5d3a"), topic: "com.example.app")
        }
        #expect(error?.description.contains("clock is 7200 s ahead of the server's") == true)
        await client.close()
        let skews = await events.reduce(into: [Duration]()) { if case .clockSkew(let skew) = $1 { $0.append(skew) } }
        #expect(skews == [.seconds(7_200)])
        await server.stop()
    }
}

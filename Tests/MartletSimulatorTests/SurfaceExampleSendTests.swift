// SPDX-License-Identifier: Apache-2.0

import Foundation
import LiveSurfaces
import Martlet
import MartletSimulator
import Testing

/// Comparison of the requests for all named examples with `Tests/Goldens/surface-sends.jsonl`.
///
/// With the environment variable `MARTLET_RECORD` the tests write the file instead.
@Suite(.timeLimit(.minutes(10))) struct SurfaceExampleSendTests {
    private static let file = URL(filePath: "Tests/Goldens/surface-sends.jsonl")
    private static let topic: Topic = "com.example.app"
    private static let time: Int64 = 1_790_000_000

    /// The ways in which a snapshot of a kind is sent, with their names.
    private static func destinations(of kind: SurfaceKind) throws -> [(String, SurfaceDestination)] {
        let token = try DeviceToken(hex: "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0")
        let channel: ChannelID = "dHN0LXNyY2gtY2hubA=="
        guard kind == .liveActivity else { return [("device", .device(token))] }
        return [
            ("device", .device(token)), ("start", .activityStart(token)), ("update", .activity(token)),
            ("end", .activityEnd(token)), ("broadcast", .channel(channel)), ("end of channel", .channelEnd(channel)),
        ]
    }

    /// The requests for an example, as lines of the file.
    private static func lines(of example: SurfaceExample) async throws -> [String] {
        let client = try PushClient(
            .development,
            authentication: .token(.ephemeral()),
            configuration: PushClient.Configuration(),
            clock: WallClock { time }
        )
        let lines = try destinations(of: example.snapshot.kind).map { name, destination in
            let request = try client.describe(example.snapshot, to: destination, topic: topic)
            let fields = request.fields.filter { ![":scheme", ":authority"].contains($0.name) }
            let line: JSONValue = [
                "example": .string(example.name), "as": .string(name),
                "fields": .object(fields.map { .init($0.name, .string($0.value)) }),
                "payload": try JSONReader.read(request.body),
            ]
            return String(decoding: line.encoded(), as: UTF8.self)
        }
        await client.close()
        return lines
    }

    @Test func `every example is sent as the recorded requests`() async throws {
        var found: [String] = []
        for example in SurfaceExample.all { found += try await Self.lines(of: example) }
        if ProcessInfo.processInfo.environment["MARTLET_RECORD"] != nil {
            try Data(found.map { $0 + "\n" }.joined().utf8).write(to: Self.file)
        }
        let wanted = try String(contentsOf: Self.file, encoding: .utf8).split(separator: "\n").map(String.init)
        for (found, wanted) in zip(found, wanted) { #expect(found == wanted) }
        #expect(found.count == wanted.count, "set MARTLET_RECORD to record the requests of new examples")
    }

    @Test func `a simulator receives the described payloads`() async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
        let client = try PushClient(await apns.endpoint, authentication: .token(.ephemeral()))
        let channel = try await client.channels(of: Self.topic).create()
        var expected: [[UInt8]] = []
        for example in SurfaceExample.all {
            for (_, destination) in try Self.destinations(of: example.snapshot.kind) {
                var delivery = SurfaceDelivery()
                var destination = destination
                switch destination {
                case .channel: destination = .channel(channel)
                case .channelEnd: destination = .channelEnd(channel)
                default: break
                }
                if example.snapshot.kind == .liveActivity { delivery.timestamp = Date(secondsSince1970: Self.time) }
                let request = try client.describe(
                    example.snapshot,
                    to: destination,
                    topic: Self.topic,
                    delivery: delivery
                )
                expected.append(request.body)
                try await client.send(example.snapshot, to: destination, topic: Self.topic, delivery: delivery)
            }
        }
        let pushes = await apns.pushes
        #expect(pushes.map(\.payload) == expected)
        #expect(pushes.allSatisfy { $0.status == 200 })
        await client.close()
        await apns.stop()
    }
}

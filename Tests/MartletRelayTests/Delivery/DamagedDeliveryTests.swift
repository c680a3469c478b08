// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import MartletOutbox
import MartletSimulator
import TestSupport
import Testing

@testable import MartletRelay

/// A relay whose file has a changed bit.
@Suite(.timeLimit(.minutes(10))) struct DamagedDeliveryTests {
    private static let lane = Lane(app: "orders", environment: .production)

    @Test func `a damaged push is not sent and becomes a dead letter`() async throws {
        let directory = try ScratchDirectory()
        let file = directory.path + "/relay.sqlite"
        let outbox = try await SQLiteOutbox(file: file)
        var pushes = (1...3).map { OutboxPush.sample($0, Self.lane) }
        pushes[1].payload = Array(#"{"aps":{"alert":"Broken"}}"#.utf8)
        _ = try await outbox.accept(pushes, at: 1)
        await outbox.close(isInOrder: true)
        var content = try Data(contentsOf: URL(fileURLWithPath: file))
        let place = try #require(content.range(of: Data("Broken".utf8)))
        content[place.lowerBound] ^= 1
        try content.write(to: URL(fileURLWithPath: file))

        let lines = LogLines()
        let bench = try await RelayBench(directory: directory, log: lines.logger())
        var answers: [RelayBench.Answer] = []
        try await eventually("all three pushes have ended") {
            answers = []
            for push in pushes { answers.append(await bench.ask("GET", "/v1/pushes/\(push.id)")) }
            return answers.allSatisfy { $0.json["ended-at"] != nil }
        }
        #expect(answers.map { $0.json["state"]?.stringValue } == ["delivered", "dead", "delivered"])
        #expect(answers[1].json["apns"]?["reason"] == "Damaged", "\(answers[1].text)")
        #expect(await bench.apple.pushCount == 2)
        let logged = lines.objects.filter { $0["msg"] == "push damaged" }
        #expect(logged.map { $0["apns_id"]?.stringValue } == [pushes[1].id.description])
        #expect(logged.first?["level"] == "error" && !lines.all.contains { $0.contains("roken") })
        await bench.parts.monitor.readDeadLetters()
        let status = await bench.ask("GET", "/v1/status").json
        let headline = status["headline"]?.stringValue ?? ""
        #expect(headline.hasPrefix("1 stored push of orders is damaged."), "\(headline)")
        let text = status["incidents"]?.elements?.first?["text"]?.stringValue ?? ""
        #expect(text.hasPrefix("1 stored push of orders is damaged. It was not sent. Check the disk"), "\(text)")
        let path = "/v1/apps/orders/dead-letters:requeue"
        let refusal = await bench.ask("POST", path, #"{"ids":["\#(pushes[1].id)"]}"#)
        #expect(refusal.status == 409 && refusal.text.contains("is damaged, so nothing was sent again"))
        #expect(await bench.ask("POST", path).json == ["requeued": 0, "damaged": 1])
        let metrics = await bench.ask("GET", "/metrics").text
        let sample = #"dead_letter_total{app="orders",env="production",reason="Damaged"} 1"#
        #expect(metrics.contains(sample), "\(metrics)")
        await bench.stop()
    }
}

// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCore
import TestSupport
import Testing

@testable import MartletSimulator

/// Worlds of pushes with known verdicts, in which the verdicts, the HTTP interface and the export agree with an
/// independent model for every push.
@Suite(.timeLimit(.minutes(10))) struct VerdictWorldTests {
    private static let pushes = 1_000
    private static let kinds = [
        "shown", "delivered", "replaced", "ended", "stored", "not-shown", "discarded", "refused", "unanswered",
    ]

    /// A verdict as one of the sources reports it.
    private struct ReportedVerdict: Equatable, CustomStringConvertible {
        let number: Int
        let prediction: ModelPhones.Prediction

        var description: String { "\(number) \(prediction.kind) by \(prediction.by ?? 0) \(prediction.isOnScreen)" }

        init(_ number: Int, _ prediction: ModelPhones.Prediction) {
            self.number = number
            self.prediction = prediction
        }

        init(_ push: ReceivedPush) {
            let verdict = push.verdict
            #expect(push.verdictKind == verdict.kind)
            self.init(
                push.number,
                ModelPhones.Prediction(
                    kind: verdict.kind.rawValue,
                    by: verdict.replacedBy,
                    isOnScreen: verdict.isOnScreen
                )
            )
        }

        init(_ json: JSONValue) {
            let verdict = json["verdict"]
            let kind = verdict?["kind"]?.stringValue ?? ""
            self.init(
                Int(json["number"]?.integerValue ?? 0),
                ModelPhones.Prediction(
                    kind: kind,
                    by: verdict?["replaced-by"]?.integerValue.map { Int($0) },
                    isOnScreen: kind == "shown" || verdict?["on-screen"] == true
                )
            )
        }
    }

    private func expectEqual(_ reported: [ReportedVerdict], _ expected: [ReportedVerdict], _ source: String) {
        let wrong = zip(reported, expected).first { $0 != $1 }
        #expect(reported.count == expected.count && wrong == nil, "\(source): \(String(describing: wrong))")
    }

    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func `all sources agree with the model for every push`(seed: UInt64) async throws {
        let scratch = try ScratchDirectory()
        let file = scratch.path + "/pushes.sqlite"
        var world = try await VerdictWorld(seed: seed, file: file)
        try await world.run(pushes: Self.pushes)
        let expected = world.model.predictions.sorted { $0.key < $1.key }.map { ReportedVerdict($0.key, $0.value) }
        #expect(Set(expected.map(\.prediction.kind)) == Set(Self.kinds), "the world has every kind")

        let pushes = await world.apns.pushes
        expectEqual(pushes.map { ReportedVerdict($0) }, expected, "verdict")
        #expect(Set(pushes.filter(\.labels.isPinned).map(\.number)) == world.pinned)
        let list = try await world.json("/api/v1/pushes?limit=1000")["pushes"]?.elements ?? []
        expectEqual(list.reversed().map { ReportedVerdict($0) }, expected, "list")
        let lines = try await world.text("/api/v1/export.jsonl").split(separator: "\n")
        let export = try lines.map { try JSONReader.read(Array($0.utf8)) }
        expectEqual(export.map { ReportedVerdict($0) }, expected, "export")
        for kind in Self.kinds {
            let found = try await world.json("/api/v1/pushes/numbers?query=verdict:\(kind)")["numbers"]?.elements
            let numbers = found?.compactMap(\.integerValue).map { Int($0) }
            #expect(numbers == expected.filter { $0.prediction.kind == kind }.map(\.number).reversed(), "\(kind)")
        }
        try await checkPhones(of: world, pushes)

        await world.apns.stop()
        let again = try await world.restarted(file)
        expectEqual(await again.pushes.map { ReportedVerdict($0) }, expected, "archive")
        await again.stop()
    }

    /// Compares the notification centers of the phones, and the threads of previews, with the model.
    private func checkPhones(of world: VerdictWorld, _ pushes: [ReceivedPush]) async throws {
        for token in VerdictWorld.tokens {
            let shown = pushes.filter { push in
                push.deviceToken == token && world.model.predictions[push.number]?.isOnScreen == true
            }
            let path = "/api/v1/devices/\(token)/notifications?limit=1000"
            let center = try await world.json(path)["pushes"]?.elements ?? []
            let notifications = shown.filter { !$0.isLiveActivity }
            #expect(
                center.compactMap { $0["number"]?.integerValue.map { Int($0) } }
                    == notifications.map(\.number).reversed()
            )
            let alerts = pushes.filter { $0.deviceToken == token && $0.headers.pushType == "alert" }
            guard let alert = alerts.last(where: { String(decoding: $0.payload, as: UTF8.self).contains("title") })
            else { continue }
            let context = try await world.json("/api/v1/pushes/\(alert.number)/context")
            let thread = (context["thread"]?.elements ?? []).compactMap { $0["number"]?.integerValue.map { Int($0) } }
            let others = shown.filter { $0.number != alert.number && $0.headers.pushType == "alert" }
            #expect(thread == Array(others.map(\.number).reversed().prefix(50)), "\(token)")
        }
    }

    @Test func `an import keeps the verdicts, with the new numbers of the pushes that replaced others`() async throws {
        let scratch = try ScratchDirectory()
        var world = try await VerdictWorld(seed: 11, file: scratch.path + "/pushes.sqlite")
        try await world.run(pushes: 200)
        let lines = try await world.text("/api/v1/export.jsonl").split(separator: "\n")
        let records = try lines.map { try JSONReader.read(Array($0.utf8)) }
        let other = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
        _ = await other.inbox.add(records)
        let pushes = await world.apns.pushes
        let imported = await other.pushes
        let numbers = Dictionary(uniqueKeysWithValues: zip(pushes.map(\.number), imported.map(\.number)))
        for (old, new) in zip(pushes, imported) {
            #expect(new.verdict.kind == old.verdict.kind && new.labels == old.labels)
            #expect(new.verdict.replacedBy == old.verdict.replacedBy.flatMap { numbers[$0] })
        }
        await other.stop()
        await world.apns.stop()
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import LiveSurfaces
import MartletCore
import Testing

/// Tests of properties of all snapshots, with random ones.
@Suite struct PropertyTests {
    @Test func `a valid snapshot is read as it was written`() throws {
        var random = RandomSnapshots(seed: 1)
        for _ in 0..<5_000 {
            let snapshot = random.snapshot()
            #expect(try SurfaceSnapshot(parsing: snapshot.json.encoded()) == snapshot)
        }
    }

    @Test func `a damaged field is refused and named`() throws {
        var random = RandomSnapshots(seed: 2)
        for _ in 0..<5_000 {
            let damage = random.damage(random.snapshot().json)
            let error = try #require(throws: SurfaceError.self, "\(damage.json.text)") {
                try SurfaceSnapshot(parsing: damage.json.encoded())
            }
            #expect(error.issues.contains { $0.path == damage.path }, "\(damage.path) \(error) \(damage.json.text)")
        }
    }

    @Test func `an accepted snapshot of changed bytes is read as it was written`() throws {
        var random = RandomSnapshots(seed: 3)
        var accepted = 0
        for _ in 0..<20_000 {
            let bytes = random.mutated(random.snapshot().json.encoded())
            guard let snapshot = try? SurfaceSnapshot.parse(anyVersion: bytes).snapshot else { continue }
            accepted += 1
            #expect(try SurfaceSnapshot(parsing: snapshot.json.encoded()) == snapshot)
        }
        #expect(accepted > 500, "some bytes are inside texts, where others do as well")
    }

    @Test func `a date is read as it was written`() throws {
        var random = SplitMix64(state: 4)
        for _ in 0..<10_000 {
            let seconds = Double(Int64.random(in: -62_167_219_200_000...253_402_300_799_999, using: &random)) / 1_000
            let date = SurfaceDate(Date(timeIntervalSince1970: seconds))
            let back = try #require(date.date, "\(date)")
            #expect(abs(back.timeIntervalSince1970 - seconds) < 0.002, "\(date)")
        }
        #expect(SurfaceDate(Date(timeIntervalSince1970: 1_778_610_660)).rawValue == "2026-05-12T18:31:00.000Z")
        #expect(SurfaceDate(Date(timeIntervalSince1970: .nan)).rawValue == "1970-01-01T00:00:00.000Z")
        #expect(SurfaceDate(Date(timeIntervalSince1970: .infinity)).rawValue == "9999-12-31T23:59:59.000Z")
        #expect(SurfaceDate("2026-05-12T20:31:00.5+02:00").date == Date(timeIntervalSince1970: 1_778_610_660.5))
    }
}

/// Makes snapshots, and breaks them.
private struct RandomSnapshots {
    private var random: SplitMix64

    init(seed: UInt64) {
        random = SplitMix64(state: seed)
    }

    mutating func snapshot() -> SurfaceSnapshot {
        switch SurfaceKind.allCases.randomElement(using: &random) ?? .widget {
        case .liveActivity:
            .liveActivity(
                with(
                    LiveActivitySurface(
                        title: text(1),
                        body: text(),
                        progress: fraction(),
                        deepLink: link(),
                        modeLabel: text(1),
                        contextLabel: maybe { $0.text() },
                        statusLine: maybe { $0.text() },
                        actionLabel: maybe { $0.text(1) },
                        stage: pick(),
                        estimatedSeconds: maybe { $0.count() },
                        morePartsCount: maybe { $0.count() }
                    )
                )
            )
        case .widget:
            .widget(
                with(
                    WidgetSurface(
                        title: text(1),
                        body: text(),
                        progress: fraction(),
                        deepLink: link(),
                        family: maybe { $0.pick() },
                        reloadPolicy: maybe { $0.pick() }
                    )
                )
            )
        case .control:
            .control(
                with(
                    ControlSurface(
                        label: text(1),
                        deepLink: link(),
                        controlKind: pick(),
                        isOn: maybe { Bool.random(using: &$0.random) },
                        intent: maybe { $0.text() }
                    )
                )
            )
        case .lockAccessory:
            .lockAccessory(
                with(
                    LockAccessorySurface(
                        title: text(1),
                        deepLink: link(),
                        family: pick(),
                        gaugeValue: maybe { $0.fraction() },
                        shortText: maybe { String($0.text().prefix(5)) }
                    )
                )
            )
        case .standBy:
            .standBy(
                with(
                    StandBySurface(
                        title: text(1),
                        body: text(),
                        progress: fraction(),
                        deepLink: link(),
                        presentation: pick(),
                        tint: maybe { $0.pick() }
                    )
                )
            )
        case .notification:
            .notification(
                with(
                    NotificationSurface(
                        title: .plain(text(1)),
                        subtitle: maybe { .plain($0.text(1)) },
                        body: .plain(text()),
                        deepLink: link(),
                        category: maybe { _ in "surface-update" },
                        threadID: maybe { $0.text(1) },
                        interruptionLevel: maybe { $0.pick() },
                        relevanceScore: maybe { $0.fraction() },
                        targetContentID: maybe { $0.text(1) }
                    )
                )
            )
        }
    }

    /// The same with one field gone, empty, or of another type, or with one too many.
    mutating func damage(_ json: JSONValue) -> (json: JSONValue, path: [String]) {
        guard var members = json.members, let last = members.indices.last else { return (json, []) }
        let kind = members[last].name
        guard var inner = members[last].value.members, let field = inner.indices.randomElement(using: &random) else {
            return (json, [])
        }
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            inner.append(JSONValue.Member("color", "red"))
            members[last].value = .object(inner)
            return (.object(members), [kind])
        case 1:
            let index = Int.random(in: 0..<last, using: &random)
            let name = members[index].name
            members.remove(at: index)
            return (.object(members), [name])
        case 2:
            let index = Int.random(in: 0...last, using: &random)
            members[index].value = .null
            return (.object(members), [members[index].name])
        default:
            inner[field].value = [.null, ["x"], [:]].randomElement(using: &random) ?? .null
            members[last].value = .object(inner)
            return (.object(members), [kind, inner[field].name])
        }
    }

    mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0...Int.random(in: 0..<3, using: &random) {
            guard let index = bytes.indices.randomElement(using: &random) else { break }
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes[index] = UInt8.random(in: .min ... .max, using: &random)
            case 1: bytes.remove(at: index)
            case 2: bytes.insert(bytes[index], at: index)
            default: bytes.removeSubrange(index..<min(bytes.count, index + 5))
            }
        }
        return bytes
    }

    private mutating func with<Content>(_ surface: Content) -> Snapshot<Content> {
        let moment = Date(timeIntervalSince1970: Double(Int.random(in: 0..<4_000_000_000, using: &random)))
        return Snapshot(
            id: text(1),
            surfaceID: text(1),
            updatedAt: SurfaceDate(moment),
            state: pick(),
            surface: surface
        )
    }

    private mutating func maybe<Value>(_ value: (inout RandomSnapshots) -> Value) -> Value? {
        Bool.random(using: &random) ? value(&self) : nil
    }

    private mutating func pick<Choice: CaseIterable>() -> Choice where Choice.AllCases == [Choice] {
        Choice.allCases[Int.random(in: 0..<Choice.allCases.count, using: &random)]
    }

    private mutating func fraction() -> Double { Double.random(in: 0...1, using: &random) }
    private mutating func count() -> Int { Int.random(in: 0...9_007_199_254_740_991, using: &random) }
    private mutating func link() -> String { "a+b-c.1://" + text() }

    private mutating func text(_ minimum: Int = 0) -> String {
        let letters: [Character] = ["a", "Z", "é", "🐦", "\"", "\\", "\n", "\u{0}", "\u{1F}", "/", "漢", "\u{2028}", " "]
        let count = Int.random(in: minimum...12, using: &random)
        return String((0..<count).map { _ in letters[Int.random(in: 0..<letters.count, using: &random)] })
    }
}

import Foundation
import Testing

/// Many worlds, each from its own seed; `make simulate SEED=n` replays one.
@Suite(.timeLimit(.minutes(5))) struct SimulationTests {
    private static let seeds: ClosedRange<UInt64> = {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["MARTLET_SEED"].flatMap({ UInt64($0) }) { return seed...seed }
        return 1...(environment["MARTLET_SEEDS"].flatMap { UInt64($0) } ?? 10_000)
    }()

    @Test func `every send ends once, in time, and as it was`() {
        var broken: [String] = []
        for seed in Self.seeds {
            do throws(SimulatedWorld.Violation) {
                var world = SimulatedWorld(seed: seed, tell: Self.seeds.count == 1 ? { print($0) } : nil)
                try world.run()
            } catch {
                broken.append("seed \(seed): \(error)")
            }
        }
        #expect(broken.isEmpty, "\(broken.count) of \(Self.seeds.count) worlds; the first: \(broken.prefix(10))")
    }

    @Test func `sending to many keeps its bounds and loses nobody`() {
        var broken: [String] = []
        for seed in Self.seeds.prefix(3_000) {
            do throws(SimulatedBulk.Violation) {
                var bulk = SimulatedBulk(seed: seed)
                try bulk.run()
            } catch {
                broken.append("seed \(seed): \(error)")
            }
        }
        #expect(broken.isEmpty, "\(broken.count) of \(Self.seeds.count); the first: \(broken.prefix(10))")
    }
}

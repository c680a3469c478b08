import Foundation
import Testing

/// Many days of a relay, each from its own seed; `make simulate SEED=n` replays one.
@Suite(.timeLimit(.minutes(5))) struct DeliverySimulationTests {
    private static let seeds: ClosedRange<UInt64> = {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["MARTLET_SEED"].flatMap({ UInt64($0) }) { return seed...seed }
        return 1...(environment["MARTLET_SEEDS"].flatMap { UInt64($0) } ?? 2_000)
    }()

    @Test func `every accepted push ends once, in order, whatever breaks`() {
        var broken: [String] = []
        for seed in Self.seeds {
            do throws(DeliveryWorld.Violation) {
                var world = DeliveryWorld(seed: seed, tell: Self.seeds.count == 1 ? { print($0) } : nil)
                try world.run()
            } catch {
                broken.append("seed \(seed): \(error)")
            }
        }
        #expect(broken.isEmpty, "\(broken.count) of \(Self.seeds.count) days; the first: \(broken.prefix(10))")
    }
}

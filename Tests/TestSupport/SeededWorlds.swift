import Foundation

/// Simulated worlds, each from its own seed: `make simulate SEEDS=n` runs more of them, `SEED=n` replays one.
package struct SeededWorlds: Sendable {
    /// The minutes that a run of this many worlds may take.
    package static let timeLimit = 5 + Int(clamping: requestedCount ?? 0) / 1_000

    private static let environment = ProcessInfo.processInfo.environment
    private static let requestedSeed = environment["MARTLET_SEED"].flatMap { UInt64($0) }
    private static let requestedCount = environment["MARTLET_SEEDS"].flatMap { UInt64($0) }.map { max(1, $0) }

    /// What a world is, for the lines of progress.
    private let name: String
    private let seeds: ClosedRange<UInt64>

    /// The worlds that were asked for, or this many.
    package init(_ name: String, count: UInt64) {
        self.name = name
        seeds = Self.requestedSeed.map { $0...$0 } ?? 1...(Self.requestedCount ?? count)
    }

    /// Runs each world, and returns what was wrong with those that broke a rule.
    ///
    /// - Parameter run: Runs the world of a seed. Its second argument prints the story of a world that is replayed.
    /// - Returns: Up to ten broken rules with their seeds; empty when every world kept them.
    package func violations(_ run: (UInt64, ((String) -> Void)?) throws -> Void) async -> [String] {
        var broken: [String] = []
        let start = ContinuousClock.now
        var nextReport = start + .seconds(5)
        for seed in seeds {
            // Other tests need the thread, too.
            await Task.yield()
            do {
                try run(seed, seeds.count == 1 ? { print($0) } : nil)
            } catch {
                if broken.count < 10 { broken.append("seed \(seed) of \(name): \(error)") }
            }
            guard Self.requestedCount != nil, ContinuousClock.now >= nextReport else { continue }
            nextReport = .now + .seconds(5)
            report(seed, since: start, broken.count)
        }
        return broken
    }

    private func report(_ seed: UInt64, since start: ContinuousClock.Instant, _ brokenCount: Int) {
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let rate = Double(seed) / max(seconds, 0.001)
        let left = Int(Double(seeds.upperBound - seed) / max(rate, 0.001))
        let line =
            "\(name): \(seed) of \(seeds.upperBound), \(Int(rate)) a second, \(left) s left, \(brokenCount) broken\n"
        FileHandle.standardError.write(Data(line.utf8))
    }
}

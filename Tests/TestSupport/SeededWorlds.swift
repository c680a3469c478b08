// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Simulations, each with its own seed.
///
/// `make simulate SEEDS=n` runs the first of them, `SEED=m SEEDS=n` those from `m` on, and `SEED=m` repeats one.
package struct SeededWorlds: Sendable {
    /// The time limit in minutes for the requested number of simulations.
    package static let timeLimit = 10 + Int(clamping: requestedCount ?? 0) / 1_000

    private static let environment = ProcessInfo.processInfo.environment
    private static let requestedSeed = environment["MARTLET_SEED"].flatMap { UInt64($0) }
    private static let requestedCount = environment["MARTLET_SEEDS"].flatMap { UInt64($0) }.map { max(1, $0) }

    /// The name of the simulation in progress messages.
    private let name: String
    private let seeds: ClosedRange<UInt64>

    /// Selects the requested simulations, or `count` by default.
    ///
    /// - Parameters:
    ///   - name: The name in progress messages.
    ///   - count: The number of simulations without a request.
    ///   - cost: The cost of one in those of other suites; a requested number is divided by it.
    package init(_ name: String, count: UInt64, costing cost: UInt64 = 1) {
        self.name = name
        let first = Self.requestedSeed ?? 1
        let requested = Self.requestedCount.map { max(1, $0 / cost) }
        let count = requested ?? (Self.requestedSeed == nil ? count : 1)
        seeds = first...(first + min(count - 1, .max - first))
    }

    /// Runs each simulation and returns the violated rules.
    ///
    /// - Parameter run: Runs the simulation of a seed. Its second argument prints the events of a repeated simulation.
    /// - Returns: Up to ten violations with their seeds; empty if there are none.
    package func violations(_ run: (UInt64, ((String) -> Void)?) async throws -> Void) async -> [String] {
        var failed: [String] = []
        let start = ContinuousClock.now
        var nextReport = start + .seconds(5)
        for seed in seeds {
            // Let other tests use the thread.
            await Task.yield()
            do {
                try await run(seed, seeds.count == 1 ? { print($0) } : nil)
            } catch {
                let violation = "seed \(seed) of \(name): \(error)"
                if failed.count < 10 { failed.append(violation) }
                // A long run can be stopped at the first.
                if Self.requestedCount != nil { write(violation) }
            }
            guard Self.requestedCount != nil, ContinuousClock.now >= nextReport else { continue }
            nextReport = .now + .seconds(5)
            report(seed, since: start, failed.count)
        }
        return failed
    }

    /// Returns whether the simulation of a seed violates a rule, as one with a planted fault has to.
    ///
    /// - Parameters:
    ///   - type: The error of a violated rule.
    ///   - count: The number of seeds, from 1 on.
    ///   - run: Runs the simulation of a seed.
    /// - Returns: Whether a simulation has thrown an error of this type.
    /// - Throws: The first other error.
    package static func hasViolation<Violation: Error>(
        _ type: Violation.Type,
        seeds count: UInt64,
        _ run: (UInt64) async throws -> Void
    ) async throws -> Bool {
        for seed in 1...count {
            do {
                try await run(seed)
            } catch is Violation {
                return true
            }
        }
        return false
    }

    private func report(_ seed: UInt64, since start: ContinuousClock.Instant, _ failedCount: Int) {
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let rate = Double(seed - seeds.lowerBound + 1) / max(seconds, 0.001)
        let left = Int(Double(seeds.upperBound - seed) / max(rate, 0.001))
        write(
            "\(name): \(seed) of \(seeds.upperBound), \(Int(rate)) per second, \(left) s left, \(failedCount) failed"
        )
    }

    private func write(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import MartletSimulator
import TestSupport
import Testing

/// Kills the relay's process repeatedly while it accepts pushes and the simulator injects faults.
@Suite(.timeLimit(.minutes(10))) struct CrashTests {
    /// The number of times that the relay is killed.
    private static let kills = 30

    @Test func `every acknowledged push has one outcome after crashes`() async throws {
        let seed = ProcessInfo.processInfo.environment["MARTLET_SEED"].flatMap { UInt64($0) }
        let world = try await CrashWorld(seed: seed ?? .random(in: .min ... .max))
        print("Seed of the crashes: \(world.seed)")
        try await world.relay.start()
        await world.availability.begin()
        await withDiscardingTaskGroup { group in
            for number in 0..<24 { group.addTask { await world.callAsAPNs(number) } }
            for number in 0..<4 { group.addTask { await world.callInJSON(number) } }
            for number in 0..<2 { group.addTask { await world.callInBatches(number) } }
            group.addTask {
                do {
                    try await world.crash(times: Self.kills)
                } catch {
                    Issue.record("\(error), seed \(world.seed)")
                }
                await world.ledger.close()
            }
        }
        await world.apple.setFaults([], seed: world.seed)
        let acknowledged = await world.ledger.acknowledged
        let outcomes = await world.outcomes(of: acknowledged)
        // Outcomes stay the same after a restart.
        #expect(await world.relay.stop() == 0)
        try await world.relay.start()
        #expect(await world.outcomes(of: acknowledged) == outcomes)
        #expect(acknowledged.count > 50 * Self.kills)
        let violations = await world.violations(acknowledged, outcomes)
        #expect(violations.isEmpty, "\(violations.count) violations, seed \(world.seed): \(violations.prefix(20))")
        let uncertain = outcomes.values.count { $0.unknownTries > 0 }
        print("\(acknowledged.count) pushes acknowledged, \(uncertain) possibly sent more than once")
        #expect(await world.relay.stop() == 0)
        await world.end()
    }
}

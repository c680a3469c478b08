// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Two days of a surface on a phone, each from its own seed; `make simulate SEED=n` replays one.
@Suite(.timeLimit(.minutes(SeededWorlds.timeLimit))) struct ActivitySimulationTests {
    @Test func `the phone shows the last state on one card despite losses`() async {
        let violations = await SeededWorlds("days of a surface", count: 10_000).violations { seed, tell in
            var world = ActivityWorld(seed: seed, tell: tell)
            try world.run()
        }
        #expect(violations == [])
    }

    @Test(arguments: ActivityWorld.PlantedFault.allCases)
    func `the simulation finds a planted fault`(fault: ActivityWorld.PlantedFault) async throws {
        let isFound = try await SeededWorlds.hasViolation(ActivityWorld.Violation.self, seeds: 3_000) { seed in
            var world = ActivityWorld(seed: seed, fault: fault)
            try world.run()
        }
        #expect(isFound)
    }
}

// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Two days of random phones, each from its own seed; `make simulate SEED=n` replays one.
@Suite(.timeLimit(.minutes(SeededWorlds.timeLimit))) struct PhoneSimulationTests {
    @Test func `a phone keeps its limits and its account adds up`() async {
        let violations = await SeededWorlds("days of a phone", count: 1_000).violations { seed, tell in
            var world = PhoneWorld(seed: seed, tell: tell)
            try world.run()
        }
        #expect(violations == [])
    }

    @Test func `a seed determines all that a phone does`() throws {
        for seed: UInt64 in 1...20 {
            var first = PhoneWorld(seed: seed)
            var second = PhoneWorld(seed: seed)
            try first.run()
            try second.run()
            #expect(first.steps == second.steps)
        }
    }
}

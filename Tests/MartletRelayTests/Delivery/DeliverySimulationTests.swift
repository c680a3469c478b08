// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Many days of a relay, each from its own seed; `make simulate SEED=n` replays one.
@Suite(.timeLimit(.minutes(SeededWorlds.timeLimit))) struct DeliverySimulationTests {
    @Test func `each accepted push has one outcome, in order, despite failures`() async {
        let violations = await SeededWorlds("days of a relay", count: 2_000).violations { seed, tell in
            var world = DeliveryWorld(seed: seed, tell: tell)
            try world.run()
        }
        #expect(violations == [])
    }
}

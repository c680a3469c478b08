// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Many days of a relay, each from its own seed; `make simulate SEED=n` replays one.
@Suite(.timeLimit(.minutes(SeededWorlds.timeLimit))) struct DeliverySimulationTests {
    @Test func `every accepted push ends once, in order, whatever breaks`() async {
        let violations = await SeededWorlds("days of a relay", count: 2_000).violations { seed, tell in
            var world = DeliveryWorld(seed: seed, tell: tell)
            try world.run()
        }
        #expect(violations == [])
    }
}

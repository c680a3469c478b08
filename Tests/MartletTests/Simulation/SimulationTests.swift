// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Many worlds, each from its own seed; `make simulate SEED=n` replays one.
@Suite(.timeLimit(.minutes(SeededWorlds.timeLimit))) struct SimulationTests {
    @Test func `each push settles once, in time, with its true outcome`() async {
        let violations = await SeededWorlds("worlds of single sends", count: 10_000).violations { seed, tell in
            var world = SimulatedWorld(seed: seed, tell: tell)
            try world.run()
        }
        #expect(violations == [])
    }

    @Test func `provider tokens are neither too old nor replaced too often`() async {
        let violations = await SeededWorlds("worlds of provider tokens", count: 5_000).violations { seed, _ in
            var tokens = SimulatedTokens(seed: seed)
            try tokens.run()
        }
        #expect(violations == [])
    }

    @Test func `a bulk send keeps its bounds and loses no device`() async {
        let violations = await SeededWorlds("worlds of bulk sends", count: 3_000).violations { seed, _ in
            var bulk = SimulatedBulk(seed: seed)
            try bulk.run()
        }
        #expect(violations == [])
    }
}

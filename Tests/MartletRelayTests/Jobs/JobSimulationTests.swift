// SPDX-License-Identifier: Apache-2.0

import Martlet
import TestSupport
import Testing

@testable import MartletRelay

/// Jobs, with phones that change and relays that are killed, each from its own seed; `make simulate SEED=n` replays
/// one.
@Suite(.timeLimit(.minutes(SeededWorlds.timeLimit))) struct JobSimulationTests {
    @Test func `each phone of a job has one outcome, whatever fails`() async throws {
        let app = RelayConfiguration.App(name: "orders", bundleIDs: ["com.example.orders"], key: try .ephemeral())
        let violations = await SeededWorlds("jobs", count: 300).violations { seed, tell in
            var world = JobWorld(seed: seed, app: app, tell: tell)
            try await world.run()
        }
        #expect(violations == [])
    }

    @Test(arguments: JobWorld.Fault.allCases)
    func `the simulation finds a planted fault`(fault: JobWorld.Fault) async throws {
        let app = RelayConfiguration.App(name: "orders", bundleIDs: ["com.example.orders"], key: try .ephemeral())
        let isFound = try await SeededWorlds.hasViolation(JobWorld.Violation.self, seeds: 3_000) { seed in
            var world = JobWorld(seed: seed, app: app, fault: fault)
            try await world.run()
        }
        #expect(isFound)
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Relays that share a database, whose clocks differ and are corrected by an hour.
@Suite(.timeLimit(.minutes(10))) struct ClockTests {
    /// Whether a program can get a wall clock of its own.
    private static let hasOwnClocks: Bool = {
        #if os(Linux)
            return true
        #else
            return false
        #endif
    }()

    @Test(.enabled(if: hasOwnClocks, "requires Linux, where a preloaded library replaces the clock of a program"))
    func `no push reaches a former user although clocks are wrong`() async throws {
        let requested = ProcessInfo.processInfo.environment["MARTLET_SEED"].flatMap { UInt32($0) }
        let seed = requested ?? .random(in: .min ... .max)
        let run = try await ProgramRun(
            Python.interpreter,
            ["Tests/Peers/clocks.py", MartletProcess.program, "\(seed)"]
        )
        #expect(run.status == 0, "seed \(seed): \(run.text)\(run.errorOutput)")
    }
}

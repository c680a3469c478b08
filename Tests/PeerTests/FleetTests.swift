// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// The failover variant of the demonstration of relays that share a database.
@Suite struct FleetTests {
    #if os(Linux)
        @Test func `no push is lost when relays and the primary database are killed`() async throws {
            let run = try await ProgramRun(
                "Scripts/fleet-demo",
                [MartletProcess.program, "--failover", "--seconds", "20"]
            )
            #expect(run.status == 0, "\(run.text)\(run.errorOutput)")
        }
    #endif
}

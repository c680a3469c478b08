import TestSupport
import Testing

/// Relays that share a database, as the demonstration has them, when the worst happens.
@Suite struct FleetTests {
    #if os(Linux)
        @Test func `relays and the database's primary are killed, and no push is lost`() async throws {
            let run = try await ProgramRun(
                "Scripts/fleet-demo",
                [MartletProcess.program, "--failover", "--seconds", "20"]
            )
            #expect(run.status == 0, "\(run.text)\(run.complaint)")
        }
    #endif
}

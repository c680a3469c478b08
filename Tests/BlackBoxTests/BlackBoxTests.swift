// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Tests of the program's arguments, outputs and exit status, in pipes and on terminals.
///
/// They run the program beside the tests, or the one of the variable `MARTLET_PROGRAM`.
@Suite(.timeLimit(.minutes(10))) struct BlackBoxTests {
    @Test(arguments: CommandTable.all)
    func `commands have the expected outputs and exit status`(table: CommandTable) async throws {
        var world = try await World()
        if table.needsRelay { try await world.startRelay() }
        for invocation in table.invocations { try await invocation.check(in: world) }
    }

    @Test func `the tables have at least 200 invocations without duplicates`() {
        let lines = CommandTable.all.flatMap { table in table.invocations.map { "\($0.destination) \($0.line)" } }
        #expect(lines.count >= 200)
        #expect(Set(lines).count == lines.count)
    }

    @Test func `fifty devices give fifty rows in order, and an unregistered device gives status 1`() async throws {
        let world = try await World()
        for missing in [nil, 0, 17, 49] {
            let tokens = (0..<50).map { $0 == missing ? "5d3a00dead" : "5d3a6a1c8f9a\(1_000 + $0)" }
            let options = tokens.map { "--to \($0)" }.joined(separator: " ")
            let line = "send $server \(options) --topic com.example.app --title Hi --json"
            let run = try await ProgramRun("/bin/sh", ["-c", world.script(for: line)])
            #expect(run.status == (missing == nil ? 0 : 1))
            let found = run.text.matches(of: /"device-token":"([0-9a-f]+)"/).map { String($0.1) }
            #expect(found == tokens)
            #expect(run.text.matches(of: /"status":410/).count == (missing == nil ? 0 : 1))
        }
    }
}

/// Invocations that run in order with one simulator.
struct CommandTable: Sendable, CustomTestStringConvertible {
    let name: String
    var needsRelay = false
    let invocations: [Invocation]

    var testDescription: String { name }

    static let all = [help, send, sendMany, live, channels, surface, relay, relayQueries, relayJobs, checks, files]
}

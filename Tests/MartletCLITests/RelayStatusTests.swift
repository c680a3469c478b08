// SPDX-License-Identifier: Apache-2.0

import MartletHTTPServer
import TestSupport
import Testing

/// Tests of `relay status` with answers that no relay of this version gives.
@Suite(.timeLimit(.minutes(10))) struct RelayStatusTests {
    @Test func `times of any size and rates are printed`() async throws {
        let times = #""retrying-since":\#(Int64.min),"since":\#(Int64.min)"#
        let numbers = #""retrying":1,"sent-per-second":118.44"#
        let lane = #"{"app":"a","environment":"production","state":"down",\#(numbers),\#(times)}"#
        let status = #"{"now":\#(Int64.max),"lanes":[\#(lane)]}"#
        let server = try await HTTP1Listener(host: "127.0.0.1", port: 0) { _ in
            .text(status, type: "application/json")
        }
        defer { server.stop() }
        let scratch = try ScratchDirectory()
        let key = try scratch.write(RelayProcess.callerKey, to: "operator.key")
        let address = "http://127.0.0.1:\(server.port)"
        let run = try await ProgramRun(
            MartletProcess.program,
            ["relay", "status", "--url", address, "--key-file", key]
        )
        #expect(run.status == 1 && run.text.contains("down for"), "\(run.text)\(run.errorOutput)")
        #expect(run.text.contains(" 118 "), "\(run.text)")
    }
}

// SPDX-License-Identifier: Apache-2.0

import MartletHTTPServer
import TestSupport
import Testing

/// Tests of commands with answers that no relay of this version gives.
@Suite(.timeLimit(.minutes(10))) struct RelayAnswerTests {
    /// Runs a command with a server that gives the same answer to each request.
    private func run(_ words: [String], answer: String, input: String = "") async throws -> ProgramRun {
        let server = try await HTTP1Listener(host: "127.0.0.1", port: 0) { _ in
            .text(answer, type: "application/json")
        }
        defer { server.stop() }
        let scratch = try ScratchDirectory()
        let key = try scratch.write(RelayProcess.callerKey, to: "operator.key")
        let options = ["--url", "http://127.0.0.1:\(server.port)", "--key-file", key]
        return try await ProgramRun(MartletProcess.program, words + options, input: Array(input.utf8))
    }

    @Test func `times of any size and rates are printed`() async throws {
        let times = #""retrying-since":\#(Int64.min),"since":\#(Int64.min)"#
        let numbers = #""retrying":1,"sent-per-second":118.44"#
        let lane = #"{"app":"a","environment":"production","state":"down",\#(numbers),\#(times)}"#
        let run = try await run(["relay", "status"], answer: #"{"now":\#(Int64.max),"lanes":[\#(lane)]}"#)
        #expect(run.status == 1 && run.text.contains("down for"), "\(run.text)\(run.errorOutput)")
        #expect(run.text.contains(" 118 "), "\(run.text)")
    }

    @Test func `a push that was not sent has no answer of Apple`() async throws {
        let refused = #"{"apns":{"status":429,"reason":"TooManyRequests"}}"#
        let run = try await run(
            ["relay", "dead-letters", "--app", "a"],
            answer: #"{"dead-letters":[{"apns":{"reason":"Damaged"}},\#(refused)]}"#
        )
        #expect(run.status == 0 && run.text.contains("Not sent: its stored data is damaged"), "\(run.text)")
        #expect(run.text.contains("429 TooManyRequests"), "\(run.text)")
    }

    @Test func `an import counts at most the rows that it has sent`() async throws {
        let problems = #"[{"line":\#(Int64.min)},{"line":1,"detail":"is bad"}]"#
        let run = try await run(
            ["relay", "import", "-", "--app", "a", "--json"],
            answer: #"{"added":\#(Int64.max),"known":-1,"refused":\#(Int64.min),"problems":\#(problems)}"#,
            // Two requests.
            input: "user,token\n" + String(repeating: "anna,00ff\n", count: 2_001)
        )
        #expect(run.status == 1, "\(run.text)\(run.errorOutput)")
        #expect(run.text.contains(#""added":2001,"#) && run.text.contains(#""known":0,"#), "\(run.text)")
        #expect(run.text.contains(#""refused":2,"#), "\(run.text)")
    }

    @Test func `an import names unknown time zones`() async throws {
        let run = try await run(
            ["relay", "import", "-", "--app", "a"],
            answer: #"{"added":1,"problems":[],"unknown-time-zones":["Berlin"]}"#,
            input: "user,token,time-zone\nanna,00ff,Berlin\n"
        )
        #expect(run.status == 0 && run.errorOutput.contains("unknown time zones"), "\(run.errorOutput)")
        #expect(run.errorOutput.contains("Berlin"), "\(run.errorOutput)")
    }
}

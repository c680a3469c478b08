// SPDX-License-Identifier: Apache-2.0

import MartletHTTPServer
import TestSupport
import Testing

/// Tests of commands with answers that no relay of this version gives.
@Suite(.timeLimit(.minutes(10))) struct RelayAnswerTests {
    /// Runs a command with a server that gives the same answer to each request.
    private func run(
        _ words: [String],
        answer: String,
        status: Int = 200,
        input: String = ""
    ) async throws -> ProgramRun {
        let server = try await HTTP1Listener(host: "127.0.0.1", port: 0) { _ in
            .text(answer, status: status, type: "application/json")
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

    private static let job =
        #"{"id":"6b1f0c3e-0000-4000-8000-000000000007","state":"expanded","audience":"vip","#
        + #""created-at":1790000000000,"matched":1200,"stored":1130,"left-out":{"no-token":70},"waiting":400,"#
        + #""outcomes":{"delivered":728,"refused":2},"ended-at":1790000060000}"#

    @Test func `jobs are listed with their outcomes and the cursor`() async throws {
        let run = try await run(["relay", "jobs", "--app", "a"], answer: #"{"jobs":[\#(Self.job)],"cursor":7}"#)
        #expect(run.status == 0, "\(run.text)\(run.errorOutput)")
        let row = "2026-09-21T14:13:20Z  expanded    1,200   1,130      400  728 delivered, 2 refused  vip\n"
        #expect(run.text.contains(row), "\(run.text)")
        #expect(run.errorOutput.contains("--before 7"), "\(run.errorOutput)")
    }

    @Test func `a job is cancelled unless it has ended before`() async throws {
        let words = ["relay", "jobs", "cancel", "--app", "a", "--id", "6b1f0c3e-0000-4000-8000-000000000007"]
        let run = try await run(words, answer: Self.job, status: 409)
        #expect(run.status == 1 && run.errorOutput.contains("has ended"), "\(run.errorOutput)")
        #expect(run.text.contains("ended-at: 2026-09-21T14:14:20Z\n"), "\(run.text)")
        #expect(run.text.contains("left out: no-token      70\n"), "\(run.text)")
        #expect(run.text.contains("delivered              728\n"), "\(run.text)")
        let json = try await self.run(words + ["--json"], answer: Self.job, status: 409)
        #expect(json.status == 1 && json.text == Self.job + "\n", "\(json.text)\(json.errorOutput)")
        let cancelled = Self.job.replacing("expanded", with: "cancelled")
        let other = try await self.run(words, answer: cancelled)
        #expect(other.status == 0 && other.text.contains("state: cancelled\n"), "\(other.text)\(other.errorOutput)")
    }

    @Test func `a surface is shown with its phones up to the limit`() async throws {
        let kinds =
            #"{"liveActivity":{"desired-revision":2,"assumed-revision":1,"since":1790000000000,"#
            + #""state":"absent","reason":"no-start-token","detail":"tokens.start has no token"},"#
            + #""widget":{"desired-revision":2,"state":"sending"}}"#
        let surface =
            #"{"id":"order-7","state":"desired","revision":2,"spreading":false,"#
            + #""to":{"users":["anna","bob"]},"changed-at":1790000060000,"problem":"Apple has refused a broadcast","#
            + #""cursor":9,"installations":[{"installation":"p-1","kinds":\#(kinds)},"#
            + #"{"installation":"p-2","kinds":{}}]}"#
        let words = ["relay", "surfaces", "show", "--app", "a", "--id", "order-7"]
        let run = try await run(words + ["--limit", "2"], answer: surface)
        #expect(run.status == 0 && run.errorOutput.contains("--after 9"), "\(run.text)\(run.errorOutput)")
        #expect(run.text.contains("problem: Apple has refused a broadcast\nrevision: 2\n"), "\(run.text)")
        #expect(run.text.contains("audience: users anna, bob\n"), "\(run.text)")
        let row = "p-1           liveActivity  absent         2        1  2026-09-21T14:13:20Z  no-start-token: tokens"
        #expect(run.text.contains(row), "\(run.text)")
        #expect(run.text.contains("p-1           widget        sending        2"), "\(run.text)")
        #expect(run.text.contains("\np-2"), "\(run.text)")
        let whole = try await self.run(words, answer: surface)
        #expect(whole.status == 0 && whole.errorOutput.isEmpty, "\(whole.errorOutput)")
        let user = surface.replacing(#""p-1","#, with: #""p-1","user":"anna\u202e","#)
        let named = try await self.run(words, answer: user)
        #expect(named.text.contains("\nanna\\u202e  p-1           liveActivity  absent"), "\(named.text)")
    }

    @Test func `a list is read in pages of at most 200 until its limit`() async throws {
        let entries = Array(repeating: #"{"id":"s","state":"desired"}"#, count: 200).joined(separator: ",")
        let run = try await run(
            ["relay", "surfaces", "--app", "a", "--limit", "400", "--json"],
            answer: #"{"surfaces":[\#(entries)],"cursor":5}"#
        )
        #expect(run.status == 0, "\(run.errorOutput)")
        #expect(run.text.ranges(of: #""id":"s""#).count == 400, "\(run.text)")
        #expect(run.text.hasSuffix("],\"cursor\":5}\n"), "\(run.text)")
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

// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import MartletSimulator
import TestSupport
import Testing

/// Tests of `martlet send --tokens`, also killed and resumed.
@Suite(.timeLimit(.minutes(10))) struct SendManyTests {
    private static let martlet = MartletProcess.program

    /// A simulator and the files of one run.
    private struct Bench {
        let apns: SimulatedAPNs
        let scratch: ScratchDirectory
        let server: [String]
        let results: String

        init(_ configuration: SimulatedAPNs.Configuration = .init(storedPushes: 50_000)) async throws {
            apns = try await SimulatedAPNs.start(configuration)
            scratch = try ScratchDirectory()
            let authority = try scratch.write(apns.authorityPEM, to: "ca.pem")
            let port = await apns.port
            server = ["--host", "localhost:\(port)", "--ca", authority, "--topic", "com.example.app"]
            results = try scratch.write("", to: "none").replacing("/none", with: "/results.jsonl")
        }

        func list(_ lines: some Sequence<String>) throws -> String {
            try scratch.write(lines.joined(separator: "\n"), to: "list")
        }

        func words(_ list: String, _ more: [String]) -> [String] {
            ["send", "--tokens", list] + server + ["--title", "Hello"] + more
        }

        func send(_ list: String, _ more: String..., input: String = "") async throws -> ProgramRun {
            try await ProgramRun(SendManyTests.martlet, words(list, more), input: Array(input.utf8))
        }

        /// The entries of the results; throws for an incomplete line.
        func entries() throws -> [JSONValue] {
            try scratch.read("results.jsonl").split(separator: "\n").map { try JSONReader.read(Array($0.utf8)) }
        }
    }

    private func tokens(_ count: Int) -> [String] {
        (0..<count).map { "00ff" + String(0x10000 + $0, radix: 16) + "a" }
    }

    private func counts(_ run: ProgramRun) throws -> JSONValue {
        try JSONReader.read(Array(run.text.prefix { $0 != "\n" }.utf8))
    }

    @Test func `each device has a result, and unregistered tokens are written to a file`() async throws {
        let bench = try await Bench()
        let tokens = tokens(500)
        await bench.apns.unregister(try DeviceToken(hex: tokens[41]), since: Date(timeIntervalSince1970: 1_790_000_000))
        let dead = bench.results.replacing("results.jsonl", with: "dead.csv")
        let run = try await bench.send(
            try bench.list(tokens + [""]),
            "--results",
            bench.results,
            "--unregistered-tokens",
            dead,
            "--json"
        )
        #expect(run.status == 1, "\(run.errorOutput)")
        let counts = try counts(run)
        #expect(counts["accepted"]?.integerValue == 499 && counts["refused"]?.integerValue == 1)
        #expect(counts["reasons"]?["Unregistered"]?.integerValue == 1)
        #expect(Set(try bench.entries().map { $0["line"]?.integerValue }) == Set((1...500).map { Int64($0) }))
        let entry = try bench.entries().first { $0["line"]?.integerValue == 42 }
        #expect(entry?["device-token"]?.stringValue == tokens[41] && entry?["status"]?.integerValue == 410)
        let heading = "token,unregistered-at\n"
        #expect(try bench.scratch.read("dead.csv") == heading + "\(tokens[41]),1790000000000\n")
        let again = try await bench.send(dead, "--dry-run", "--json")
        #expect(again.status == 0 && again.text.contains("\"devices\":1"), "\(again.text)\(again.errorOutput)")
        await bench.apns.stop()
    }

    @Test(arguments: [
        ["token,badge,title,collapse-id", #"00ff,3,"Hello, you","#, "00aa,,,late", ""],
        [
            #"{"token":"00ff","badge":3,"title":"Hello, you"}"#,
            #"{"device-token":"00aa","collapse-id":"late"}"#,
        ],
    ]) func `a line overrides options for its device`(lines: [String]) async throws {
        let bench = try await Bench()
        let run = try await bench.send("-", input: lines.joined(separator: "\n"))
        #expect(run.status == 0, "\(run.errorOutput)")
        let pushes = await bench.apns.pushes
        let first = try #require(pushes.first { $0.deviceToken == "00ff" })
        #expect(
            String(decoding: first.payload, as: UTF8.self) == #"{"aps":{"alert":{"title":"Hello, you"},"badge":3}}"#
        )
        let second = try #require(pushes.first { $0.deviceToken == "00aa" })
        #expect(String(decoding: second.payload, as: UTF8.self) == #"{"aps":{"alert":{"title":"Hello"}}}"#)
        #expect(second.headers.collapseID == "late" && first.headers.collapseID == nil)
        await bench.apns.stop()
    }

    #if os(Linux)
        @Test func `a list from a slow pipe is sent as it arrives, and a signal stops the run`() async throws {
            let bench = try await Bench()
            let pipe = bench.scratch.path + "/pipe"
            #expect(mkfifo(pipe, 0o600) == 0)
            // Open for reading, too, so that neither side waits for the other.
            let writer = try #require(FileHandle(forUpdatingAtPath: pipe))
            // On one core there is one thread for everything but the connections.
            let words = bench.words("-", ["--results", bench.results])
            let process = try ChildProcess("taskset", ["-c", "0", SendManyTests.martlet] + words, input: pipe)
            for count in 1...2 {
                try writer.write(contentsOf: Array("00f\(count)\n\n".utf8))
                try await eventually("push \(count) arrives") { await bench.apns.pushCount >= count }
            }
            process.signal(SIGTERM)
            #expect(await process.ended() == 143)
            #expect(try bench.entries().map { $0["line"]?.integerValue } == [1, 3])
            try writer.close()
            await bench.apns.stop()
        }
    #endif

    @Test func `invalid lines are reported, and skipped only with --skip-bad-lines`() async throws {
        let bench = try await Bench()
        let list = try bench.list(["token,badge", "00ff,1", "hello,2", "00aa,many", "00bb,3,4", "00cc,5"])
        let refusal = try await bench.send(list)
        #expect(refusal.status == 2)
        for number in [3, 4, 5] { #expect(refusal.errorOutput.contains("line \(number): "), "\(refusal.errorOutput)") }
        #expect(refusal.errorOutput.contains("3 bad lines") && !refusal.errorOutput.contains("hello"))
        #expect(refusal.errorOutput.contains("line 3: column token: "))
        #expect(refusal.errorOutput.contains("line 4: column badge: must be an integer of 0 or more (found \"many\")"))
        #expect(refusal.errorOutput.contains("line 5: has 3 columns, but the heading has 2"))
        #expect(await bench.apns.pushCount == 0)
        let run = try await bench.send(list, "--skip-bad-lines", "--json")
        #expect(run.status == 0, "\(run.errorOutput)")
        #expect(try counts(run)["bad-lines"]?.integerValue == 3)
        #expect(Set(await bench.apns.pushes.map(\.deviceToken)) == ["00ff", "00cc"])
        await bench.apns.stop()
    }

    @Test func `a dry run checks the list and sends nothing`() async throws {
        let bench = try await Bench()
        let large = String(repeating: "x", count: 5_000)
        let list = try bench.list(["token,body", "00ff,short", "00aa,\(large)"])
        let run = try await bench.send(list, "--dry-run", "--json")
        #expect(run.status == 1)
        let counts = try counts(run)
        #expect(counts["devices"]?.integerValue == 2 && counts["would-be-refused"]?.integerValue == 1)
        #expect(await bench.apns.pushCount == 0)
        await bench.apns.stop()
    }

    /// Kills the run three times at random moments, each time after more pushes than can be in flight, so that some
    /// have been answered.
    @Test func `a run that is killed and resumed sends to each device and records it once`() async throws {
        let bench = try await Bench()
        let tokens = tokens(12_000)
        let list = try bench.list(tokens)
        for kill in 1...3 {
            let more = ["--results", bench.results] + (kill > 1 ? ["--resume"] : [])
            let sending = try ChildProcess(Self.martlet, bench.words(list, more))
            let enough = await bench.apns.pushCount + Int.random(in: 2_000...3_500)
            try await eventually("\(enough) pushes arrive, or the run ends") {
                let count = await bench.apns.pushCount
                return count >= enough || !sending.isRunning
            }
            sending.kill()
        }
        let run = try await bench.send(list, "--results", bench.results, "--resume", "--json")
        #expect(run.status == 0, "\(run.errorOutput)")
        let counts = try counts(run)
        let before = try #require(counts["answered-before"]?.integerValue)
        #expect(before > 0 && before + (counts["accepted"]?.integerValue ?? 0) == 12_000)
        let entries = try bench.entries()
        #expect(entries.count == 12_000)
        #expect(Set(entries.compactMap { $0["device-token"]?.stringValue }) == Set(tokens))
        await bench.apns.stop()
    }

    @Test func `each device has one outcome under faults, and unregistered tokens have times`()
        async throws
    {
        let bench = try await Bench(.init(streamsBeforeToken: 100, seed: 7))
        let tokens = tokens(4_000)
        let dead = stride(from: 0, to: tokens.count, by: 20).map { tokens[$0] }
        for (number, token) in dead.enumerated() {
            await bench.apns.unregister(
                try DeviceToken(hex: token),
                since: Date(timeIntervalSince1970: 1_790_000_000 + Double(number) / 1_000)
            )
        }
        await bench.apns.setFaults(
            [
                SimulatedAPNs.Fault(.resetStream(code: 2), probability: 0.01),
                SimulatedAPNs.Fault(.goAway(debugData: #"{"reason":"Shutdown"}"#), after: 999, every: 1_000),
                SimulatedAPNs.Fault(.respond(.tooManyRequests, retryAfter: 0), count: 100, after: 1_500),
            ],
            seed: 7
        )
        let deadFile = bench.results.replacing("results.jsonl", with: "dead.csv")
        let files = ["--results", bench.results, "--unregistered-tokens", deadFile, "--json"]
        let list = try bench.list(tokens)
        let run = try await ProgramRun(Self.martlet, bench.words(list, files))
        let counts = try counts(run)
        let outcomes = ["accepted", "refused", "unanswered", "not-sent"].compactMap { counts[$0]?.integerValue }
        #expect(outcomes.reduce(0, +) == 4_000, "\(run.text) \(run.errorOutput)")
        #expect(outcomes[2] > 0, "the outcome of a reset push is unknown")
        // The next run sends to the devices without an answer.
        await bench.apns.setFaults([], seed: 7)
        let rest = try await ProgramRun(Self.martlet, bench.words(list, files + ["--resume"]))
        let refused = try self.counts(rest)["refused"]?.integerValue ?? 0
        #expect(rest.status == (refused > 0 ? 1 : 0), "\(rest.errorOutput)")
        let lines = try bench.entries().compactMap { $0["line"]?.integerValue }
        #expect(lines.sorted() == Array(1...4_000))
        let written = try bench.scratch.read("dead.csv").split(separator: "\n").map(String.init)
        #expect(written.first == "token,unregistered-at")
        #expect(Set(written.dropFirst()) == Set(dead.enumerated().map { "\($1),\(1_790_000_000_000 + $0)" }))
        await bench.apns.stop()
    }

    @Test func `memory does not grow with the list`() async throws {
        let bench = try await Bench(.init(storedPushes: 10))
        try await expectConstantMemory(for: [4_000, 150_000]) { bench.words(try bench.list(tokens($0)), []) }
        await bench.apns.stop()
    }

    @Test func `memory does not grow with the list of a dry run`() async throws {
        let bench = try await Bench()
        try await expectConstantMemory(for: [1_000, 1_000_000]) { count in
            let lines = (0..<count).lazy.map { "00000000\(10_000_000 + $0)" }
            return bench.words(try bench.list(lines), ["--dry-run"])
        }
        await bench.apns.stop()
    }

    /// Checks that a process which sends to many more devices needs about the memory of one that sends to few.
    ///
    /// Tokens and outcomes of all devices would exceed the factor, which leaves room for the allocator.
    private func expectConstantMemory(for counts: [Int], _ words: (Int) throws -> [String]) async throws {
        var memory: [Int] = []
        for count in counts {
            let run = try await Python.peakMemory(ofMartlet: try words(count))
            #expect(run.status == 0)
            if let bytes = run.bytes { memory.append(bytes) }
        }
        if memory.count == 2 { #expect(Double(memory[1]) < 1.5 * Double(memory[0]), "\(memory)") }
    }

    @Test func `an interrupted run waits for answers and reports untried devices`() async throws {
        let bench = try await Bench()
        let list = try bench.list(tokens(50_000))
        let words = bench.words(list, ["--results", bench.results, "--rate", "1000", "--json"])
        let sending = try ChildProcess(Self.martlet, words, output: bench.scratch.path + "/output")
        try await eventually("100 pushes arrive") { await bench.apns.pushCount >= 100 }
        sending.interrupt()
        #expect(await sending.ended() == 130)
        let output = try bench.scratch.read("output")
        let lines = output.split(separator: "\n")
        let counts = try JSONReader.read(Array(try #require(lines.first).utf8))
        let error = try JSONReader.read(Array(try #require(lines.last).utf8))
        let tried = Int64(try bench.entries().count)
        #expect(error["error"] == "interrupted" && error["not-tried"]?.integerValue == 50_000 - tried, "\(output)")
        #expect(error["message"]?.stringValue?.hasSuffix(" of 50,000 devices were not tried") == true, "\(output)")
        let rest = (counts["not-read"]?.integerValue ?? 0) + (counts["not-sent"]?.integerValue ?? 0)
        #expect(rest == 50_000 - tried, "\(output)")
        #expect(try bench.entries().count == Int(await bench.apns.pushCount), "what was sent was answered")
        #expect(try bench.entries().count < 50_000)
        await bench.apns.stop()
    }

    @Test func `an interrupted run leaves no progress on the terminal`() async throws {
        let bench = try await Bench()
        let terminal = try PseudoTerminal(columns: 60)
        let words = bench.words(try bench.list(tokens(50_000)), ["--rate", "1000"])
        let sending = try ChildProcess(Self.martlet, words, output: terminal.path, errors: terminal.path)
        let text = try await terminal.text {
            try await eventually("500 pushes arrive") { await bench.apns.pushCount >= 500 }
            sending.interrupt()
            #expect(await sending.ended() == 130)
        }
        let parts = text.components(separatedBy: "\r\u{1B}[2K")
        #expect(parts.count > 2)
        for line in parts.dropLast() { #expect(line.count < 60 && !line.contains("\n"), "\(line)") }
        let lines = try #require(parts.last).split(separator: "\n")
        #expect(lines.last?.hasPrefix("martlet send: interrupted: ") == true, "\(text)")
        await bench.apns.stop()
    }

    @Test func `a server that resets every connection stops the run`() async throws {
        let server = try SilentServer()
        server.resetClients()
        let bench = try await Bench()
        let words = ["send", "--host", "http://localhost:\(server.port)", "--topic", "com.example.app", "--body", "x"]
        let list = ["--tokens", try bench.list(tokens(100_000)), "--results", bench.results, "--json"]
        let run = try await ProgramRun(Self.martlet, words + list)
        #expect(run.status == 3, "\(run.text)")
        let error = try JSONReader.read(Array(run.text.split(separator: "\n")[1].utf8))
        #expect(error["error"] == "connectionLost", "\(run.text)")
        let counts = try counts(run)
        #expect(counts["accepted"]?.integerValue == 0 && (counts["not-read"]?.integerValue ?? 0) > 90_000)
        #expect(run.errorOutput.contains("--resume"), "\(run.errorOutput)")
        await bench.apns.stop()
    }

    @Test(arguments: [["--dry-run"], []]) func `an empty list is reported`(more: [String]) async throws {
        let bench = try await Bench()
        for text in ["", "\n\n", "token,title\n"] {
            let words = bench.words(try bench.scratch.write(text, to: "list"), more)
            let run = try await ProgramRun(Self.martlet, words)
            #expect(run.status == 0 && run.errorOutput.contains("list has no devices\n"), "\(run.errorOutput)")
        }
        await bench.apns.stop()
    }

    @Test func `a results file is not overwritten, and not used with another list`() async throws {
        let bench = try await Bench()
        let list = try bench.list(tokens(20))
        #expect(try await bench.send(list, "--results", bench.results).status == 0)
        #expect(try await bench.send(list, "--results", bench.results).errorOutput.contains("--resume"))
        let other = try await bench.send(
            try bench.list(tokens(21).reversed()),
            "--results",
            bench.results,
            "--resume"
        )
        #expect(other.status != 0 && other.errorOutput.contains("the list has changed"), "\(other.errorOutput)")
        #expect(other.errorOutput.components(separatedBy: "the list has changed").count == 2, "\(other.errorOutput)")
        #expect(await bench.apns.pushCount == 20)
        await bench.apns.stop()
    }

    @Test func `--rate limits the devices per second`() async throws {
        let bench = try await Bench()
        let start = ContinuousClock.now
        let run = try await bench.send(try bench.list(tokens(80)), "--rate", "200")
        #expect(run.status == 0, "\(run.errorOutput)")
        // A tenth of a second may be made up for.
        #expect(ContinuousClock.now - start > .milliseconds(290))
        await bench.apns.stop()
    }

    @Test func `the printed time and rate agree`() async throws {
        let bench = try await Bench()
        let run = try await bench.send(try bench.list(tokens(5)), "--rate", "10")
        let line = try #require(run.text.firstMatch(of: /([0-9.]+) s, ([0-9.]+) devices per second\n/), "\(run.text)")
        let product = try #require(Double(line.output.1)) * (try #require(Double(line.output.2)))
        #expect((4...6).contains(product), "\(run.text)")
        await bench.apns.stop()
    }

    @Test func `a server that cannot be reached stops the run`() async throws {
        let bench = try await Bench()
        await bench.apns.stop()
        let run = try await bench.send(try bench.list(tokens(100_000)), "--json")
        #expect(run.status == 3)
        #expect(try counts(run)["accepted"]?.integerValue == 0)
        let error = try JSONReader.read(Array(run.text.split(separator: "\n")[1].utf8))
        #expect(error["error"] == "connectionFailed" && error["message"]?.stringValue?.isEmpty == false)
        let rest = (try counts(run)["not-read"]?.integerValue ?? 0) + (try counts(run)["not-sent"]?.integerValue ?? 0)
        #expect(rest == 100_000, "\(run.text)")
        let plain = try await bench.send(try bench.list(tokens(100_000)))
        #expect(plain.errorOutput.contains("100,000 of 100,000 devices were not tried"), "\(plain.errorOutput)")
        // More than a run reads ahead: a shorter list may be read to its end before the first connection fails.
        let piped = try await bench.send("-", input: tokens(100_000).joined(separator: "\n"))
        #expect(piped.errorOutput.contains("devices and the rest of the list were not tried"), "\(piped.errorOutput)")
    }
}

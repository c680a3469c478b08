// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import MartletSimulator
import TestSupport
import Testing

/// The output of commands with `--json`.
@Suite(.timeLimit(.minutes(10))) struct OutputTests {
    /// Command lines, and a member that each line of the output has.
    private static let lines: [(words: String, member: String)] = [
        ("ca path --ca-directory {scratch}", "path"), ("ca print --ca-directory {scratch}", "certificate"),
        ("surface example control", "kind"), ("surface schema", "$schema"),
        ("surface validate {snapshot}", "valid"), ("surface migrate {snapshot}", "snapshot"),
        ("relay keys make --name back --apps orders", "key"), ("token", "token"), ("version", "version"),
        ("completion bash", "script"), ("manual", "manual"), ("healthcheck --url {inbox}", "ready"),
        ("send {server} --to 5d3a --to 5d3b --body x", "apns-id"),
        ("live update {server} --to 5d3a --state {}", "apns-id"),
        ("live end {server} --to 5d3a", "device-token"),
        ("broadcast {server} --channel {channel} --state {}", "channel"),
        ("channels list {server}", "channels"), ("channels read {server} --channel {channel}", "stores-newest"),
        ("channels delete {server} --channel {channel}", "deleted"), ("doctor {server}", "steps"),
    ]

    @Test(arguments: lines.indices) func `every line is a JSON object`(index: Int) async throws {
        let (line, member) = Self.lines[index]
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(inboxPort: 0, isEncrypted: false))
        let scratch = try ScratchDirectory()
        let server = "--topic com.example.app --host http://localhost:\(await apns.port)"
        let create = "channels create --json \(server)".split(separator: " ").map(String.init)
        let channel = try JSONReader.read(try await ProgramRun(MartletProcess.program, create).output)
        let example = try await ProgramRun(MartletProcess.program, ["surface", "example", "widget"])
        let inboxPort = await apns.inboxPort ?? 0
        let names = [
            "{server}": server, "{scratch}": scratch.path, "{inbox}": "localhost:\(inboxPort)",
            "{snapshot}": try scratch.write(example.output, to: "widget.json"),
            "{channel}": channel["channel"]?.stringValue ?? "",
        ]
        let words = names.reduce(line) { $0.replacing($1.key, with: $1.value) }.split(separator: " ").map(String.init)
        let run = try await ProgramRun(MartletProcess.program, words + ["--json"])
        #expect(run.status == 0 && run.errorOutput.isEmpty, "\(run.text)\(run.errorOutput)")
        let values = try run.text.split(separator: "\n").map { try JSONReader.read(Array($0.utf8)) }
        #expect(!values.isEmpty && values.allSatisfy { $0[member] != nil }, "\(run.text)")
        await apns.stop()
    }

    @Test func `demo prints one object per push`() async throws {
        let run = try await ProgramRun(MartletProcess.program, ["demo", "--json"])
        #expect(run.status == 0 && run.errorOutput.isEmpty, "\(run.errorOutput)")
        let values = try run.text.split(separator: "\n").map { try JSONReader.read(Array($0.utf8)) }
        #expect(values.count > 30)
        #expect(values.allSatisfy { $0["expected"] == true && $0["answer"] != nil })
        #expect(values.map { $0["number"]?.integerValue } == (1...values.count).map(Int64.init))
    }

    @Test func `simulate prints its ports and one object per push`() async throws {
        let scratch = try ScratchDirectory()
        let output = scratch.path + "/output"
        let simulator = try ChildProcess(
            MartletProcess.program,
            ["simulate", "--json", "--h2c", "--port", "0", "--inbox-port", "0"],
            output: output
        )
        defer { simulator.kill() }
        func line(_ number: Int) async throws -> JSONValue? {
            var found: JSONValue?
            try await eventually("the simulator prints line \(number), or ends") {
                let lines = try scratch.read("output").split(separator: "\n", omittingEmptySubsequences: false)
                if lines.count > number + 1 { found = try JSONReader.read(Array(lines[number].utf8)) }
                return found != nil || !simulator.isRunning
            }
            return found
        }
        let addresses = try #require(try await line(0))
        let port = try #require(addresses["port"]?.integerValue)
        #expect(addresses["inbox-port"]?.integerValue.map { $0 > 0 } == true)
        let send = ["send", "--host", "http://localhost:\(port)", "--topic", "a.b", "--to", "5d3a", "--body", "x"]
        #expect(try await ProgramRun(MartletProcess.program, send).status == 0)
        let push = try #require(try await line(1))
        #expect(push["status"] == 200 && push["device-token"] == "5d3a" && push["topic"] == "a.b")
    }
}

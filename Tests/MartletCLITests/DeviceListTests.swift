// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import MartletSimulator
import TestSupport
import Testing

/// Tests of the device lists and output files of `martlet send --tokens`.
@Suite(.timeLimit(.minutes(10))) struct DeviceListTests {
    private struct Bench {
        let apns: SimulatedAPNs
        let scratch: ScratchDirectory
        private let host: String

        init() async throws {
            apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
            scratch = try ScratchDirectory()
            host = "http://localhost:\(await apns.port)"
        }

        func path(_ name: String) -> String { scratch.path + "/" + name }

        func words(_ more: [String]) -> [String] {
            ["send", "--host", host, "--topic", "com.example.app"] + more
        }

        func send(_ more: String..., input: String = "") async throws -> ProgramRun {
            try await ProgramRun(MartletProcess.program, words(more), input: Array(input.utf8))
        }

        /// The payloads by device.
        func payloads() async -> [String: String] {
            let pairs = await apns.pushes.map { ($0.deviceToken, String(decoding: $0.payload, as: UTF8.self)) }
            return Dictionary(pairs) { first, _ in first }
        }
    }

    @Test(arguments: [
        "\u{FEFF}Token,TITLE\n00ff,Hi\n", "\u{FEFF}\"token\",\"title\"\r\n\"00ff\",\"Hi\"\r\n",
        "\u{FEFF}{\"token\":\"00ff\",\"title\":\"Hi\"}\n", "Title , Token\nHi,00ff\n",
    ]) func `a list with content needs no option, and a spreadsheet heading is accepted`(
        list: String
    ) async throws {
        let bench = try await Bench()
        let file = try bench.scratch.write(list, to: "list")
        for source in [file, "-"] {
            let run = try await bench.send("--tokens", source, input: list)
            #expect(run.status == 0, "\(run.text)\(run.errorOutput)")
        }
        #expect(await bench.apns.pushCount == 2)
        #expect(await bench.payloads() == ["00ff": #"{"aps":{"alert":{"title":"Hi"}}}"#])
        await bench.apns.stop()
    }

    @Test func `a dump of a database is a list, and its other columns are named as ignored`() async throws {
        let bench = try await Bench()
        let list = "id,device_token,created_at,Thread ID\n7,00ff,2026-11-28 10:00:00+00,order\n"
        let run = try await bench.send("--tokens", "-", "--body", "Hi", input: list)
        #expect(run.status == 0, "\(run.errorOutput)")
        let note = "ignored columns of --tokens standard input: id, created-at\n"
        #expect(run.errorOutput.contains(note), "\(run.errorOutput)")
        #expect(await bench.payloads() == ["00ff": #"{"aps":{"alert":{"body":"Hi"},"thread-id":"order"}}"#])
        let misspelled = try await bench.send("--tokens", "-", "--body", "Hi", input: "token,titel\n00ff,Hi\n")
        #expect(misspelled.status == 2 && misspelled.errorOutput.contains("did you mean title?"))
        let both = try await bench.send("--tokens", "-", "--body", "Hi", input: "token,device_token\n1,00ff\n")
        #expect(both.status == 2 && both.errorOutput.contains("both token and device-token may be the token"))
        let lines = try await bench.send("--tokens", "-", "--body", "Hi", input: #"{"device_token":"00aa"}"#)
        #expect(lines.status == 0, "\(lines.errorOutput)")
        let damaged = try await bench.send("--tokens", "-", "--body", "Hi", input: "5d3a6a1c8f9a42d6x,1\n")
        #expect(damaged.status == 2 && !damaged.errorOutput.contains("5d3a"), "\(damaged.errorOutput)")
        await bench.apns.stop()
    }

    @Test func `a byte order mark before a plain list is skipped`() async throws {
        let bench = try await Bench()
        let run = try await bench.send("--tokens", "-", "--body", "x", input: "\u{FEFF}00ff\n00aa\n")
        #expect(run.status == 0, "\(run.text)\(run.errorOutput)")
        #expect(Set(await bench.apns.pushes.map(\.deviceToken)) == ["00ff", "00aa"])
        await bench.apns.stop()
    }

    @Test func `a list without content needs an option for it`() async throws {
        let bench = try await Bench()
        for list in ["00ff\n", "token,priority\n00ff,5\n"] {
            let file = try bench.scratch.write(list, to: "list")
            let run = try await bench.send("--tokens", file)
            #expect(run.status == 2 && run.errorOutput.contains("nothing to send: give --title"), "\(run.errorOutput)")
        }
        let file = try bench.scratch.write("token,title\n00ff,Hi\n00aa,\n", to: "list")
        let run = try await bench.send("--tokens", file)
        #expect(run.status == 2 && run.errorOutput.contains("line 3: has no content"), "\(run.errorOutput)")
        #expect(await bench.apns.pushCount == 0)
        await bench.apns.stop()
    }

    @Test func `a field in quotation marks may contain line breaks`() async throws {
        let bench = try await Bench()
        let list = "token,body\n00ff,\"one\ntwo, \"\"three\"\"\r\n\"\n\n00aa,four \"5\"\nnonsense,x\n"
        let file = try bench.scratch.write(list, to: "list")
        let refusal = try await bench.send("--tokens", file)
        #expect(refusal.status == 2 && refusal.errorOutput.contains("line 7: "), "\(refusal.errorOutput)")
        #expect(refusal.errorOutput.contains("1 bad line;"))
        for source in [file, "-"] {
            let run = try await bench.send("--tokens", source, "--skip-bad-lines", "--json", input: list)
            #expect(run.status == 0 && run.text.contains(#""accepted":2"#), "\(run.text)\(run.errorOutput)")
        }
        let payloads = await bench.payloads()
        #expect(payloads["00ff"] == #"{"aps":{"alert":{"body":"one\ntwo, \"three\"\r\n"}}}"#)
        #expect(payloads["00aa"] == #"{"aps":{"alert":{"body":"four \"5\""}}}"#)
        await bench.apns.stop()
    }

    @Test(arguments: [
        ("00ff,\"Hi\n00aa,Hello\n", "line 2: has a quotation mark that is not closed before the end"),
        ("00ff,\"Hi\n" + String(repeating: "00aa,Hello\n", count: 8_000), "line 2: has a quotation mark that is not"),
        ("00ff,\"Hi\" there\n", "line 2: has text after a closing quotation mark"),
    ]) func `unbalanced quotation marks reject the list`(lines: String, message: String) async throws {
        let bench = try await Bench()
        let file = try bench.scratch.write("token,title\n" + lines, to: "list")
        let run = try await bench.send("--tokens", file)
        #expect(run.status == 2 && run.errorOutput.contains(message), "\(run.errorOutput)")
        let skipping = try await bench.send("--tokens", file, "--skip-bad-lines")
        #expect(skipping.errorOutput.contains(message), "\(skipping.errorOutput)")
        #expect(await bench.apns.pushCount == 0)
        await bench.apns.stop()
    }

    @Test(arguments: [
        (#"{"token":"00aa","push_token":"00ff"}"#, "line 1: both token and push-token may be the token"),
        (#"{"token":"00aa","collapse_id":"a","collapse-id":"b"}"#, #"line 1: has the field "collapse-id" twice"#),
    ]) func `a JSON line has each field once`(line: String, message: String) async throws {
        let bench = try await Bench()
        let file = try bench.scratch.write(line + "\n", to: "list")
        let run = try await bench.send("--tokens", file, "--body", "Hi")
        #expect(run.status == 2 && run.errorOutput.contains(message), "\(run.errorOutput)")
        #expect(await bench.apns.pushCount == 0)
        await bench.apns.stop()
    }

    // MARK: Output files

    @Test(arguments: [
        "00ff\n00aa\n", "00ff", "Dear diary,\nnothing happened.\n", "{\"list\":[1,2]}", "{\"token\":\"00ff\"}\n",
        "{\"token\":\"00ff\"}", "token,badge\n00ff,3\n", "00ff,Hello\n", "{\"line\":1,\"device-token\":\"00ff\"}\n",
        "{\"line\":1,\"device-token\":\"00ff\",\"status\":200}\ntext\n",
    ]) func `a file that is not the output of an earlier run is not changed`(text: String) async throws {
        let bench = try await Bench()
        let list = try bench.scratch.write("00ff\n", to: "list")
        let file = try bench.scratch.write(text, to: "file")
        let earlier = try bench.scratch.write("", to: "earlier.jsonl")
        for outputs in [["--results", file], ["--results", earlier, "--unregistered-tokens", file]] {
            let words = bench.words(["--tokens", list, "--body", "x", "--resume"] + outputs)
            let run = try await ProgramRun(MartletProcess.program, words)
            #expect(run.status == 2 && run.errorOutput.contains("does not contain"), "\(run.text)\(run.errorOutput)")
            #expect(try bench.scratch.read("file") == text)
        }
        #expect(await bench.apns.pushCount == 0)
        await bench.apns.stop()
    }

    @Test func `the list itself is never an output file, whatever its name`() async throws {
        let bench = try await Bench()
        let entry = #"{"line":1,"device-token":"00ff","status":200}"# + "\n"
        let list = try bench.scratch.write(entry, to: "list")
        try FileManager.default.createSymbolicLink(atPath: bench.path("link"), withDestinationPath: list)
        try FileManager.default.linkItem(atPath: list, toPath: bench.path("hard"))
        for name in ["list", "link", "hard", "./list"] {
            for outputs in [
                ["--results", bench.path(name)], ["--results", "none", "--unregistered-tokens", bench.path(name)],
            ] {
                let words = bench.words(["--tokens", list, "--body", "x", "--resume"] + outputs)
                let run = try await ProgramRun(MartletProcess.program, words)
                #expect(run.status == 2 && run.errorOutput.contains("is the list of --tokens"), "\(run.errorOutput)")
                #expect(try bench.scratch.read("list") == entry)
            }
        }
        await bench.apns.stop()
    }

    @Test func `an incomplete last line of results is removed, and its device is sent to`() async throws {
        let bench = try await Bench()
        let list = try bench.scratch.write("00ff\n00aa\n", to: "list")
        let whole = #"{"line":1,"device-token":"00ff","status":410,"unregistered-at":5}"# + "\n"
        let results = try bench.scratch.write(whole + #"{"line":2,"device-tok"#, to: "results")
        let dead = try bench.scratch.write("00ff,5\n00ff", to: "dead")
        let run = try await bench.send(
            "--tokens",
            list,
            "--body",
            "x",
            "--resume",
            "--results",
            results,
            "--unregistered-tokens",
            dead
        )
        #expect(run.status == 0, "\(run.text)\(run.errorOutput)")
        #expect(await bench.apns.pushes.map(\.deviceToken) == ["00aa"])
        let text = try bench.scratch.read("results")
        #expect(text.hasPrefix(whole + #"{"line":2,"device-token":"00aa","#) && text.hasSuffix("}\n"), "\(text)")
        #expect(try bench.scratch.read("dead") == "token,unregistered-at\n00ff,5\n")
        await bench.apns.stop()
    }

    @Test func `a complete last line of results without a line feed counts`() async throws {
        let bench = try await Bench()
        let list = try bench.scratch.write("00ff\n00aa\n", to: "list")
        let entry = #"{"line":1,"device-token":"00ff","status":200}"#
        let results = try bench.scratch.write(entry, to: "results")
        let run = try await bench.send("--tokens", list, "--body", "x", "--resume", "--results", results)
        #expect(run.status == 0, "\(run.text)\(run.errorOutput)")
        #expect(await bench.apns.pushes.map(\.deviceToken) == ["00aa"])
        let lines = try bench.scratch.read("results").split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 3 && lines[0] == entry && lines[1].hasPrefix(#"{"line":2,"#) && lines[2].isEmpty)
        await bench.apns.stop()
    }

    @Test(arguments: [[], ["--skip-bad-lines"]]) func `a list may be a pipe with a path`(more: [String]) async throws {
        let bench = try await Bench()
        let words = bench.words(["--tokens", "/dev/stdin", "--body", "x"] + more)
        let run = try await ProgramRun(MartletProcess.program, words, input: Array("00ff\n00aa\n".utf8))
        #expect(run.status == 0, "\(run.text)\(run.errorOutput)")
        #expect(Set(await bench.apns.pushes.map(\.deviceToken)) == ["00ff", "00aa"])
        await bench.apns.stop()
    }

    @Test func `two runs cannot write one file of results`() async throws {
        let bench = try await Bench()
        let tokens = (0..<500).map { String(0x10000 + $0, radix: 16) + "aaa" }
        let list = try bench.scratch.write(tokens.joined(separator: "\n"), to: "list")
        let words = bench.words(["--tokens", list, "--body", "x", "--results", bench.path("results")])
        let first = try ChildProcess(MartletProcess.program, words + ["--rate", "20"])
        try await eventually("three pushes arrive") { await bench.apns.pushCount >= 3 }
        let second = try await ProgramRun(MartletProcess.program, words + ["--resume"])
        #expect(second.status == 2 && second.errorOutput.contains("is locked by"), "\(second.errorOutput)")
        #if os(Linux)
            #expect(second.errorOutput.contains("locked by process "), "\(second.errorOutput)")
        #endif
        first.interrupt()
        #expect(await first.ended() == 130)
        #expect(Set(await bench.apns.pushes.map(\.deviceToken)).count == Int(await bench.apns.pushCount))
        await bench.apns.stop()
    }

    @Test func `a run that sends nothing leaves no empty files`() async throws {
        let bench = try await Bench()
        let list = try bench.scratch.write("00ff\n", to: "list")
        let bad = try bench.scratch.write("00ff\nnonsense\n", to: "bad")
        let results = bench.path("results")
        let dead = try await bench.send(
            "--tokens",
            list,
            "--body",
            "x",
            "--results",
            results,
            "--unregistered-tokens",
            "/nodir/x"
        )
        #expect(dead.status == 2 && dead.errorOutput.contains("/nodir/x"), "\(dead.errorOutput)")
        #expect(!FileManager.default.fileExists(atPath: results))
        for (list, input) in [(bad, ""), ("-", "nonsense\n")] {
            let run = try await bench.send("--tokens", list, "--body", "x", "--results", results, input: input)
            #expect(run.status == 2, "\(run.errorOutput)")
            #expect(!FileManager.default.fileExists(atPath: results))
        }
        await bench.apns.stop()
    }

    @Test func `a failure after pushes were sent prints one error and the totals`() async throws {
        let bench = try await Bench()
        let piped = try await bench.send("--tokens", "-", "--body", "x", input: "00ff\nnonsense\n00aa\n")
        #expect(piped.status == 2 && piped.text.contains("accepted") && piped.text.contains("1"), "\(piped.text)")
        #expect(piped.errorOutput.components(separatedBy: "line 2").count == 2, "\(piped.errorOutput)")
        let json = try await bench.send("--tokens", "-", "--body", "x", "--json", input: "00ff\nnonsense\n00aa\n")
        let values = try json.text.split(separator: "\n").map { try JSONReader.read(Array($0.utf8)) }
        #expect(values.count == 2 && values.first?["accepted"]?.integerValue == 1, "\(json.text)")
        #expect(values.last?["lines"]?.elements?.first?["line"]?.integerValue == 2, "\(json.text)")
        #expect(json.errorOutput.isEmpty, "\(json.errorOutput)")
        await bench.apns.stop()
    }

    @Test func `the invalid lines of a list are in the JSON of the error`() async throws {
        let bench = try await Bench()
        let list = try bench.scratch.write("00ff\nnonsense\n00aa\nmore\n", to: "list")
        for more in [[], ["--dry-run"]] {
            let words = bench.words(["--tokens", list, "--body", "x", "--json"] + more)
            let run = try await ProgramRun(MartletProcess.program, words)
            let error = try JSONReader.read(Array((run.text.split(separator: "\n").last ?? "").utf8))
            let lines = error["lines"]?.elements ?? []
            #expect(run.status == 2 && lines.map { $0["line"]?.integerValue } == [2, 4], "\(run.text)")
            #expect(lines.allSatisfy { $0["message"]?.stringValue?.isEmpty == false })
            #expect(run.errorOutput.isEmpty, "\(run.errorOutput)")
        }
        await bench.apns.stop()
    }
}

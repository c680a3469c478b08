// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import MartletCLI

/// Tests of `relay import` and `relay export`.
@Suite(.timeLimit(.minutes(10))) struct PhoneListTests {
    private struct Bench {
        let relay: RelayProcess
        private let key: String

        init() async throws {
            let caller: [String: any Sendable] = [
                "name": "installer", "key-sha256": RelayProcess.callerKeyHash, "apps": ["app"],
                "scopes": ["installations"],
            ]
            relay = try await RelayProcess(to: ["host": "127.0.0.1", "port": 1, "clear": true], ["callers": [caller]])
            key = try relay.scratch.write(RelayProcess.callerKey, to: "installer.key")
            try await relay.start()
        }

        func run(_ words: String..., input: String = "") async throws -> ProgramRun {
            try await run(words, input: input)
        }

        func run(_ words: [String], input: String = "") async throws -> ProgramRun {
            let options = ["--app", "app", "--url", "http://127.0.0.1:\(relay.httpPort)", "--key-file", key]
            return try await ProgramRun(MartletProcess.program, words + options, input: Array(input.utf8))
        }
    }

    private static let list = """
        \u{FEFF}User,Device Token,tags,locale,alerts,created_at\r
        anna,00FF,"{vip,de}",de-CH,t,2026-11-28\r
        "bert, jr",aa11,vip new,,f,2026-11-28\r

        """

    /// The end of a Live Activity.
    private static let end = #"{"cause":"user","at":1790000000000}"#

    @Test func `a dump of a database is imported, and again without a change`() async throws {
        let bench = try await Bench()
        let run = try await bench.run("relay", "import", "-", "--json", input: Self.list)
        #expect(run.status == 0 && run.text.contains(#""added":2"#), "\(run.text)\(run.errorOutput)")
        #expect(run.errorOutput.contains("ignored columns of standard input: created-at"))
        let again = try await bench.run("relay", "import", "-", input: Self.list)
        #expect(again.status == 0 && again.text.contains("unchanged"), "\(again.text)\(again.errorOutput)")
        let export = try await bench.run("relay", "export", "--csv")
        #expect(export.text.contains(#",anna,production,com.example.app,de-CH,,,,,true,,,"de vip""#), "\(export.text)")
        #expect(export.text.contains(#","bert, jr",production,"#), "\(export.text)")
        _ = await bench.relay.stop()
    }

    @Test(arguments: [[], ["--csv"]] as [[String]])
    func `an export is imported by another relay`(format: [String]) async throws {
        let first = try await Bench()
        let second = try await Bench()
        let run = try await first.run("relay", "import", "-", input: Self.list)
        #expect(run.status == 0, "\(run.errorOutput)")
        let words = ["relay", "export"] + format
        let export = try await first.run(words)
        let next = try await second.run("relay", "import", "-", "--json", input: export.text)
        #expect(next.status == 0 && next.text.contains(#""added":2"#), "\(next.text)\(next.errorOutput)")
        #expect(try await second.run(words).text == export.text)
        _ = await first.relay.stop()
        _ = await second.relay.stop()
    }

    @Test func `a user with any characters is exported as CSV`() async throws {
        let bench = try await Bench()
        // A comma and a combining mark are one character.
        let list = #"{"user":" a,\#u{301}\"\#u{301} b\"","token":"00ff"}"#
        let run = try await bench.run("relay", "import", "-", input: list)
        #expect(run.status == 0, "\(run.errorOutput)")
        let export = try await bench.run("relay", "export", "--csv")
        let again = try await bench.run("relay", "import", "-", "--json", input: export.text)
        #expect(again.text.contains(#""unchanged":1"#), "\(export.text)\(again.text)\(again.errorOutput)")
        _ = await bench.relay.stop()
    }

    @Test func `no cell of an export is a formula, and an import reads it`() async throws {
        let bench = try await Bench()
        let users = [
            "=1+1", "+1", "-1", "@SUM(A1)", "\u{FF1D}1", " =1", "\u{A0}=1", "'=1", "''=1", "'", "'anna", "=\u{301}1",
            "=,1",
        ]
        let texts = #""model":"=cmd","app-version":"+1.0","system-version":"@26","locale":"-de","tags":["@vip","-new"]"#
        let rows = users.enumerated().map { number, user in
            #"{"user":"\#(user)","token":"00f\#(String(number, radix: 16))",\#(texts)}"#
        }
        let run = try await bench.run("relay", "import", "-", input: rows.joined(separator: "\n"))
        #expect(run.status == 0, "\(run.text)\(run.errorOutput)")
        let export = try await bench.run("relay", "export", "--csv")
        let records = export.text.split(separator: "\n")
        #expect(records.count == users.count + 1)
        let formulaStarts = "=+-@ \u{FF1D}\u{A0}".unicodeScalars
        for record in records {
            for cell in try CSVScanner.fields(of: Array(record.utf8)[...]) where !cell.isEmpty {
                #expect(cell.unicodeScalars.first.map { formulaStarts.contains($0) } == false, "\(record)")
            }
        }
        let again = try await bench.run("relay", "import", "-", "--json", input: export.text)
        #expect(again.text.contains(#""unchanged":\#(users.count),"#), "\(export.text)\(again.text)")
        _ = await bench.relay.stop()
    }

    @Test func `JSON lines as a database writes them are imported`() async throws {
        let bench = try await Bench()
        let list = """
            {"user":42,"device_token":"00ff","locale":null,"tags":["vip"],"alerts":true}
            {"user":"anna","tokens":{"start":{"Order":"aa"}},"id":"0199F2C4-0000-7000-8000-000000000001"}
            """
        let run = try await bench.run("relay", "import", "-", input: list)
        #expect(run.status == 0, "\(run.text)\(run.errorOutput)")
        let export = try await bench.run("relay", "export")
        #expect(export.text.contains(#""user":"42""#) && export.text.contains(#""permissions":{"alerts":true}"#))
        #expect(export.text.contains("0199f2c4-0000-7000-8000-000000000001"), "\(export.text)")
        let csv = try await bench.run("relay", "export", "--csv")
        #expect(csv.status == 1 && csv.errorOutput.contains("without --csv"), "\(csv.errorOutput)")
        _ = await bench.relay.stop()
    }

    @Test func `Live Activities are exported and imported`() async throws {
        let bench = try await Bench()
        let activities = #"{"A":{"surface":"order-1","token":"00ff"},"B":{"surface":"order-2","ended":\#(Self.end)}}"#
        let list = #"{"user":"anna","id":"0199f2c4-0000-7000-8000-000000000001","activities":\#(activities)}"#
        let run = try await bench.run("relay", "import", "-", input: list)
        #expect(run.status == 0, "\(run.text)\(run.errorOutput)")
        let export = try await bench.run("relay", "export")
        #expect(export.text.contains(activities), "\(export.text)")
        let again = try await bench.run("relay", "import", "-", "--json", input: export.text)
        #expect(again.text.contains(#""unchanged":1"#), "\(again.text)\(again.errorOutput)")
        let csv = try await bench.run("relay", "export", "--csv")
        #expect(csv.status == 1 && csv.errorOutput.contains("without --csv"), "\(csv.errorOutput)")
        _ = await bench.relay.stop()
    }

    @Test func `each bad row is named by its line`() async throws {
        let bench = try await Bench()
        let token = String(repeating: "5d3a6a1c", count: 8)
        let list = "user,token,alerts\nanna,00ff,\n,aa11,\nbert,\(token)zz,\ncleo,bb,t,extra\ndora,cc,often\n"
        let run = try await bench.run("relay", "import", "-", input: list)
        #expect(run.status == 1 && run.text.contains("refused"), "\(run.text)")
        for line in 3...6 { #expect(run.errorOutput.contains("line \(line): "), "\(run.errorOutput)") }
        let numbers = run.errorOutput.split(separator: "\n").compactMap { line in
            line.hasPrefix("line ") ? line.dropFirst(5).prefix(1) : nil
        }
        #expect(numbers == ["3", "4", "5", "6"], "\(run.errorOutput)")
        #expect(run.errorOutput.contains("line 3: column user: is missing: it must be"), "\(run.errorOutput)")
        #expect(run.errorOutput.contains("line 4: column token: ") && !run.errorOutput.contains(token))
        let json = try await bench.run("relay", "import", "-", "--json", input: list)
        #expect(json.status == 1 && json.text.contains(#""unchanged":1"#) && json.text.contains(#""refused":4"#))
        _ = await bench.relay.stop()
    }

    @Test(arguments: [
        "00ff\n", "token,tags\n00ff,vip\n", "user;token\nanna;00ff\n", "user,token,tag\nanna,00ff,vip\n",
    ])
    func `a list without the columns of phones is refused`(list: String) async throws {
        let bench = try await Bench()
        let run = try await bench.run("relay", "import", "-", input: list)
        #expect(run.status == 2 && run.errorOutput.contains("line 1: "), "\(run.errorOutput)")
        _ = await bench.relay.stop()
    }
}

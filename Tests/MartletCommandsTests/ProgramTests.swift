// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MartletCommands

@Suite struct ProgramTests {
    private struct Failure: Error, CustomStringConvertible {
        let description = "it broke"
    }

    private let program = Program(
        "tool",
        "do things",
        commands: [
            Command(
                "send",
                "Send a thing",
                examples: ["send --to me now"],
                Option<[String]>("--to", "Recipient", isRequired: true),
                Option("--times", "Number of repetitions", default: 1),
                Flag("--quiet", "Print nothing"),
                Flag("--json", "Print JSON"),
                Argument<String?>("when", "Time")
            ) { _, _, _, _, _ in },
            Command(
                "fail",
                "Fail",
                examples: [],
                Flag("--usage", "As for wrong usage"),
                Flag("--silent", "Print nothing")
            ) {
                if $0 { throw UsageError("wrong usage") }
                if $1 { throw CommandFailure(.unreachable) }
                throw Failure()
            },
            Command("fail keys make", "Make a key that fails", examples: []) {},
            Command("live start", "Start it", examples: []) {}, Command("live end", "End it", examples: []) {},
            Command("version", "Print the version", examples: [], Flag("--json", "Print JSON")) { _ in },
        ],
        groups: [CommandGroup("live", "Start and end things")],
        report: { ErrorReport(status: $0 is UsageError ? .usage : .failure, message: "\($0)", json: "{}") }
    )

    private func printed(_ words: String..., width: Int = 100) -> String? {
        if case .print(let text) = program.request(words, environment: [:], width: width) { text } else { nil }
    }

    private func refused(_ words: String...) -> String? {
        if case .refuse(let text, _) = program.request(words, environment: [:]) { text } else { nil }
    }

    @Test func `help lists commands, groups and exit statuses`() throws {
        for text in [printed("--help"), printed("help"), printed("-h"), refused()] {
            let text = try #require(text)
            #expect(text.hasPrefix("tool: do things\n\nUsage: tool <command> [options]\n"))
            #expect(text.contains("  send     Send a thing\n  fail     Fail\n  live     Start and end things\n"))
            #expect(text.contains("  -h, --help  ") && text.contains("  --version   ") && text.contains("  version  "))
            for status in MartletCommands.ExitStatus.allCases {
                let (start, end) = ("  \(status.rawValue) ", " \(status.summary)")
                #expect(text.split(separator: "\n").contains { $0.hasPrefix(start) && $0.hasSuffix(end) })
            }
        }
    }

    @Test func `help for a command shows its options and an example`() throws {
        let expected = """
            tool send: Send a thing

            Usage: tool send --to <text> [options] [<when>]

            Arguments:
              <when>  Time

            Options:
              --to <text>       Recipient (required; may be repeated)
              --times <number>  Number of repetitions (default: 1)
              --quiet           Print nothing
              --json            Print JSON

            Environment variables set options that are not given: MARTLET_TO sets --to.

            Examples:
              tool send --to me now

            """
        #expect(printed("send", "--help") == expected)
        #expect(printed("help", "send") == expected)
        #expect(printed("--help", "send") == expected)
        #expect(printed("send", "--nonsense", "-h") == expected)
    }

    @Test func `help for a group lists its commands`() {
        let expected = """
            tool live: Start and end things

            Usage: tool live <command> [options]

            Commands:
              live start  Start it
              live end    End it

            Run "tool help live <command>" for the options and examples of a command.

            """
        for text in [printed("live", "--help"), printed("help", "live"), printed("live", "-h"), refused("live")] {
            #expect(text == expected)
        }
        #expect(printed("help", "fail", "keys")?.contains("fail keys make  Make a key that fails") == true)
        #expect(printed("fail", "--help")?.contains("Commands:\n  fail keys make  ") == true)
    }

    @Test(arguments: [40, 60, 100]) func `help is wrapped at the width, with a hanging indent`(width: Int) throws {
        let command = Command(
            "long",
            String(repeating: "word ", count: 30),
            examples: [],
            Option<String?>("--short", String(repeating: "text ", count: 40)),
            Option<String?>("--an-option-with-a-long-name", "Help on a line of its own")
        ) { _, _ in }
        let program = Program("tool", "do things", commands: [command]) {
            ErrorReport(status: .failure, message: "\($0)", json: "{}")
        }
        guard case .print(let text) = program.request(["long", "--help"], environment: [:], width: width) else {
            Issue.record("no help")
            return
        }
        let lines = text.split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= width }, "\(text)")
        #expect(lines.contains { $0.count > width - 10 })
        let wrapped = lines.filter { $0.contains("text text") }
        #expect(wrapped.count > 1)
        #expect(Set(wrapped.dropFirst().map { $0.prefix { $0 == " " }.count }).count == 1)
    }

    @Test func `an example continues on further lines, and options stay with their values`() {
        let text = "tool send --to me --note 'long --text in quotes' --times 3 now"
        let lines = """
              tool send --to me \\
                  --note 'long --text in quotes' \\
                  --times 3 now
            """
        #expect(TextLayout(width: 36).commandLine(text, indent: 2) == lines)
        #expect(TextLayout(width: 100).commandLine(text, indent: 2) == "  " + text)
    }

    @Test func `the version is an option and a command`() {
        for words in [["--version"], ["version"], ["--version", "--json"]] {
            guard case .run(let command, _) = program.request(words, environment: [:]) else {
                Issue.record("\(words)")
                continue
            }
            #expect(command.name == "version")
        }
    }

    @Test func `the error for a mistyped command names the nearest one`() {
        #expect(refused("sned")?.hasPrefix("tool: unknown command \"sned\"; did you mean send?\n") == true)
        #expect(refused("help", "fial")?.contains("did you mean fail?") == true)
        #expect(refused("quux")?.hasPrefix("tool: unknown command \"quux\"\n") == true)
        #expect(refused("live", "strat")?.contains("unknown command \"live strat\"; did you mean live start?") == true)
        #expect(refused("--foo")?.hasPrefix("tool: unknown option --foo\n") == true)
    }

    @Test func `a value that looks like --json does not ask for JSON`() {
        let command = Command("send", "", examples: [], Option<String?>("--topic", ""), Flag("--json", "")) { _, _ in }
        for (words, isJSON) in [
            (["--json"], true), (["--topic", "a", "--json"], true), (["--nonsense", "--json"], true),
            (["--topic", "--json"], false), (["--topic=--json"], false), (["--", "--json"], false),
        ] {
            #expect(ArgumentReader.contain("--json", in: words, for: command.parameters) == isJSON, "\(words)")
        }
    }

    @Test func `the manual names an option of the program as an example for variables`() {
        let text = program.manual(version: "1")
        #expect(text.contains("MARTLET_TO sets \\-\\-to"), "\(text)")
        #expect(!text.contains("KEY_ID"))
    }

    @Test func `a name has up to three words`() {
        #expect(
            printed("fail", "keys", "make", "--help")?.hasPrefix("tool fail keys make: Make a key that fails\n") == true
        )
        #expect(printed("fail", "--help")?.hasPrefix("tool fail: Fail\n") == true)
        #expect(refused("fail", "kesy")?.hasPrefix("tool: unknown command \"fail kesy\"") == true)
    }

    @Test func `the error for an unknown option names the help`() {
        let text = refused("send", "--tto", "x")
        #expect(
            text == "tool send: unknown option --tto; did you mean --to?\nRun \"tool send --help\" for help.\n"
        )
    }

    @Test(
        arguments: [
            (["send", "--to", "me"], .success), (["help", "send"], .success), (["live", "--help"], .success),
            (["fail"], .failure), (["fail", "--usage"], .usage), (["fail", "--silent"], .unreachable),
            (["send"], .usage),
            (["nothing"], .usage), (["live"], .usage), ([], .usage), (["--foo"], .usage),
        ] as [([String], MartletCommands.ExitStatus)]
    )
    func `the exit status has one meaning`(words: [String], status: MartletCommands.ExitStatus) async {
        #expect(await program.run(words, environment: [:]) == status.rawValue)
    }
}

@Suite struct TableTests {
    @Test func `columns are as wide as their widest cell, and numbers are aligned right`() {
        var table = Table(["name", Table.Column("count", isNumeric: true), "note"])
        table.add(["a", "1", "x"])
        table.add([Table.Cell("längst", .bad), "1000000", ""])
        let expected = "name      count  note\na             1  x\nlängst  1000000  \n"
        // Colors appear only on a terminal.
        #expect(table.text(for: .errors).replacing("\u{1B}[1m", with: "").contains("längst  1000000") == true)
        if !Terminal.output.hasColors { #expect(table.text(for: .output) == expected) }
    }
}

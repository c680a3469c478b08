import Testing

@testable import Commands

@Suite struct ProgramTests {
    private struct Failure: Error, CustomStringConvertible {
        let description = "it broke"
    }

    private let program = Program(
        "tool",
        version: "1.2.3",
        "does things",
        commands: [
            Command(
                "send",
                "Send a thing",
                examples: ["send --to me now"],
                Option<[String]>("--to", "Whom", isRequired: true),
                Option("--times", "How often", default: 1),
                Flag("--quiet", "Say nothing"),
                Argument<String?>("when", "When")
            ) { _, _, _, _ in },
            Command(
                "fail",
                "Fail",
                examples: [],
                Flag("--usage", "As if called wrongly"),
                Flag("--silent", "Say nothing")
            ) {
                if $0 { throw UsageError("called wrongly") }
                if $1 { throw CommandFailure(status: 7) }
                throw Failure()
            },
            Command("fail keys make", "Make a key that fails", examples: []) {},
        ]
    )

    private func printed(_ words: String...) -> String? {
        if case .print(let text) = program.request(words, environment: [:]) { text } else { nil }
    }

    private func refused(_ words: String...) -> String? {
        if case .refuse(let text) = program.request(words, environment: [:]) { text } else { nil }
    }

    @Test func `help lists the commands`() throws {
        for text in [printed("--help"), printed("help"), printed("-h"), refused()] {
            let text = try #require(text)
            #expect(text.contains("  send            Send a thing\n"))
            #expect(text.contains("  fail            Fail\n"))
        }
    }

    @Test func `help for a command shows its options and an example`() throws {
        let expected = """
            tool send: Send a thing

            Usage: tool send --to <text> [options] [<when>]

            Arguments:
              <when>  When

            Options:
              --to <text>       Whom (required, may be repeated)
              --times <number>  How often (default: 1)
              --quiet           Say nothing

            Every option may also be an environment variable: --to is MARTLET_TO.

            Examples:
              tool send --to me now

            """
        #expect(printed("send", "--help") == expected)
        #expect(printed("help", "send") == expected)
        #expect(printed("send", "--nonsense", "-h") == expected)
    }

    @Test func `the version is told`() {
        #expect(printed("--version") == "tool 1.2.3\n")
    }

    @Test func `a mistyped command names the nearest one`() {
        #expect(refused("sned")?.hasPrefix("tool: unknown command sned: did you mean send?") == true)
        #expect(refused("help", "fial")?.contains("did you mean fail?") == true)
        #expect(refused("quux")?.hasPrefix("tool: unknown command quux\n") == true)
    }

    @Test func `a family is found by up to three words`() {
        #expect(
            printed("fail", "keys", "make", "--help")?.hasPrefix("tool fail keys make: Make a key that fails\n") == true
        )
        #expect(printed("fail", "--help")?.hasPrefix("tool fail: Fail\n") == true)
        let text = "tool: unknown command fail kesy; besides fail there are:\n  tool fail keys make\n"
        #expect(refused("fail", "kesy") == text)
    }

    @Test func `a wrong option says where to look`() {
        let text = refused("send", "--tto", "x")
        #expect(text == "tool send: unknown option --tto: did you mean --to?\nIts options: tool send --help\n")
    }

    @Test(arguments: [
        (["send", "--to", "me"], 0), (["fail"], 1), (["fail", "--usage"], 2), (["fail", "--silent"], 7),
        (["send"], 2), (["nothing"], 2),
    ])
    func `the exit status tells how it went`(words: [String], status: Int) async {
        #expect(await program.run(words, environment: [:]) == Int32(status))
    }
}

@Suite struct NearestNameTests {
    private let names = ["--topic", "--title", "--to", "--team-id", "--collapse-id"]

    @Test(arguments: [
        ("--topc", "--topic"), ("--topci", "--topic"), ("--titel", "--title"), ("--teamid", "--team-id"),
        ("--collapse", "--collapse-id"), ("--banana", nil), ("x", nil),
    ])
    func `the nearest name is the one that was meant`(typed: String, name: String?) {
        #expect(NearestName.of(typed, among: names) == name)
    }
}

@Suite struct TableTests {
    @Test func `columns are as wide as their widest cell, and numbers stand right`() {
        var table = Table(["name", Table.Column("count", isNumeric: true), "note"])
        table.add(["a", "1", "x"])
        table.add([Table.Cell("längst", .bad), "1000000", ""])
        let expected = "name      count  note\na             1  x\nlängst  1000000  \n"
        // Where tests run nobody watches, so there are no colours.
        #expect(table.text(for: .errors).replacing("\u{1B}[1m", with: "").contains("längst  1000000") == true)
        if !Terminal.output.hasColours { #expect(table.text(for: .output) == expected) }
    }
}

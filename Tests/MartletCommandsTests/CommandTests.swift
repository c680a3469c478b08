// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MartletCommands

/// The values that a command's closure received.
private actor Received {
    private(set) var values: [String] = []

    func note(_ values: Any...) {
        self.values = values.map { "\($0)" }
    }
}

@Suite struct CommandTests {
    private enum Colour: String, CaseIterable, ArgumentValue {
        case red
        case green
    }

    private let received = Received()

    private var command: Command {
        let received = received
        return Command(
            "paint",
            "Paint things",
            examples: ["paint --colour red door"],
            Option("--colour", "Which colour", default: Colour.green),
            Option<Int>("--coats", "How many"),
            Option<String?>("--note", "What to write on it"),
            Option<[UInt16]>("--room", "Where"),
            Flag("--dry-run", "Do nothing"),
            Argument<String>("thing", "What to paint"),
            Argument<Int?>("number", "Which of them")
        ) { colour, coats, note, rooms, isDry, thing, number in
            await received.note(colour, coats, note ?? "-", rooms, isDry, thing, number ?? -1)
        }
    }

    private func run(_ words: [String], environment: [String: String] = [:]) async throws -> [String] {
        try await command.action(for: words, environment: environment)()
        return await received.values
    }

    @Test func `the closure receives the typed values`() async throws {
        let values = try await run([
            "--colour", "red", "--room", "1", "door", "--coats=2", "--room=2", "--dry-run", "--note", "wet", "7",
        ])
        #expect(values == ["red", "2", "wet", "[1, 2]", "true", "door", "7"])
    }

    @Test func `a missing option has its default`() async throws {
        #expect(try await run(["--coats", "1", "door"]) == ["green", "1", "-", "[]", "false", "door", "-1"])
    }

    @Test func `a value may be empty or begin with a dash`() async throws {
        #expect(try await run(["--coats", "-1", "--note=", "door"])[1...2] == ["-1", ""])
        #expect(try await run(["--coats", "1", "--note=--coats", "door"])[2] == "--coats")
        #expect(try await run(["--coats", "1", "--note", "--paint", "door"])[2] == "--paint")
    }

    @Test func `after two dashes everything is an argument`() async throws {
        #expect(try await run(["--coats", "1", "--", "--dry-run"])[4...5] == ["false", "--dry-run"])
    }

    @Test func `one dash is an argument`() async throws {
        #expect(try await run(["--coats", "1", "-"])[5] == "-")
    }

    @Test func `variables set options that are not given`() async throws {
        let environment = ["MARTLET_COATS": "3", "MARTLET_DRY_RUN": "1", "MARTLET_NOTE": "from outside"]
        let values = try await run(["--note", "typed", "door"], environment: environment)
        #expect(values == ["green", "3", "typed", "[]", "true", "door", "-1"])
    }

    @Test(arguments: [
        ([], "--coats <number> is missing (or the variable MARTLET_COATS): How many"),
        (["--coats", "1"], "<thing> is missing: What to paint"),
        (["--coats", "two", "door"], "--coats <number>: must be an integer (found \"two\")"),
        (["--coats", "1", "--coats", "2", "door"], "--coats is given 2 times: give it once"),
        (
            ["--room", "70000", "--coats", "1", "door"],
            "--room <number>: must be an integer from 0 to 65535 (found \"70000\")"
        ),
        (
            ["--colour", "geen", "--coats", "1", "door"],
            "must be one of red, green (found \"geen\"); did you mean green?"
        ),
        (["--color", "red"], "unknown option --color; did you mean --colour?"),
        (["--dryrun"], "unknown option --dryrun; did you mean --dry-run?"),
        (["-x"], "unknown option -x"),
        (["--dry-run=yes"], "--dry-run takes no value"),
        (["--coats"], "--coats <number> requires a value"),
        (["--note", "--coats", "1"], "--note <text> requires a value"),
        (["--note", "--coats=1"], "--note <text> requires a value"),
        (["--note", "--dry-run"], "--note <text> requires a value"),
        (["--coats", "1", "door", "1", "more"], "unexpected argument \"more\""),
    ])
    func `invalid words are reported`(words: [String], message: String) {
        let error = #expect(throws: UsageError.self) { try self.command.action(for: words) }
        #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
    }

    @Test func `an error about the value of a variable names the variable, not the option`() {
        #expect(throws: UsageError("MARTLET_COATS: must be an integer (found \"two\")")) {
            try self.command.action(for: ["door"], environment: ["MARTLET_COATS": "two"])
        }
        #expect(throws: UsageError("--coats <number>: must be an integer (found \"two\")")) {
            try self.command.action(for: ["--coats", "two", "door"], environment: ["MARTLET_COATS": "1"])
        }
    }

    @Test func `an invalid variable is reported`() {
        #expect(throws: UsageError("MARTLET_DRY_RUN must be 1 or 0 (found \"maybe\")")) {
            try self.command.action(for: ["--coats", "1", "x"], environment: ["MARTLET_DRY_RUN": "maybe"])
        }
    }

    @Test func `a group combines several parameters to one value`() async throws {
        let received = received
        let size = Group(Option<Int>("--width", ""), Option<Int>("--height", "")) {
            (width, height) throws(UsageError) in
            guard width > 0 else { throw UsageError("no width") }
            return width * height
        }
        let command = Command("frame", "", examples: [], size, Flag("--thin", "")) { await received.note($0, $1) }
        try await command.action(for: ["--height=3", "--width=2"])()
        #expect(await received.values == ["6", "false"])
        #expect(throws: UsageError("no width")) { try command.action(for: ["--height=3", "--width=0"]) }
    }

    private struct InputFile: ArgumentValue {
        init(argument: String) {}

        static var readsStandardInput: Bool { true }
    }

    @Test func `one parameter of a command is standard input`() throws {
        let command = Command(
            "read",
            "",
            examples: [],
            Option<InputFile?>("--key", ""),
            Option<InputFile?>("--ca", ""),
            Option<String?>("--note", ""),
            Argument<[InputFile]>("file", "")
        ) { _, _, _, _ in }
        _ = try command.action(for: ["--key", "-", "--note", "-", "b"])
        let rule = "standard input is one file; give a path for one of them"
        #expect(throws: UsageError("--key - excludes --ca -: \(rule)")) {
            try command.action(for: ["--ca", "-", "--key", "-", "b"])
        }
        #expect(throws: UsageError("MARTLET_CA - excludes <file…> -: \(rule)")) {
            try command.action(for: ["-"], environment: ["MARTLET_CA": "-"])
        }
        #expect(throws: UsageError("<file…> - excludes <file…> -: \(rule)")) { try command.action(for: ["-", "-"]) }
    }
}

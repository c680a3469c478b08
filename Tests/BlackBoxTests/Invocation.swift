import Foundation
import TestSupport
import Testing

/// One call of the program as a user types it, and what has to come of it.
struct Invocation: Sendable {
    /// Where the program's outputs go.
    enum Place: Sendable {
        case pipe
        case terminal(columns: UInt16)
    }

    /// The arguments as they are typed; the shell expands `$server` and the other variables of a ``World``.
    let line: String
    let status: Int32
    let place: Place
    /// Texts that standard output contains; on a terminal both outputs are one.
    let output: [String]
    /// Texts that standard error contains.
    let errors: [String]
    /// The members that each line of standard output has as a JSON object; nil where no JSON is asked for.
    let members: [String]?
    /// Whether standard error may say more than ``errors`` although the call succeeds.
    let isChatty: Bool

    init(
        _ line: String,
        status: Int32 = 0,
        on place: Place = .pipe,
        output: [String] = [],
        errors: [String] = [],
        json members: [String]? = nil,
        isChatty: Bool = false
    ) {
        self.line = line
        self.status = status
        self.place = place
        self.output = output
        self.errors = errors
        self.members = members
        self.isChatty = isChatty
    }

    /// Runs the program and checks what came of it.
    func check(in world: World, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let run = try await run(in: world)
        let story = Comment(rawValue: "martlet \(line)\n[\(run.status)]\n\(run.output)\n[errors]\n\(run.errors)")
        func expect(_ isTrue: Bool, _ rule: String) {
            #expect(isTrue, "\(rule): \(story)", sourceLocation: sourceLocation)
        }
        expect(run.status == status, "the exit status is \(status)")
        for text in output {
            expect(run.output.localizedCaseInsensitiveContains(text), "standard output contains \"\(text)\"")
        }
        for text in errors {
            expect(run.errors.localizedCaseInsensitiveContains(text), "standard error contains \"\(text)\"")
        }
        let all = run.output + run.errors
        for leak in ["Optional(", "Swift.", "Foundation.", "Error Domain", "APNsClient.", "fatal", " nil"] {
            expect(!all.contains(leak), "no message shows \"\(leak)\"")
        }
        expect(!all.contains("PRIVATE KEY-----\n"), "no message shows a key")
        switch place {
        case .pipe:
            expect(!all.contains("\u{1B}["), "no escape codes go into a pipe")
            if status == 2, members == nil, output.isEmpty {
                expect(run.output.isEmpty, "wrong usage prints nothing to standard output")
            }
            if status != 0, members == nil {
                expect(!all.isEmpty, "a failure says what is wrong")
            } else if status == 0, errors.isEmpty, !isChatty {
                expect(run.errors.isEmpty, "success is quiet on standard error")
            }
        case .terminal(let columns):
            let widest = run.output.split(separator: "\n").map { Invocation.width(of: $0) }.max() ?? 0
            if line.contains("help") { expect(widest <= Int(columns), "help fits \(columns) columns (\(widest))") }
        }
        if !run.output.isEmpty { expect(run.output.hasSuffix("\n"), "standard output ends with a newline") }
        if line.contains("help"), case .pipe = place {
            let widest = all.split(separator: "\n").map { Invocation.width(of: $0) }.max() ?? 0
            expect(widest <= 120, "help has no lines over 120 columns (\(widest))")
        }
        if let members { checkJSON(run.output, members, expect) }
    }

    private func checkJSON(_ output: String, _ members: [String], _ expect: (Bool, String) -> Void) {
        let lines = output.split(separator: "\n")
        expect(!lines.isEmpty, "--json prints something")
        for line in lines {
            let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            guard let object else {
                expect(false, "each line is a JSON object")
                continue
            }
            for member in members { expect(object[member] != nil, "each object has the member \"\(member)\"") }
        }
    }

    /// Columns that a line takes on a screen: characters, without the codes of colours.
    private static func width(of line: Substring) -> Int {
        line.replacing(/\u{1B}\[[0-9;]*[A-Za-z]/, with: "").count
    }

    // MARK: Running

    private struct Run {
        var status: Int32
        var output: String
        var errors: String
    }

    private func run(in world: World) async throws -> Run {
        let script = world.script(for: line)
        switch place {
        case .pipe:
            let run = try await ProgramRun("/bin/sh", ["-c", script])
            return Run(status: run.status, output: run.text, errors: run.complaint)
        case .terminal(let columns):
            let terminal = try PseudoTerminal(columns: columns)
            let child = try ChildProcess(
                "/bin/sh",
                ["-c", script],
                output: terminal.path,
                complaints: terminal.path
            )
            let status = Task { await child.ended() }
            let text = await terminal.text { _ = await status.value }
            return Run(status: await status.value, output: text, errors: "")
        }
    }
}

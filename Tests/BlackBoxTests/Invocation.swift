// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// A command line and its expected results.
struct Invocation: Sendable {
    /// The destination of the program's outputs.
    enum Destination: Sendable {
        case pipe
        case terminal(columns: UInt16)
    }

    /// The arguments in shell syntax, with `$server` and the other variables of a ``World``.
    let line: String
    let status: Int32
    let destination: Destination
    /// Texts that standard output contains; on a terminal it includes standard error.
    let output: [String]
    /// Texts that standard error contains.
    let errors: [String]
    /// The members of the JSON object on each line of standard output; nil without `--json`.
    let members: [String]?
    /// Whether standard error may have output although the command succeeds.
    let printsNotes: Bool
    /// The requests that the simulator receives, in any order, each as texts that it contains; nil for any number.
    let sent: [[String]]?

    init(
        _ line: String,
        status: Int32 = 0,
        on destination: Destination = .pipe,
        output: [String] = [],
        errors: [String] = [],
        json members: [String]? = nil,
        printsNotes: Bool = false,
        sent: [[String]]? = []
    ) {
        self.line = line
        self.status = status
        self.destination = destination
        self.output = output
        self.errors = errors
        self.members = members
        self.printsNotes = printsNotes
        self.sent = sent
    }

    /// Runs the command and checks its results.
    func check(in world: World, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let before = try await world.requestCount()
        let run = try await run(in: world)
        let details = Comment(rawValue: "martlet \(line)\n[\(run.status)]\n\(run.output)\n[errors]\n\(run.errors)")
        func expect(_ isTrue: Bool, _ rule: String) {
            #expect(isTrue, "\(rule): \(details)", sourceLocation: sourceLocation)
        }
        expect(run.status == status, "the exit status is \(status)")
        for text in output {
            expect(run.output.lowercased().contains(text.lowercased()), "standard output contains \"\(text)\"")
        }
        for text in errors {
            expect(run.errors.lowercased().contains(text.lowercased()), "standard error contains \"\(text)\"")
        }
        let all = run.output + run.errors
        for leak in ["Optional(", "Swift.", "Foundation.", "Error Domain", "MartletCore.", "fatal", " nil"] {
            expect(!all.contains(leak), "no message contains \"\(leak)\"")
        }
        expect(!all.contains("PRIVATE KEY-----\n"), "no message contains a key")
        switch destination {
        case .pipe:
            expect(!all.contains("\u{1B}["), "a pipe gets no escape codes")
            if members == nil, output.isEmpty {
                expect(run.output.isEmpty, "standard output without an expected text is empty")
            }
            if status != 0, members == nil {
                expect(!all.isEmpty, "a failure prints a message")
            } else if status == 0, errors.isEmpty, !printsNotes {
                expect(run.errors.isEmpty, "a successful command prints nothing to standard error")
            }
        case .terminal(let columns):
            let widest = run.output.split(separator: "\n").map { Invocation.width(of: $0) }.max() ?? 0
            if line.contains("help") { expect(widest <= Int(columns), "help fits \(columns) columns (\(widest))") }
        }
        if !run.output.isEmpty { expect(run.output.hasSuffix("\n"), "standard output ends with a newline") }
        if line.contains("help"), case .pipe = destination {
            let widest = all.split(separator: "\n").map { Invocation.width(of: $0) }.max() ?? 0
            expect(widest <= 120, "help has no lines over 120 columns (\(widest))")
        }
        if let members { checkJSON(run.output, members, expect) }
        if let sent {
            let requests = try await world.requests(after: before, expected: sent.count)
            let list = requests.joined(separator: "\n\n")
            expect(requests.count == sent.count, "the simulator receives \(sent.count) requests, not\n\(list)\n")
            for texts in sent {
                let isFound = requests.contains { request in texts.allSatisfy { request.contains($0) } }
                expect(isFound, "the simulator receives a request with \(texts), not only\n\(list)\n")
            }
        }
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

    /// The width of a line in columns, without escape codes.
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
        switch destination {
        case .pipe:
            let run = try await ProgramRun("/bin/sh", ["-c", script])
            return Run(status: run.status, output: run.text, errors: run.errorOutput)
        case .terminal(let columns):
            let terminal = try PseudoTerminal(columns: columns)
            let child = try ChildProcess(
                "/bin/sh",
                ["-c", script],
                output: terminal.path,
                errors: terminal.path
            )
            let status = Task { await child.ended() }
            let text = try await terminal.text { _ = await status.value }
            return Run(status: await status.value, output: text, errors: "")
        }
    }
}

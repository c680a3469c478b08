// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import MartletCLI
@testable import MartletCommands

/// Completion scripts and the manual page, run by the programs that they are for.
@Suite(.timeLimit(.minutes(10))) struct CompletionTests {
    private static func exists(_ program: String) -> Bool {
        ["/usr/bin/", "/bin/", "/usr/local/bin/", "/opt/homebrew/bin/"]
            .contains { FileManager.default.isExecutableFile(atPath: $0 + program) }
    }

    /// Words after the program's name, the last one incomplete, and all completions or some of many.
    private static let cases: [(words: [String], all: [String]?, some: [String])] = [
        (["hea"], ["healthcheck"], []), (["live", ""], nil, ["start", "update", "end"]),
        (["live", "st"], ["start"], []),
        (["relay", "keys", "m"], ["make"], []), (["help", "live", "st"], ["start"], []),
        (["send", "--envi"], ["--environment"], []),
        (["send", "--topic", "live", "--envi"], ["--environment"], []),
        (["send", "--environment", ""], ["production", "development"], []),
        (["live", "end", "--dismiss", "n"], ["now"], []),
        (["surface", "example", "widget-me"], ["widget-medium"], []),
        (["completion", ""], nil, ["bash", "zsh", "fish"]),
        (["send", "--to", ""], [], []), (["send", "--payload", "/etc/passw"], nil, ["/etc/passwd"]),
        (["surface", "validate", "/etc/passw"], nil, ["/etc/passwd"]),
    ]

    /// A shell with the program's completion script.
    private struct CompletingShell {
        let shell: String
        let script: String
        let scratch: ScratchDirectory

        init(_ shell: String) async throws {
            self.shell = shell
            scratch = try ScratchDirectory()
            let run = try await ProgramRun(MartletProcess.program, ["completion", shell])
            #expect(run.status == 0)
            script = try scratch.write(run.output, to: "completion.\(shell)")
        }

        /// Returns the completions of words after the program's name, the last of which is incomplete.
        func complete(_ words: [String]) async throws -> [String] {
            let run =
                switch shell {
                case "bash": try await runBash(words)
                case "fish": try await runFish(words)
                default: try await runZsh(words)
                }
            #expect(run.errorOutput.isEmpty, "\(shell), \(words): \(run.errorOutput)")
            return run.text.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }
        }

        private func runBash(_ words: [String]) async throws -> ProgramRun {
            let commands = """
                source "$1"; shift
                COMP_WORDS=(martlet "$@"); COMP_CWORD=$#
                # Outside an interactive shell, compopt prints an error.
                _martlet 2>&1; printf '%s\\n' "${COMPREPLY[@]}"
                """
            return try await ProgramRun("bash", ["-c", commands, "bash", script] + words)
        }

        private func runFish(_ words: [String]) async throws -> ProgramRun {
            let line = (["martlet"] + words).joined(separator: " ")
            let home = ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "HOME"].map { "\($0)=\(scratch.path)" }
            let commands = "source \(script); complete -C \"\(line)\""
            return try await ProgramRun("env", home + ["fish", "--no-config", "-c", commands])
        }

        private func runZsh(_ words: [String]) async throws -> ProgramRun {
            // The functions of zsh's completion system are replaced by ones that print what they are given.
            let stubs = """
                compdef() { : }
                compadd() { shift; print -l -- ${(M)@:#$current*} }
                _message() { : }
                _files() { print -l -- $current*(N) }
                _describe() { local choice; for choice in ${(P)3}; do compadd -- ${choice%%:*}; done }
                source $1; shift
                words=(martlet "$@"); CURRENT=$#words; current=$words[CURRENT]
                _martlet
                """
            return try await ProgramRun("zsh", ["-f", "-c", stubs, "zsh", script] + words)
        }
    }

    private static let shells = ["bash", "fish", "zsh"].filter(exists)

    @Test(arguments: shells, cases.indices) func `a shell completes words`(name: String, index: Int) async throws {
        let (words, all, some) = Self.cases[index]
        let found = try await CompletingShell(name).complete(words)
        if let all { #expect(Set(found) == Set(all), "\(found)") }
        for word in some { #expect(found.contains(word), "\(found)") }
    }

    /// The declared options and flags of each command.
    private static let declared = MartletProgram.program.commands.map { command in
        (name: command.name, options: Set(command.parameters.filter { $0.kind != .argument }.map(\.spelling)))
    }

    @Test(arguments: shells) func `a shell completes every option of every command`(name: String) async throws {
        let shell = try await CompletingShell(name)
        for (command, options) in Self.declared where !options.isEmpty {
            let words = command.split(separator: " ").map(String.init)
            let missing = options.subtracting(try await shell.complete(words + ["--"]))
            #expect(missing.isEmpty, "\(command): \(missing.sorted())")
        }
    }

    @Test func `the manual page has every option of every command`() async throws {
        let page = try await ProgramRun(MartletProcess.program, ["manual"]).text.replacing("\\-", with: "-")
        let sections = page.split(separator: "\n.SS martlet ")
        for (command, options) in Self.declared {
            let section = try #require(sections.first { $0.hasPrefix(command + "\n") }, "\(command)")
            let words = section.split { !$0.isLetter && !$0.isNumber && $0 != "-" }.map(String.init)
            #expect(options.isSubset(of: words), "\(command): \(options.subtracting(words).sorted())")
        }
    }

    @Test(.enabled(if: exists("groff"))) func `groff accepts the manual page`() async throws {
        let page = try await ProgramRun(MartletProcess.program, ["manual"])
        let run = try await ProgramRun("groff", ["-man", "-Tutf8", "-Kutf8", "-ww", "-P-cbou"], input: page.output)
        #expect(run.status == 0 && run.errorOutput.isEmpty, "\(run.errorOutput)")
        for text in ["EXIT STATUS", "martlet live start", "--expiration", "The server cannot be reached"] {
            #expect(run.text.contains(text), "\(text)")
        }
    }
}

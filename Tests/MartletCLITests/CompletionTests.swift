// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Completion scripts and the manual page, run by the programs that they are for.
@Suite(.timeLimit(.minutes(1))) struct CompletionTests {
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
        (["surface", "example", "w"], ["widget"], []), (["completion", ""], nil, ["bash", "zsh", "fish"]),
        (["send", "--to", ""], [], []), (["send", "--payload", "/etc/passw"], nil, ["/etc/passwd"]),
        (["surface", "validate", "/etc/passw"], nil, ["/etc/passwd"]),
    ]

    private func completion(for shell: String) async throws -> (script: String, scratch: ScratchDirectory) {
        let scratch = try ScratchDirectory()
        let run = try await ProgramRun(MartletProcess.program, ["completion", shell])
        #expect(run.status == 0)
        return (try scratch.write(run.output, to: "completion.\(shell)"), scratch)
    }

    @Test(.enabled(if: exists("bash")), arguments: cases.indices)
    func `bash completes words`(index: Int) async throws {
        let (words, all, some) = Self.cases[index]
        let (script, scratch) = try await completion(for: "bash")
        let run = try await ProgramRun(
            "bash",
            [
                "-c",
                """
                source "$1"; shift
                COMP_WORDS=(martlet "$@"); COMP_CWORD=$#
                _martlet 2>&1; printf '%s\\n' "${COMPREPLY[@]}"
                """, "bash", script,
            ] + words
        )
        let found = run.text.split(separator: "\n").map(String.init)
        if let all { #expect(Set(found) == Set(all), "\(run.text)\(run.errorOutput)") }
        for word in some { #expect(found.contains(word), "\(run.text)\(run.errorOutput)") }
        withExtendedLifetime(scratch) {}
    }

    @Test(.enabled(if: exists("fish")), arguments: cases.indices)
    func `fish completes words`(index: Int) async throws {
        let (words, all, some) = Self.cases[index]
        let (script, scratch) = try await completion(for: "fish")
        let line = (["martlet"] + words).joined(separator: " ")
        let home = ["XDG_CONFIG_HOME=\(scratch.path)", "XDG_DATA_HOME=\(scratch.path)", "HOME=\(scratch.path)"]
        let run = try await ProgramRun(
            "env",
            home + ["fish", "--no-config", "-c", "source \(script); complete -C \"\(line)\""]
        )
        let found = run.text.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }
        if let all { #expect(Set(found) == Set(all), "\(run.text)\(run.errorOutput)") }
        for word in some { #expect(found.contains(word), "\(run.text)\(run.errorOutput)") }
    }

    @Test(.enabled(if: exists("zsh")), arguments: cases.indices)
    func `zsh completes words`(index: Int) async throws {
        let (words, all, some) = Self.cases[index]
        let (script, scratch) = try await completion(for: "zsh")
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
        let run = try await ProgramRun("zsh", ["-f", "-c", stubs, "zsh", script] + words)
        let found = run.text.split(separator: "\n").map(String.init)
        if let all { #expect(Set(found) == Set(all), "\(run.text)\(run.errorOutput)") }
        for word in some { #expect(found.contains(word), "\(run.text)\(run.errorOutput)") }
        #expect(run.errorOutput.isEmpty, "\(run.errorOutput)")
        withExtendedLifetime(scratch) {}
    }

    @Test(.enabled(if: exists("groff"))) func `groff finds nothing wrong with the manual page`() async throws {
        let page = try await ProgramRun(MartletProcess.program, ["manual"])
        let run = try await ProgramRun("groff", ["-man", "-Tutf8", "-Kutf8", "-ww", "-P-cbou"], input: page.output)
        #expect(run.status == 0 && run.errorOutput.isEmpty, "\(run.errorOutput)")
        for text in ["EXIT STATUS", "martlet live start", "--expiration", "The server cannot be reached"] {
            #expect(run.text.contains(text), "\(text)")
        }
    }
}

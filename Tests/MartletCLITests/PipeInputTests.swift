// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import MartletSimulator
import TestSupport
import Testing

/// Keys, certificates and configurations from pipes, which can be read only once.
@Suite(.timeLimit(.minutes(10))) struct PipeInputTests {
    /// Runs a script of bash in a directory; `martlet` is the program.
    private func bash(_ script: String, in directory: ScratchDirectory) async throws -> ProgramRun {
        try await ProgramRun(
            "bash",
            ["-c", "cd \"$1\" && martlet() { \"$0\" \"$@\"; } && " + script, MartletProcess.program, directory.path]
        )
    }

    @Test(arguments: [
        "martlet doctor $server $key --key <(cat AuthKey.p8)",
        "cat AuthKey.p8 | martlet doctor $server $key --key /dev/stdin",
        "mkfifo pipe && { cat AuthKey.p8 >pipe & martlet doctor $server $key --key pipe; }",
        "martlet doctor $server --certificate <(cat certificate.p12) --certificate-password-file <(echo secret)",
        "martlet doctor --host $host --ca <(cat ca.pem) --topic com.example.app",
    ])
    func `doctor reads a pipe once`(line: String) async throws {
        let apns = try await SimulatedAPNs.start()
        let files = try await ProviderCertificateFiles()
        let made = try await ProgramRun(
            "openssl",
            ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
        )
        try files.scratch.write(made.output, to: "AuthKey.p8")
        try files.scratch.write(apns.authorityPEM, to: "ca.pem")
        let host = "localhost:\(await apns.port)"
        let names = "host=\(host) server='--host \(host) --ca ca.pem --topic com.example.app' "
        let key = "key='--key-id ABC123DEFG --team-id DEF123GHIJ'; "
        let run = try await bash("{ " + names + key + line + "; }", in: files.scratch)
        #expect(run.status == 0, "\(run.text)\(run.errorOutput)")
        await apns.stop()
    }

    /// Returns a directory with the configuration `relay.json` and its key.
    private func relayDirectory() async throws -> ScratchDirectory {
        let scratch = try ScratchDirectory()
        let made = try await ProgramRun(
            "openssl",
            ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
        )
        try scratch.write(made.output, to: "AuthKey.p8")
        let text = """
            {
              "data": "relay.sqlite", "http": "127.0.0.1:0",
              "apps": [{
                "name": "orders", "bundle-ids": ["com.example.orders"], "team-id": "DEF123GHIJ",
                "key-id": "ABC123DEFG", "key-file": "AuthKey.p8"
              }],
              "callers": [{
                "name": "back end", "key-sha256": "\(String(repeating: "0a", count: 32))", "apps": ["orders"],
                "scopes": ["send"]
              }]
            }
            """
        try scratch.write(text, to: "relay.json")
        return scratch
    }

    @Test func `relay check reads a configuration from a pipe`() async throws {
        let scratch = try await relayDirectory()
        for file in ["relay.json", "<(cat relay.json)", "/dev/stdin < relay.json", "- < relay.json"] {
            let run = try await bash("martlet relay check --configuration \(file)", in: scratch)
            #expect(run.status == 0, "\(file): \(run.text)\(run.errorOutput)")
        }
    }

    @Test func `a relay with its configuration from standard input reloads`() async throws {
        let scratch = try await relayDirectory()
        let script = #"""
            "$0" relay --configuration - --json < relay.json > output 2> log & process=$!
            waitFor() { until grep -q "$1" "$2"; do kill -0 $process || { cat log >&2; exit 9; }; sleep 0.1; done; }
            waitFor running output
            kill -HUP $process
            waitFor '"configuration reloaded"' log
            kill -TERM $process
            wait $process
            cat log
            """#
        let run = try await ProgramRun(
            "bash",
            ["-c", "cd \"$1\" || exit\n" + script, MartletProcess.program, scratch.path]
        )
        #expect(run.status == 0 && !run.text.contains("rejected"), "\(run.text)\(run.errorOutput)")
    }

    @Test(arguments: [
        ("relay migrate --configuration - < relay.json", "data must be the address of a database"),
        ("relay data check --configuration - < relay.json", "relay.sqlite cannot be read: no such file"),
        ("relay --configuration - < /dev/null", "--configuration standard input is empty"),
        ("relay migrate --configuration - < /dev/null", "--configuration standard input is empty"),
        ("relay data check --configuration - < /dev/null", "--configuration standard input is empty"),
        ("relay --configuration - <<< '{'", "standard input is not valid JSON"),
        ("relay migrate --configuration - <<< '{}'", "standard input: data, apps, listen or http are missing"),
    ])
    func `each command with a configuration reads standard input`(line: String, message: String) async throws {
        let directory = try await relayDirectory()
        let run = try await bash("martlet " + line, in: directory)
        #expect(run.status == 2 && run.errorOutput.contains(message), "\(run.text)\(run.errorOutput)")
    }

    @Test func `an empty path is an error that names its source`() async throws {
        let scratch = try ScratchDirectory()
        for (line, source) in [
            ("martlet doctor --topic com.example.app --key ''", "--key"),
            ("MARTLET_KEY= martlet doctor --topic com.example.app", "MARTLET_KEY"),
            ("MARTLET_CERTIFICATE= martlet doctor --topic com.example.app", "MARTLET_CERTIFICATE"),
        ] {
            let run = try await bash(line, in: scratch)
            let message = ": \(source) is empty, as when a secret of a CI system is not set"
            #expect(run.status == 2 && run.text.contains(message), "\(run.text)\(run.errorOutput)")
        }
    }
}

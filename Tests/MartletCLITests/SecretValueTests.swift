// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Secrets in place of the paths of their files.
@Suite(.timeLimit(.minutes(10))) struct SecretValueTests {
    private static let identifiers = ["--key-id", "ABC123DEFG", "--team-id", "DEF123GHIJ"]
    private static let caller = "mrt_abcdefghijklmnopqrstuvwxyz234567"

    private func martlet(
        _ words: [String],
        environment: [String] = [],
        input: String = ""
    ) async throws -> ProgramRun {
        try await ProgramRun("env", environment + [MartletProcess.program] + words, input: Array(input.utf8))
    }

    /// A signing key as Apple issues them.
    private func key() async throws -> String {
        try await ProgramRun("openssl", ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]).text
    }

    /// The characters of a key between its labels.
    private func secret(of pem: String) -> String {
        pem.split(separator: "\n").dropFirst().dropLast().joined()
    }

    @Test func `the text of a key is the key, in an option and in a variable`() async throws {
        let pem = try await key()
        for (words, environment) in [(["--key", pem], []), ([], ["MARTLET_KEY=" + pem])] {
            let run = try await martlet(["token"] + words + Self.identifiers, environment: environment)
            #expect(run.status == 0 && run.text.hasPrefix("eyJ"), "\(run.errorOutput)")
            let check = try await martlet(["token", run.text.filter { !$0.isNewline }, "--key", pem])
            #expect(check.status == 0 && check.text.contains("verified with the key"), "\(check.errorOutput)")
        }
    }

    @Test func `a key that cannot be used is not printed`() async throws {
        let pem = try await key()
        let other = try await ProgramRun("openssl", ["genpkey", "-algorithm", "ED25519"]).text
        let doctor = ["doctor", "--topic", "com.example.app", "--host", "localhost:1"]
        let commands = [
            ["token", "--key", pem], ["token", pem], ["token", "x", pem], [pem], ["relay", pem],
            ["token", "--key", other] + Self.identifiers, doctor + ["--key", pem], doctor + ["--json", "--key", pem],
            doctor + ["--json", "--key", other] + Self.identifiers,
            ["send", "--topic", "a", "--to", "5d3a", "--payload", pem], ["surface", "validate", "--", pem],
        ]
        for words in commands {
            let run = try await martlet(words)
            let printed = run.text + run.errorOutput
            #expect(run.status != 0 && !printed.isEmpty, "\(words.first ?? ""): \(printed)")
            for text in [pem, other] {
                #expect(!printed.contains(secret(of: text).prefix(20)), "\(printed)")
            }
        }
    }

    /// Numbers, times, names of choices, hosts and directories.
    @Test(arguments: [
        ["send", "--host"], ["send", "--priority"], ["send", "--badge"], ["send", "--expiration"], ["send", "--id"],
        ["send", "--push-type"], ["send", "--interruption-level"], ["live", "update", "--timestamp"],
        ["simulate", "--port"], ["simulate", "--listen"], ["simulate", "--fault"], ["simulate", "--environment"],
        ["simulate", "--port", "0", "--inbox-port", "0", "--ca-directory"], ["ca", "path", "--ca-directory"],
        ["doctor", "--environment"], ["relay", "keys", "make", "--name", "a", "--apps", "a", "--scopes"],
        ["relay", "status", "--url"], ["healthcheck", "--url"],
        ["doctor", "--topic", "a", "--host"], ["doctor", "--topic", "a", "--host", "a.invalid", "--proxy"],
        ["surface", "smoke", "--url"], ["completion"], ["surface", "example"],
    ])
    func `a key in place of any value is not printed`(words: [String]) async throws {
        let pem = try await key()
        // The name of a directory can have the form of an API key.
        let values = words.last == "--ca-directory" ? [pem] : [pem, Self.caller]
        for value in values {
            for more in [[], ["--json"]] {
                let run = try await martlet(words + [value] + more)
                let printed = run.text + run.errorOutput
                #expect(run.status != 0, "\(printed)")
                #expect(!printed.contains(secret(of: pem).prefix(20)) && !printed.contains("abcdef"), "\(printed)")
            }
        }
    }

    @Test(arguments: [
        (["relay", "status", "--key-file", caller], "--key-file text of 36 characters (not shown"),
        (["relay", "check", "--configuration", caller], "text of 36 characters"),
        (["relay", "--configuration", #"{"a":"abcdef"}"#], "the configuration text of 14 characters"),
        (["relay", "status", "--key-file", "/none", caller], "unexpected argument text of 36 characters"),
        (["send", "--topic", "a", "--to", "5d3a", "--payload", caller], "--payload text of 36 characters"),
    ])
    func `an API key in place of a path is not printed`(words: [String], message: String) async throws {
        let run = try await martlet(words)
        #expect(run.status == 2 && run.errorOutput.contains(message), "\(run.errorOutput)")
        #expect(!(run.text + run.errorOutput).contains("abcdef"), "\(run.errorOutput)")
    }

    @Test(arguments: [
        "mrt_abcdef,title\n00ff,x\n", "token,mrt_abcdef\n00ff,x\n", "token,mrt_abcdef,title,title\n00ff,x,y,z\n",
        #"{"token":"00ff","mrt_abcdef":"x"}"#, #"{"token":"00ff","mrt_abcdef":1,"mrt_abcdef":2}"#,
        #"{"token":"00ff","title=abcdef":"x"}"#,
    ])
    func `a secret in a list of devices is not printed`(list: String) async throws {
        let scratch = try ScratchDirectory()
        let file = try scratch.write(list, to: "list")
        let words = ["send", "--topic", "com.example.app", "--host", "http://localhost:1", "--body", "x"]
        for more in [[], ["--json"]] {
            let run = try await martlet(words + ["--tokens", file] + more)
            let printed = run.text + run.errorOutput
            #expect(run.status != 0 && !printed.contains("abcdef"), "\(printed)")
        }
    }

    @Test(arguments: [
        #"{"mrt_abcdef":1,"mrt_abcdef":2}"#, #"{"mrt_abcdef":1}"#, #"{"data":"a","mrt_abcdef":{}}"#,
        #"{"data":"mrt_abcdef","http":":1","apps":[{"name":"mrt_abcdef","bundle-ids":["mrt_abcdef"]}]}"#,
    ])
    func `a secret in a configuration is not printed`(text: String) async throws {
        for words in [["relay", "check"], ["relay"], ["relay", "migrate"], ["relay", "data", "check"]] {
            let run = try await martlet(words + ["--configuration", "-"], input: text)
            #expect(run.status != 0 && run.errorOutput.contains("standard input"), "\(run.errorOutput)")
            #expect(!(run.text + run.errorOutput).contains("abcdef"), "\(run.errorOutput)")
        }
    }

    @Test func `a password in place of its file is not printed`() async throws {
        let files = try await ProviderCertificateFiles()
        let archive = files.scratch.path + "/certificate.p12"
        let run = try await martlet([
            "send", "--topic", "a", "--to", "5d3a", "--body", "x", "--certificate", archive,
            "--certificate-password-file", "hunter2",
        ])
        #expect(run.status == 2 && !run.errorOutput.contains("hunter2"), "\(run.errorOutput)")
        #expect(run.errorOutput.contains("--certificate-password-file cannot be read: no such file or directory"))
    }

    @Test func `the configuration of a relay may contain the key, which is never printed`() async throws {
        let scratch = try ScratchDirectory()
        let good = try await key()
        let other = try await ProgramRun("openssl", ["genpkey", "-algorithm", "ED25519"]).text
        for (pem, isGood) in [(good, true), (other, false)] {
            let text = """
                {
                  "data": "relay.sqlite", "http": "127.0.0.1:0",
                  "apps": [{
                    "name": "orders", "bundle-ids": ["com.example.orders"], "team-id": "DEF123GHIJ",
                    "key-id": "ABC123DEFG", "key-file": "\(pem.replacing("\n", with: "\\n"))"
                  }],
                  "callers": [{
                    "name": "back end", "key-sha256": "\(String(repeating: "0a", count: 32))", "apps": ["orders"],
                    "scopes": ["send"]
                  }]
                }
                """
            let file = try scratch.write(text, to: "relay.json")
            for words in [["relay", "check"], ["relay", "check", "--json"]] {
                let run = try await martlet(words + ["--configuration", file])
                let printed = run.text + run.errorOutput
                #expect((run.status == 0) == isGood, "\(printed)")
                #expect(!printed.contains(secret(of: pem).prefix(20)), "\(printed)")
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The files of a provider certificate with the extensions of Apple's certificates: topics and environments.
package struct ProviderCertificateFiles {
    /// The directory with `certificate.pem`, `key.pem` and `certificate.p12`.
    package let scratch: ScratchDirectory

    /// Creates a certificate for `com.example.app` and its VoIP pushes.
    ///
    /// - Parameters:
    ///   - kind: The key type, as arguments of `openssl req -newkey`.
    ///   - environments: The numbers of the environments: 1 for development, 2 for production.
    ///   - suffixes: The suffixes of the topics after `com.example.app`.
    /// - Throws: An error if openssl fails.
    package init(
        kind: [String] = ["rsa:2048"],
        environments: [Int] = [1, 2],
        suffixes: [String] = ["", ".voip"]
    ) async throws {
        scratch = try ScratchDirectory()
        let topics = suffixes.enumerated().map { index, suffix in
            "t\(index)a = UTF8:com.example.app\(suffix)\nt\(index)b = SEQUENCE:kind\(suffix)"
        }
        let kinds = suffixes.map { "[kind\($0)]\na = UTF8:\($0.isEmpty ? "app" : String($0.dropFirst()))" }
        let configuration = """
            [req]
            distinguished_name = name
            x509_extensions = apple
            [name]
            [apple]
            \(environments.map { "1.2.840.113635.100.6.3.\($0) = ASN1:NULL" }.joined(separator: "\n"))
            1.2.840.113635.100.6.3.6 = ASN1:SEQUENCE:topics
            [topics]
            \(topics.joined(separator: "\n"))
            \(kinds.joined(separator: "\n"))
            """
        try await write(kind, subject: "/CN=Apple Push Services: com.example.app", configuration)
    }

    /// Creates a certificate without topics and environments, with a user ID in its subject.
    ///
    /// Certificates for MDM and Wallet passes have this form.
    ///
    /// - Parameters:
    ///   - userID: The user ID, which is the topic; empty for a certificate without one.
    ///   - extensions: Lines of an extension section of openssl.
    /// - Throws: An error if openssl fails.
    package init(userID: String, extensions: String = "") async throws {
        scratch = try ScratchDirectory()
        try await write(
            ["rsa:2048"],
            subject: (userID.isEmpty ? "" : "/UID=\(userID)") + "/CN=APSP:1b2c",
            "[req]\ndistinguished_name = name\nx509_extensions = more\n[name]\n[more]\n\(extensions)\n"
        )
    }

    private func write(_ kind: [String], subject: String, _ configuration: String) async throws {
        let file = try scratch.write(configuration, to: "openssl.cnf")
        try await run(
            ["req", "-x509", "-newkey"] + kind + [
                "-nodes", "-subj", subject, "-days", "10", "-config", file, "-keyout", scratch.path + "/key.pem",
                "-out",
                scratch.path + "/certificate.pem",
            ]
        )
        try await run([
            "pkcs12", "-export", "-inkey", scratch.path + "/key.pem", "-in", scratch.path + "/certificate.pem",
            "-out", scratch.path + "/certificate.p12", "-passout", "pass:secret",
        ])
    }

    private func run(_ arguments: [String]) async throws {
        let run = try await ProgramRun("openssl", arguments)
        guard run.status == 0 else { throw ProgramFailure(errorOutput: run.errorOutput) }
    }
}

/// The error for a program that failed.
private struct ProgramFailure: Error {
    let errorOutput: String
}

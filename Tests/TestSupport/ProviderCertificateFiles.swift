import Foundation

/// A certificate as Apple makes them, with its topics and environments, in files.
package struct ProviderCertificateFiles {
    /// `certificate.pem`, `key.pem` and `certificate.p12`.
    package let scratch: ScratchDirectory

    /// Makes one for `com.example.app` and its calls.
    ///
    /// - Parameters:
    ///   - kind: What kind of key openssl makes.
    ///   - environments: The numbers of its environments: 1 for development, 2 for production.
    ///   - suffixes: What follows `com.example.app` in each of its topics.
    /// - Throws: When openssl cannot make one.
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

    /// Makes one that lists neither topics nor environments, with a user ID in its subject, as those for MDM and Wallet
    /// passes have.
    ///
    /// - Parameters:
    ///   - userID: The user ID, which is the topic; empty for a certificate without one.
    ///   - extensions: Lines of an extension section of openssl.
    /// - Throws: When openssl cannot make one.
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
        guard run.status == 0 else { throw ProgramFailure(complaint: run.complaint) }
    }
}

/// A program that had to succeed did not.
private struct ProgramFailure: Error {
    let complaint: String
}

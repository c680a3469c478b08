// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import TestSupport
import Testing

@testable import MartletCLI

/// Keys and certificates in the forms and with the mistakes that `--key` and `--certificate` are often given.
@Suite(.timeLimit(.minutes(10))) struct CredentialOptionTests {
    /// Runs openssl, which must succeed.
    @discardableResult
    private func openssl(_ words: [String]) async throws -> ProgramRun {
        let run = try await ProgramRun("openssl", words)
        try #require(run.status == 0, "\(run.errorOutput)")
        return run
    }

    private func doctor(_ words: [String], environment: [String] = []) async throws -> ProgramRun {
        let command = [MartletProcess.program, "doctor", "--topic", "com.example.app", "--host", "localhost:1"]
        return try await ProgramRun("env", environment + command + words)
    }

    @Test func `doctor names the end of an expired certificate first`() async throws {
        let files = try await ProviderCertificateFiles()
        let path = files.scratch.path
        let pem = path + "/certificate.pem"
        try await openssl(["x509", "-in", pem, "-signkey", path + "/key.pem", "-days", "-1", "-out", path + "/old.pem"])
        let text = try files.scratch.read("old.pem") + files.scratch.read("key.pem")
        let file = try files.scratch.write(text, to: "expired.pem")
        let expiry = try #require(try ProviderCertificate(pem: text, privateKeyPEM: text).expiry)
        let run = try await doctor(["--certificate", file])
        #expect(run.status == 2 && !run.text.contains("--ca "), "\(run.text)\(run.errorOutput)")
        #expect(run.text.hasPrefix("bad   certificate: expired on \(expiry.formatted(.iso8601))\n"), "\(run.text)")
        #expect(run.text.contains("      Create a new certificate in the developer account"), "\(run.text)")
    }

    @Test func `a certificate is valid from its start to its end`() async throws {
        let files = try await ProviderCertificateFiles()
        let certificate = try ProviderCertificate(
            pem: files.scratch.read("certificate.pem"),
            privateKeyPEM: files.scratch.read("key.pem")
        )
        let start = try #require(certificate.start)
        let expiry = try #require(certificate.expiry)
        #expect(certificate.validityError(at: start) == nil)
        #expect(certificate.validityError(at: expiry.addingTimeInterval(-1)) == nil)
        #expect(
            certificate.validityError(at: expiry)?.description == "expired on \(expiry.formatted(.iso8601))"
        )
        let early = certificate.validityError(at: start.addingTimeInterval(-1))
        #expect(early?.description == "not valid before \(start.formatted(.iso8601))")
        #expect(early?.advice.hasPrefix("Check this machine's clock") == true)
    }

    @Test func `base64 of a PKCS#12 file is the certificate itself`() async throws {
        let files = try await ProviderCertificateFiles()
        let data = try Data(contentsOf: URL(filePath: files.scratch.path + "/certificate.p12"))
        let password = ["--certificate-password", "secret"]
        for options in [[], .lineLength76Characters] as [Data.Base64EncodingOptions] {
            let text = data.base64EncodedString(options: options)
            let file = try files.scratch.write(text + "\n", to: "certificate.b64")
            for (words, environment) in [
                (["--certificate", file], []), (["--certificate", text], []), ([], ["MARTLET_CERTIFICATE=" + text]),
            ] as [([String], [String])] {
                // No server has this port.
                let run = try await doctor(words + password, environment: environment)
                let line = "ok    certificate: valid, for com.example.app, com.example.app.voip, in development"
                #expect(run.status == 3 && run.text.hasPrefix(line), "\(run.text)\(run.errorOutput)")
            }
        }
    }

    @Test func `a file of another kind is named, with its option`() async throws {
        let files = try await ProviderCertificateFiles()
        let path = files.scratch.path
        let (pem, key, archive) = (path + "/certificate.pem", path + "/key.pem", path + "/certificate.p12")
        let (der, signing, encrypted) = (path + "/apple.cer", path + "/AuthKey.p8", path + "/encrypted.pem")
        try await openssl(["x509", "-in", pem, "-outform", "der", "-out", der])
        try await openssl(
            ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", signing]
        )
        let locked = try await openssl(["rsa", "-in", key, "-aes256", "-passout", "pass:secret"]).text
        try files.scratch.write(files.scratch.read("certificate.pem") + locked, to: "encrypted.pem")
        let base64 = try Data(contentsOf: URL(filePath: archive)).base64EncodedString()
        let alone = "the certificate is without its private key: add the key to the file, or export both"
        let password = "; give the password with --certificate-password or MARTLET_CERTIFICATE_PASSWORD"
        for (words, message) in [
            (["--certificate", pem], alone), (["--certificate", der], alone),
            (["--key", archive], "this is a PKCS#12 file with a certificate: give it to --certificate"),
            (["--key", base64], "this is a PKCS#12 file with a certificate: give it to --certificate"),
            (["--certificate", signing], "this is a private key without a certificate: give a .p8 key to --key"),
            (["--certificate", archive], "without its passphrase" + password),
            (["--certificate", archive, "--certificate-password", ""], "without its passphrase" + password),
            (["--certificate", encrypted], "openssl pkey -in FILE decrypts other keys)" + password),
        ] as [([String], String)] {
            let run = try await doctor(words)
            #expect(run.status == 2 && run.text.contains(message), "\(words[0]): \(run.text)\(run.errorOutput)")
        }
    }

    @Test(arguments: [[], ["-traditional"]])
    func `the password of an encrypted key has four sources`(format: [String]) async throws {
        let files = try await ProviderCertificateFiles()
        let encryption = ["-aes256", "-passout", "pass:hunter2"] + format
        let locked = try await openssl(["rsa", "-in", files.scratch.path + "/key.pem"] + encryption).text
        let both = try files.scratch.read("certificate.pem") + locked
        let secret = locked.split(separator: "\n")[5]
        let certificate = ["--certificate", try files.scratch.write(both, to: "locked.pem")]
        let file = try files.scratch.write("hunter2\n", to: "password")
        for (words, environment) in [
            (certificate + ["--certificate-password", "hunter2"], []),
            (certificate + ["--certificate-password-file", file], []),
            (certificate, ["MARTLET_CERTIFICATE_PASSWORD=hunter2"]),
            (certificate, ["MARTLET_CERTIFICATE_PASSWORD_FILE=" + file]),
            ([], ["MARTLET_CERTIFICATE=" + both, "MARTLET_CERTIFICATE_PASSWORD=hunter2"]),
        ] as [([String], [String])] {
            // No server has this port.
            let run = try await doctor(words, environment: environment)
            #expect(run.status == 3 && run.text.hasPrefix("ok    certificate: valid"), "\(run.text)\(run.errorOutput)")
            #expect(!(run.text + run.errorOutput).contains("hunter2"))
        }
        let otherFile = try files.scratch.write("hunter3\n", to: "other")
        for (words, message) in [
            ([], "is encrypted, and no password was given"),
            (["--certificate-password", ""], "is encrypted, and no password was given"),
            (["--certificate-password", "hunter3"], "cannot be decrypted with this password"),
            (["--certificate-password-file", otherFile], "cannot be decrypted with this password"),
        ] as [([String], String)] {
            for more in [[], ["--json"]] {
                let run = try await doctor(certificate + words + more)
                let printed = run.text + run.errorOutput
                #expect(run.status == 2 && printed.contains(message), "\(printed)")
                #expect(!printed.contains("hunter") && !printed.contains(secret), "\(printed)")
            }
        }
    }

    @Test func `an encrypted signing key is refused with what to do`() async throws {
        let scratch = try ScratchDirectory()
        let path = scratch.path
        try await openssl(
            ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path + "/key.pem"]
        )
        for words in [["pkcs8", "-topk8"], ["ec", "-aes256"]] {
            let file = path + "/AuthKey_ABC123DEFG.p8"
            try await openssl(words + ["-in", path + "/key.pem", "-passout", "pass:hunter2", "-out", file])
            let run = try await doctor(["--key", file, "--team-id", "DEF123GHIJ"])
            #expect(run.status == 2 && run.text.contains("openssl pkey -in FILE decrypts other keys"), "\(run.text)")
            try await openssl(["pkey", "-in", file, "-passin", "pass:hunter2", "-out", path + "/AuthKey_OTHER12345.p8"])
            let opened = try await doctor(["--key", path + "/AuthKey_OTHER12345.p8", "--team-id", "DEF123GHIJ"])
            #expect(opened.status == 3 && opened.text.hasPrefix("ok    key"), "\(opened.text)")
        }
    }

    @Test func `the certificate of the key is found in a chain of any order`() async throws {
        let files = try await ProviderCertificateFiles()
        let other = try await ProviderCertificateFiles(suffixes: [".other"])
        let (pem, key) = (try files.scratch.read("certificate.pem"), try files.scratch.read("key.pem"))
        let otherPEM = try other.scratch.read("certificate.pem")
        let certificate = try ProviderCertificate(pem: otherPEM + pem, privateKeyPEM: key)
        #expect(certificate.topics == ["com.example.app", "com.example.app.voip"])
        let error = #expect(throws: APNsError.self) { try ProviderCertificate(pem: otherPEM, privateKeyPEM: key) }
        #expect(error?.description == "the private key does not belong to the certificate")
    }
}

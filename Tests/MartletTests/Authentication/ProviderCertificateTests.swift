// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import TestSupport
import Testing

@Suite struct ProviderCertificateTests {
    @Test func `topics, environments and dates are read from PEM and PKCS12`() async throws {
        let files = try await ProviderCertificateFiles()
        let path = files.scratch.path + "/certificate.p12"
        let certificates = [
            try ProviderCertificate(
                pem: files.scratch.read("certificate.pem"),
                privateKeyPEM: files.scratch.read("key.pem")
            ),
            try ProviderCertificate(pkcs12File: path, passphrase: "secret"),
        ]
        for certificate in certificates {
            #expect(certificate.topics == ["com.example.app", "com.example.app.voip"])
            #expect(certificate.isForDevelopment && certificate.isForProduction)
            let shown = try await ProgramRun(
                "openssl",
                ["x509", "-in", files.scratch.path + "/certificate.pem", "-noout", "-dates", "-dateopt", "iso_8601"]
            )
            var dates = ""
            for (name, date) in [("notBefore", certificate.start), ("notAfter", certificate.expiry)] {
                let seconds = try #require(date).secondsSince1970
                let format = "+\(name)=%Y-%m-%d %H:%M:%SZ"
                dates += try await ProgramRun("date", ["-u", "-d", "@\(seconds)", format]).text
            }
            #expect(dates == shown.text)
            _ = try PushClient(.production, authentication: .certificate(certificate))
        }
    }

    @Test func `a wrong passphrase, another file and none are named`() async throws {
        let files = try await ProviderCertificateFiles(kind: ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"])
        let path = files.scratch.path + "/certificate.p12"
        for (file, passphrase) in [
            (path, "wrong"), (path, ""), (files.scratch.path + "/key.pem", "secret"), ("/none", ""),
        ] {
            let error = #expect(throws: APNsError.self) {
                try ProviderCertificate(pkcs12File: file, passphrase: passphrase)
            }
            #expect(error?.code == .badCredentials)
            #expect(error?.description.contains(file) == true, "\(String(describing: error))")
        }
        #expect(throws: APNsError.self) { try ProviderCertificate(pem: "no certificate", privateKeyPEM: "no key") }
    }

    /// Runs openssl, which must succeed.
    private func openssl(_ words: String...) async throws {
        let run = try await ProgramRun("openssl", words)
        #expect(run.status == 0, "\(run.errorOutput)")
    }

    @Test func `a PKCS#12 file with outdated encryption is opened`() async throws {
        let files = try await ProviderCertificateFiles()
        let path = files.scratch.path
        let file = path + "/old.p12"
        try await openssl(
            "pkcs12",
            "-export",
            "-legacy",
            "-inkey",
            path + "/key.pem",
            "-in",
            path + "/certificate.pem",
            "-out",
            file,
            "-passout",
            "pass:secret"
        )
        let certificate = try ProviderCertificate(pkcs12File: file, passphrase: "secret")
        #expect(certificate.topics == ["com.example.app", "com.example.app.voip"])
        _ = try PushClient(.production, authentication: .certificate(certificate))
        for (passphrase, words) in [("wrong", "with this passphrase"), ("", "without its passphrase")] {
            let error = #expect(throws: APNsError.self) {
                try ProviderCertificate(pkcs12File: file, passphrase: passphrase)
            }
            #expect(error?.description.contains(words) == true, "\(String(describing: error))")
        }
        // The algorithms of the legacy provider are not available to other files.
        _ = try ProviderCertificate(pkcs12File: path + "/certificate.p12", passphrase: "secret")
    }

    @Test func `a PKCS#12 file in base64 is opened, and is no signing key`() async throws {
        let files = try await ProviderCertificateFiles()
        let path = files.scratch.path + "/certificate.p12"
        let text = try Data(contentsOf: URL(filePath: path)).base64EncodedString()
        let certificate = try ProviderCertificate(pkcs12: text.utf8, passphrase: "secret")
        #expect(certificate.topics == ["com.example.app", "com.example.app.voip"])
        let damaged = #expect(throws: APNsError.self) {
            try ProviderCertificate(pkcs12: text.utf8.prefix(400), passphrase: "secret")
        }
        #expect(damaged?.description == "the PKCS#12 file cannot be opened: it is damaged")
        let error = #expect(throws: APNsError.self) {
            try SigningKey(pem: text, keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
        }
        #expect(error?.description.contains("this is a PKCS#12 file (.p12), not a private key") == true)
    }

    @Test(arguments: [[], ["-traditional"]])
    func `an encrypted private key needs its passphrase`(format: [String]) async throws {
        let files = try await ProviderCertificateFiles()
        let run = try await ProgramRun(
            "openssl",
            ["rsa", "-in", files.scratch.path + "/key.pem", "-aes256", "-passout", "pass:secret"] + format
        )
        let certificate = try files.scratch.read("certificate.pem")
        let both = certificate + run.text
        for key in [run.text, both, both.replacing("\n", with: "\r\n")] {
            let own = try ProviderCertificate(pem: certificate, privateKeyPEM: key, passphrase: "secret")
            #expect(own.topics == ["com.example.app", "com.example.app.voip"])
            for (passphrase, words) in [
                (nil, "is encrypted, and no password was given"), ("hunter2", "cannot be decrypted with this password"),
                ("", "cannot be decrypted with this password"),
            ] as [(String?, String)] {
                let error = #expect(throws: APNsError.self) {
                    try ProviderCertificate(pem: certificate, privateKeyPEM: key, passphrase: passphrase)
                }
                #expect(error?.code == .badCredentials)
                #expect(error?.description.contains(words) == true, "\(String(describing: error))")
                #expect(error?.description.contains("hunter2") == false)
                #expect(error?.description.contains(run.text.split(separator: "\n")[5]) == false)
            }
        }
        let plain = try files.scratch.read("key.pem")
        _ = try ProviderCertificate(pem: certificate, privateKeyPEM: plain, passphrase: "not needed")
        // A key in a variable has lost its line breaks.
        _ = try ProviderCertificate(pem: certificate, privateKeyPEM: plain.replacing("\n", with: "\\n"))
    }

    @Test(arguments: [["rsa:2048"], ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"]])
    func `a certificate with the key of another is refused, and no key is ever shown`(kind: [String]) async throws {
        let files = try await ProviderCertificateFiles(kind: kind)
        let other = try await ProgramRun(
            "openssl",
            ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
        ).text
        let pem = try files.scratch.read("certificate.pem")
        let error = #expect(throws: APNsError.self) { try ProviderCertificate(pem: pem, privateKeyPEM: other) }
        #expect(error?.code == .badCredentials)
        let own = try ProviderCertificate(pem: pem, privateKeyPEM: files.scratch.read("key.pem"))
        var dumped = "\(own) \(PushClient.Authentication.certificate(own))"
        dump(own, to: &dumped)
        dump(PushClient.Authentication.certificate(own), to: &dumped)
        #expect(!dumped.contains("PRIVATE"))
    }
}

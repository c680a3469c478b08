import APNsClient
import TestSupport
import Testing

@Suite struct ProviderCertificateTests {
    /// A certificate as Apple makes them, with its topics and environments, in files.
    private struct Files {
        let scratch: ScratchDirectory

        init(kind: [String] = ["rsa:2048"]) async throws {
            scratch = try ScratchDirectory()
            let configuration = """
                [req]
                distinguished_name = name
                x509_extensions = apple
                [name]
                [apple]
                1.2.840.113635.100.6.3.1 = ASN1:NULL
                1.2.840.113635.100.6.3.2 = ASN1:NULL
                1.2.840.113635.100.6.3.6 = ASN1:SEQUENCE:topics
                [topics]
                a = UTF8:com.example.app
                b = SEQUENCE:app
                c = UTF8:com.example.app.voip
                d = SEQUENCE:voip
                [app]
                a = UTF8:app
                [voip]
                a = UTF8:voip
                """
            let file = try scratch.write(configuration, to: "openssl.cnf")
            try await run(
                ["req", "-x509", "-newkey"] + kind + [
                    "-nodes", "-subj", "/CN=Apple Push Services: com.example.app", "-days", "10", "-config", file,
                    "-keyout", scratch.path + "/key.pem", "-out", scratch.path + "/certificate.pem",
                ]
            )
            try await run([
                "pkcs12", "-export", "-inkey", scratch.path + "/key.pem", "-in", scratch.path + "/certificate.pem",
                "-out", scratch.path + "/certificate.p12", "-passout", "pass:secret",
            ])
        }

        private func run(_ arguments: [String]) async throws {
            let run = try await ProgramRun("openssl", arguments)
            try #require(run.status == 0, "\(run.complaint)")
        }
    }

    @Test func `topics, environments and end are read from the certificate, whatever it comes in`() async throws {
        let files = try await Files()
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
                ["x509", "-in", files.scratch.path + "/certificate.pem", "-noout", "-enddate", "-dateopt", "iso_8601"]
            )
            let end = try #require(certificate.expiry)
            let date = try await ProgramRun("date", ["-u", "-d", "@\(end)", "+notAfter=%Y-%m-%d %H:%M:%SZ"])
            #expect(date.text == shown.text)
            _ = try PushClient(.production, authentication: .certificate(certificate))
        }
    }

    @Test func `a wrong passphrase, another file and none are named`() async throws {
        let files = try await Files(kind: ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"])
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

    @Test(arguments: [["rsa:2048"], ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"]])
    func `a certificate with the key of another is refused, and no key is ever shown`(kind: [String]) async throws {
        let files = try await Files(kind: kind)
        let other = try await ProgramRun(
            "openssl",
            ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
        ).text
        let pem = try files.scratch.read("certificate.pem")
        let error = #expect(throws: APNsError.self) { try ProviderCertificate(pem: pem, privateKeyPEM: other) }
        #expect(error?.code == .badCredentials)
        let own = try ProviderCertificate(pem: pem, privateKeyPEM: files.scratch.read("key.pem"))
        var dumped = "\(own) \(Authentication.certificate(own))"
        dump(own, to: &dumped)
        dump(Authentication.certificate(own), to: &dumped)
        #expect(!dumped.contains("PRIVATE"))
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import MartletCore
import MartletOutbox
import MartletSimulator
import MartletTransport
import TestSupport
import Testing

@testable import MartletRelay

/// Client certificates as credentials of callers.
@Suite(.timeLimit(.minutes(10))) struct ClientCertificateTests {
    /// A relay with TLS, whose app has the bundle identifier that ``ProviderCertificateFiles`` has certificates for.
    private struct Bench {
        let relay: RelayBench
        let lines = LogLines()
        private let authority: CertificateAuthority

        init(_ rule: ClientCertificateRule, authorities: String? = nil) async throws {
            authority = try CertificateAuthority()
            let issued = try authority.issueServerCertificate(dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"])
            relay = try await RelayBench(log: lines.logger()) {
                $0.apps[0].bundleIDs.append("com.example.app")
                $0.identity = .init(certificateChainPEM: issued.certificatePEM, privateKeyPEM: issued.keyPEM)
                $0.callers.append(
                    .init(name: "legacy", hash: nil, certificate: rule, apps: ["orders"], scopes: [.send])
                )
                $0.clientAuthorities = authorities
            }
        }

        func authorityPEM() throws -> String { try authority.certificatePEM() }

        /// Sends a push with a certificate and returns the error, if any.
        func push(_ certificate: ProviderCertificate) async throws -> APNsError? {
            var configuration = PushClient.Configuration()
            configuration.additionalAuthorities = try authority.certificatePEM()
            configuration.retry = .none
            let port = try #require(await relay.relay.ports[.production])
            let client = try PushClient(
                APNsEndpoint(host: "localhost", port: port),
                authentication: .certificate(certificate),
                configuration: configuration
            )
            var failure: APNsError?
            do throws(APNsError) {
                try await client.send(.alert("Hi"), to: RelayBench.token, topic: "com.example.app")
            } catch {
                failure = error
            }
            await client.close()
            return failure
        }
    }

    private static func certificate(in files: ScratchDirectory, _ name: String) throws -> ProviderCertificate {
        try ProviderCertificate(pem: files.read("\(name).pem"), privateKeyPEM: files.read("\(name)-key.pem"))
    }

    /// An authority, a certificate that it issued for `CN=orders,O=Example`, and a self-signed one with that subject.
    private static func makeCertificates(in files: ScratchDirectory) async throws {
        let new = ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "10"]
        func path(_ name: String) -> String { files.path + "/" + name }
        for (arguments, name, subject) in [
            (["-x509"], "authority", "/CN=Authority"), (["-x509"], "impostor", "/O=Example/CN=orders"),
            ([], "client", "/O=Example/CN=orders"),
        ] {
            let output = ["-subj", subject, "-keyout", path("\(name)-key.pem"), "-out", path("\(name).pem")]
            let run = try await ProgramRun("openssl", new + arguments + output)
            try #require(run.status == 0, "\(run.errorOutput)")
        }
        let run = try await ProgramRun(
            "openssl",
            [
                "x509", "-req", "-days", "10", "-in", path("client.pem"), "-CA", path("authority.pem"), "-CAkey",
                path("authority-key.pem"), "-CAcreateserial", "-out", path("signed.pem"),
            ]
        )
        try #require(run.status == 0, "\(run.errorOutput)")
        try files.write(files.read("signed.pem"), to: "client.pem")
    }

    @Test func `only a certificate with a configured fingerprint may send`() async throws {
        let files = try await ProviderCertificateFiles()
        let pem = try files.scratch.read("certificate.pem")
        let identity = try ClientIdentity(certificatePEM: pem, privateKeyPEM: files.scratch.read("key.pem"))
        let openssl = try await ProgramRun(
            "openssl",
            ["x509", "-noout", "-fingerprint", "-sha256", "-in", files.scratch.path + "/certificate.pem"]
        )
        let printed = openssl.text.drop { $0 != "=" }.dropFirst().filter { $0.isHexDigit }.lowercased()
        #expect(identity.facts.fingerprint == printed)
        let bench = try await Bench(ClientCertificateRule(fingerprint: printed))
        let own = try ProviderCertificate(pem: pem, privateKeyPEM: files.scratch.read("key.pem"))
        #expect(try await bench.push(own) == nil)
        let strangers = try await ProviderCertificateFiles()
        let stranger = try ProviderCertificate(
            pem: strangers.scratch.read("certificate.pem"),
            privateKeyPEM: strangers.scratch.read("key.pem")
        )
        let error = try await bench.push(stranger)
        #expect(error?.status == 403 && error?.reason == .badCertificate)
        let line = try #require(bench.lines.objects.first { $0["certificate-sha256"] != nil })
        #expect(line["msg"] == "caller rejected" && line["cause"] == "unknown certificate")
        #expect(line["certificate-subject"] == "CN=Apple Push Services: com.example.app")
        #expect(await bench.relay.apple.pushCount == 1)
        // With the certificate of a caller, `authorization` is ignored; with that of a stranger it is not.
        let port = try #require(await bench.relay.relay.ports[.production])
        let authority = try files.scratch.write(bench.authorityPEM(), to: "authority.pem")
        for (owner, status) in [(files, 200), (strangers, 403)] {
            let path = owner.scratch.path
            let run = try await ProgramRun.curl([
                "--http2", "--cacert", authority, "--cert", path + "/certificate.pem", "--key", path + "/key.pem",
                "--header", "authorization: bearer none", "--header", "apns-topic: com.example.app", "--data",
                #"{"aps":{"alert":"Hi"}}"#, "--output", "/dev/null", "--write-out", "%{http_code}",
                "https://localhost:\(port)/3/device/5d3a6a1c",
            ])
            #expect(run.text == "\(status)", "\(run.errorOutput)")
        }
        await bench.relay.stop()
    }

    @Test func `a subject counts only in a certificate of a configured authority`() async throws {
        let files = try ScratchDirectory()
        try await Self.makeCertificates(in: files)
        let bench = try await Bench(
            ClientCertificateRule(subject: "CN=orders,O=Example"),
            authorities: files.read("authority.pem")
        )
        #expect(try await bench.push(Self.certificate(in: files, "client")) == nil)
        #expect(try await bench.push(Self.certificate(in: files, "impostor"))?.reason == .badCertificate)
        // The authority itself is trusted, and has another subject.
        #expect(try await bench.push(Self.certificate(in: files, "authority"))?.reason == .badCertificate)
        var new = await bench.relay.relay.context.configuration
        new.clientAuthorities = try files.read("impostor.pem")
        try await bench.relay.relay.reload(new)
        #expect(try await bench.push(Self.certificate(in: files, "client"))?.reason == .badCertificate)
        #expect(try await bench.push(Self.certificate(in: files, "impostor")) == nil)
        await bench.relay.stop()
    }

    @Test func `a certificate with one topic supplies it, and its own expiry counts`() async throws {
        let files = try await ProviderCertificateFiles(suffixes: [""])
        let identity = try ClientIdentity(
            certificatePEM: files.scratch.read("certificate.pem"),
            privateKeyPEM: files.scratch.read("key.pem")
        )
        var configuration = RelayConfiguration(data: .file(""), apps: [], listeners: [:])
        let rule = ClientCertificateRule(fingerprint: identity.facts.fingerprint)
        configuration.callers = [.init(name: "legacy", hash: nil, certificate: rule, apps: ["orders"], scopes: [.send])]
        let caller = try #require(try Callers(configuration).caller(identity.facts))
        #expect(caller.defaultTopic == "com.example.app" && caller.name == "legacy")
        let expiry = try #require(identity.facts.expiry)
        #expect(caller.refusal(at: expiry) == .expiredProviderToken && caller.refusal(at: expiry - 1) == nil)
    }

    @Test func `a rule that demands nothing matches no certificate`() async throws {
        let files = try await ProviderCertificateFiles()
        let identity = try ClientIdentity(
            certificatePEM: files.scratch.read("certificate.pem"),
            privateKeyPEM: files.scratch.read("key.pem")
        )
        #expect(!ClientCertificateRule().matches(identity.facts))
        #expect(!ClientCertificateRule(subject: identity.facts.subject).matches(identity.facts))
    }
}

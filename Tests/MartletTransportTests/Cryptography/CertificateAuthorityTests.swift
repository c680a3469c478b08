// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import MartletTransport

/// Tests of certificates and signatures with the command openssl.
@Suite(.timeLimit(.minutes(10))) struct CertificateAuthorityTests {
    private func openssl(_ arguments: String..., input: String = "") async throws -> ProgramRun {
        try await ProgramRun("openssl", arguments, input: Array(input.utf8))
    }

    private func issued(_ names: [String], _ addresses: [String]) throws -> (
        authority: CertificateAuthority, server: String
    ) {
        let authority = try CertificateAuthority()
        let issued = try authority.issueServerCertificate(dnsNames: names, ipAddresses: addresses)
        return (authority, issued.certificatePEM)
    }

    @Test(arguments: [
        ("-verify_hostname", "localhost"), ("-verify_hostname", "api.push.apple.com"), ("-verify_ip", "127.0.0.1"),
        ("-verify_ip", "::1"),
    ])
    func `a server's certificate is valid for its names`(option: String, name: String) async throws {
        let scratch = try ScratchDirectory()
        let (authority, server) = try issued(["localhost", "api.push.apple.com"], ["127.0.0.1", "::1"])
        let trusted = try scratch.write(authority.certificatePEM(), to: "ca.pem")
        let run = try await openssl(
            "verify",
            "-x509_strict",
            "-purpose",
            "sslserver",
            "-CAfile",
            trusted,
            option,
            name,
            try scratch.write(server, to: "server.pem")
        )
        #expect(run.status == 0, "\(run.errorOutput)")
    }

    @Test(arguments: ["example.com", "apple.com", "push.apple.com.example.com"])
    func `the authority cannot certify other names`(name: String) async throws {
        let scratch = try ScratchDirectory()
        let (authority, server) = try issued([name], [])
        let trusted = try scratch.write(authority.certificatePEM(), to: "ca.pem")
        let run = try await openssl("verify", "-CAfile", trusted, try scratch.write(server, to: "server.pem"))
        #expect(run.status != 0)
        #expect(run.errorOutput.contains("permitted subtree violation"))
    }

    @Test func `the authority cannot certify other addresses`() async throws {
        let scratch = try ScratchDirectory()
        let (authority, server) = try issued([], ["192.0.2.1"])
        let trusted = try scratch.write(authority.certificatePEM(), to: "ca.pem")
        let run = try await openssl("verify", "-CAfile", trusted, try scratch.write(server, to: "server.pem"))
        #expect(run.errorOutput.contains("permitted subtree violation"))
    }

    @Test func `a stored authority issues certificates that its clients trust`() async throws {
        let scratch = try ScratchDirectory()
        let first = try CertificateAuthority()
        let second = try CertificateAuthority(certificatePEM: first.certificatePEM(), keyPEM: first.keyPEM())
        let server = try second.issueServerCertificate(dnsNames: ["localhost"], ipAddresses: []).certificatePEM
        let trusted = try scratch.write(first.certificatePEM(), to: "ca.pem")
        let run = try await openssl("verify", "-CAfile", trusted, try scratch.write(server, to: "server.pem"))
        #expect(run.status == 0, "\(run.errorOutput)")
    }

    @Test func `the key must belong to the certificate`() throws {
        let first = try CertificateAuthority()
        let second = try CertificateAuthority()
        let error = #expect(throws: CryptographyError.self) {
            try CertificateAuthority(certificatePEM: first.certificatePEM(), keyPEM: second.keyPEM())
        }
        #expect(error?.description.contains("do not belong together") == true)
        #expect(throws: CryptographyError.self) { try CertificateAuthority(certificatePEM: "", keyPEM: first.keyPEM()) }
    }

    @Test func `two certificates have different serial numbers and keys`() throws {
        let authority = try CertificateAuthority()
        let first = try authority.issueServerCertificate(dnsNames: ["localhost"], ipAddresses: [])
        let second = try authority.issueServerCertificate(dnsNames: ["localhost"], ipAddresses: [])
        #expect(first.certificatePEM != second.certificatePEM)
        #expect(first.keyPEM != second.keyPEM)
    }
}

@Suite(.timeLimit(.minutes(10))) struct ES256Tests {
    private func pem(_ arguments: String...) async throws -> String {
        try await ProgramRun("openssl", arguments).text
    }

    @Test func `a chain begins with the certificate of the key`() throws {
        let authority = try CertificateAuthority()
        let issued = try authority.issueServerCertificate(dnsNames: ["localhost"], ipAddresses: [])
        let key = try PrivateKey(pem: issued.keyPEM)
        let server = Certificate.all(in: issued.certificatePEM)
        let other = Certificate.all(in: try CertificateAuthority().certificatePEM())
        let ordered = (server + other).map(\.fingerprint)
        for chain in [
            server + other, [server[0], other[0], server[1]], [server[1], other[0], server[0]],
            [other[0], server[1], server[0]],
        ] {
            #expect(try Certificate.chain(chain, of: key).map(\.fingerprint) == ordered)
        }
        let error = #expect(throws: CryptographyError.self) { try Certificate.chain(other, of: key) }
        #expect(error?.description == "the private key does not belong to the certificate")
        _ = try TLSContext.server(
            identity: TLSContext.Identity(
                certificateChainPEM: authority.certificatePEM() + issued.certificatePEM,
                privateKeyPEM: issued.keyPEM
            )
        )
    }

    @Test func `a signature is valid for its message and its key only`() throws {
        let key = try ES256PrivateKey()
        let publicKey = try ES256PublicKey(pem: key.publicKeyPEM())
        let message = Array("header.claims".utf8)
        let signature = try key.sign(message)
        #expect(signature.count == 64)
        #expect(publicKey.isValid(signature: signature, for: message))
        #expect(!publicKey.isValid(signature: signature, for: message + [0]))
        #expect(!publicKey.isValid(signature: Array(signature.reversed()), for: message))
        let stranger = try ES256PublicKey(pem: ES256PrivateKey().publicKeyPEM())
        #expect(!stranger.isValid(signature: signature, for: message))
    }

    @Test(arguments: [0, 1, 63, 65, 128]) func `a signature of another length is invalid`(count: Int) throws {
        let key = try ES256PrivateKey()
        let publicKey = try ES256PublicKey(pem: key.publicKeyPEM())
        #expect(!publicKey.isValid(signature: [UInt8](repeating: 1, count: count), for: [1]))
        #expect(!publicKey.isValid(signature: [UInt8](repeating: 0, count: count), for: [1]))
    }

    @Test func `a key that openssl has made is read`() async throws {
        let made = try await pem("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256")
        let key = try ES256PrivateKey(pem: made)
        #expect(try key.pem() == made)
        _ = try key.sign([1, 2, 3])
    }

    @Test func `a key keeps its strength through many signatures`() throws {
        // Halves that begin with zero bytes are the rare case that a signature has to be padded in.
        let key = try ES256PrivateKey()
        let publicKey = try ES256PublicKey(pem: key.publicKeyPEM())
        for number in 0..<1_000 {
            let message = Array("\(number)".utf8)
            #expect(publicKey.isValid(signature: try key.sign(message), for: message))
        }
    }

    @Test(arguments: [
        ("", "the key is empty"), (" \n", "the key is empty"), ("hello", "must be PEM text"),
        ("-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n", "a certificate, not a private key"),
        ("-----BEGIN PUBLIC KEY-----\nAA==\n-----END PUBLIC KEY-----\n", "a public key"),
        ("-----BEGIN ENCRYPTED PRIVATE KEY-----\nAA==\n-----END ENCRYPTED PRIVATE KEY-----\n", "encrypted"),
        ("-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n", "cannot be read"),
    ])
    func `the error for an invalid key names the text that was found`(text: String, words: String) {
        let error = #expect(throws: CryptographyError.self) { try ES256PrivateKey(pem: text) }
        #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
    }

    @Test func `keys of other kinds are refused by name`() async throws {
        let otherCurve = try await pem("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384")
        let edwards = try await pem("genpkey", "-algorithm", "ED25519")
        let rsa = try await pem("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048")
        let others = [
            (otherCurve, "secp384r1"), (edwards, "not an elliptic-curve key"), (rsa, "not an elliptic-curve key"),
        ]
        for (text, words) in others {
            let error = #expect(throws: CryptographyError.self) { try ES256PrivateKey(pem: text) }
            #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
        }
    }
}

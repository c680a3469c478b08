// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import MartletTransport

/// Keys and certificates whose text was changed on its way, and texts that are neither.
@Suite(.timeLimit(.minutes(10))) struct KeyTextTests {
    /// Returns the same key in the forms in which variables, secret stores and files often have it.
    private func damaged(_ pem: String) -> [(name: String, text: String)] {
        let lines = pem.split(separator: "\n").map(String.init)
        let body = lines.dropFirst().dropLast()
        return [
            ("literal \\n", pem.replacing("\n", with: "\\n")), ("literal \\r\\n", pem.replacing("\n", with: "\\r\\n")),
            ("escaped twice", pem.replacing("\n", with: "\\\\n")), ("blanks", lines.joined(separator: " ")),
            ("no line breaks", lines.joined()), ("no white space", lines.joined().filter { $0 != " " }),
            ("double quotes", "\"\(pem)\""), ("quotes and literal \\n", "'\(pem.replacing("\n", with: "\\n"))'"),
            ("CRLF", pem.replacing("\n", with: "\r\n")), ("CR", pem.replacing("\n", with: "\r")),
            ("indented", lines.map { "    " + $0 }.joined(separator: "\n")), ("tabs", lines.joined(separator: "\n\t")),
            ("blank lines", lines.joined(separator: "\n\n")), ("escaped slashes", pem.replacing("/", with: "\\/")),
            ("base64", Data(pem.utf8).base64EncodedString()),
            ("wrapped base64", Data(pem.utf8).base64EncodedString(options: .lineLength64Characters)),
            ("base64 of literal \\n", Data(pem.replacing("\n", with: "\\n").utf8).base64EncodedString()),
            ("no labels", body.joined(separator: "\n")), ("no labels, one line", body.joined()),
            ("no padding", body.joined().filter { $0 != "=" }),
            ("no last line", lines.dropLast().joined(separator: "\n")),
            ("no first line", lines.dropFirst().joined(separator: "\n")), ("byte order mark", "\u{FEFF}" + pem),
            ("dashes", pem.replacing("-----", with: "——-")),
            ("JSON lines", lines.map { "\"\($0)\"," }.joined(separator: "\n")),
            (
                "another label",
                pem.replacing("EC PRIVATE", with: "PRIVATE").replacing("BEGIN PRI", with: "BEGIN RSA PRI")
            ),
        ]
    }

    @Test func `a key with damaged line breaks, labels or quotes is read`() throws {
        for _ in 0..<20 {
            let pem = try ES256PrivateKey().pem()
            for (name, text) in damaged(pem) {
                let key = try? ES256PrivateKey(pem: text)
                #expect(try key?.pem() == pem, "\(name)")
                // In place of a path, it is the key.
                let given = PEMText.text(in: text)
                #expect(try given.map { try ES256PrivateKey(pem: $0).pem() } == pem, "\(name)")
            }
        }
    }

    @Test func `a certificate with damaged line breaks or quotes is read`() throws {
        let pem = try CertificateAuthority().certificatePEM()
        let fingerprint = Certificate.all(in: pem).map(\.fingerprint)
        #expect(fingerprint.count == 1)
        for (name, text) in damaged(pem) {
            #expect(Certificate.all(in: text).map(\.fingerprint) == fingerprint, "\(name)")
        }
        #expect(Certificate.all(in: String(pem.dropLast(60))).isEmpty)
        #expect(Certificate.all(in: try ES256PrivateKey().pem()).isEmpty)
    }

    @Test func `no certificate of a damaged chain is lost`() throws {
        let (leaf, issuer) = (try CertificateAuthority().certificatePEM(), try CertificateAuthority().certificatePEM())
        let chain = leaf + (try ES256PrivateKey().pem()) + issuer
        let fingerprints = Certificate.all(in: chain).map(\.fingerprint)
        #expect(fingerprints.count == 2)
        for text in [
            "\"\(chain)\"", chain.replacing("\n", with: "\\n"), chain.replacing("\n", with: " "),
            Data(chain.utf8).base64EncodedString(), leaf.replacing("\n", with: " ") + "\n" + issuer,
        ] {
            #expect(Certificate.all(in: text).map(\.fingerprint) == fingerprints)
        }
    }

    @Test func `a damaged key in the format of SEC 1 is read`() async throws {
        let scratch = try ScratchDirectory()
        let pem = try ES256PrivateKey().pem()
        let file = try scratch.write(pem, to: "key.pem")
        let other = try await ProgramRun("openssl", ["ec", "-in", file]).text
        #expect(other.hasPrefix("-----BEGIN EC PRIVATE KEY-----"))
        for (name, text) in damaged(other) {
            let key = try? ES256PrivateKey(pem: text)
            #expect(try key?.pem() == pem, "\(name)")
        }
    }

    @Test func `the cause is named, and no part of the key`() async throws {
        let pem = try ES256PrivateKey().pem()
        let publicKey = try ES256PrivateKey().publicKeyPEM()
        let lines = pem.split(separator: "\n").map(String.init)
        let body = lines.dropFirst().dropLast().joined()
        let rsa = try await ProgramRun("openssl", ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"])
        let publicBody = publicKey.split(separator: "\n").dropFirst().dropLast().joined()
        let texts: [(String, String)] = [
            (lines.dropLast(2).joined(separator: "\n"), "it is truncated"),
            (String(body.dropLast(20)), "it is truncated"),
            (String(body.dropLast(21)), "it is truncated"),
            (pem.replacing(body.prefix(8), with: "AAAAAAAA"), "it is damaged"),
            (lines[0] + "\n" + lines[1] + "!\n" + body, "characters that base64 does not have"),
            (publicKey, "a public key"), (publicBody, "a public key"),
            (publicKey.replacing("\n", with: "\\n"), "a public key"),
            ("<!DOCTYPE html><html></html>", "HTML"), ("{\"key\": 1}", "JSON"), ("a\u{FFFD}", "binary data"),
            ("/etc/martlet/AuthKey_ABC123DEFG.p8", "a path"), ("AuthKey_ABC123DEFG.p8", "a path"),
            ("eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJERUYxMjNHSElKIn0.c2ln", "a JSON Web Token"),
            (rsa.text, "found an RSA key"),
            (rsa.text.replacing("\n", with: "\\n"), "found an RSA key"), (lines[0], "damaged"),
            ("password", "must be PEM"),
            ("-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----", "ssh-keygen"),
            ("-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----", "a certificate request"),
            (
                "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END EC PRIVATE KEY-----",
                "no password"
            ),
        ]
        for (text, words) in texts {
            let error = #expect(throws: CryptographyError.self, "\(words)") { try ES256PrivateKey(pem: text) }
            let message = error?.description ?? ""
            #expect(message.contains(words), "\(words): \(message)")
            #expect(!message.contains("unsupported") && !message.contains(body.suffix(40).prefix(16)), "\(message)")
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import MartletCore
import MartletTransport
import TestSupport
import Testing

@Suite struct SigningKeyTests {
    /// Keys of the wrong kind, as openssl makes them, and texts that are none.
    @Test(arguments: [
        ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"],
        ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"],
        ["genpkey", "-algorithm", "ED25519"],
        ["version"],
    ])
    func `a key of the wrong kind is refused with the name of its file`(openssl: [String]) async throws {
        let scratch = try ScratchDirectory()
        let text = try await ProgramRun("openssl", openssl).text
        let file = try scratch.write(text, to: "AuthKey.p8")
        let error = try #require(throws: APNsError.self) {
            try SigningKey(file: file, keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
        }
        #expect(error.code == .badCredentials)
        #expect(error.description.contains("AuthKey.p8"))
        #expect(text.split(separator: "\n").dropFirst().allSatisfy { !error.description.contains($0) })
    }

    @Test(arguments: [
        ("/nonexistent/AuthKey.p8", "no such file or directory"), ("/", "illegal operation on a directory"),
        ("AuthKey-nowhere.p8", "no such file or directory (in \(FileManager.default.currentDirectoryPath))"),
    ])
    func `a file that cannot be read is named with the reason`(file: String, reason: String) throws {
        let error = try #require(throws: APNsError.self) {
            try SigningKey(file: file, keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
        }
        #expect(error.code == .badCredentials)
        #expect(error.description == "the key file \(file) cannot be read: \(reason)")
        let other = try #require(throws: APNsError.self) {
            try ProviderCertificate(pkcs12File: file, passphrase: "secret")
        }
        #expect(other.description == "the certificate file \(file) cannot be read: \(reason)")
    }

    @Test func `the text of a key in place of its path is the key`() throws {
        let pem = try ES256PrivateKey().pem()
        let file = try SigningKey(file: pem, keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
        #expect(file.isSame(as: try SigningKey(pem: pem, keyID: "ABC123DEFG", teamID: "DEF123GHIJ")))
        let encoded = Data(pem.utf8).base64EncodedString()
        #expect(file.isSame(as: try SigningKey(file: encoded, keyID: "ABC123DEFG", teamID: "DEF123GHIJ")))
    }

    @Test(arguments: [
        "mrt_abcdefghijklmnopqrstuvwxyz234567", "-----BEGIN PRIVATE KEY-----\nabcdefg\n-----END PRIVATE KEY-----\n",
    ])
    func `a secret in place of a path is not shown`(file: String) throws {
        let error = try #require(throws: APNsError.self) {
            try SigningKey(file: file, keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
        }
        #expect(error.description.contains("text of \(file.count) characters (not shown, as it may be a secret)"))
        #expect(!error.description.contains("abcdefg"))
        let other = try #require(throws: APNsError.self) {
            try ProviderCertificate(pkcs12File: file, passphrase: "secret")
        }
        #expect(!other.description.contains("abcdefg"))
    }

    @Test(arguments: [
        ("", "DEF123GHIJ", "keyID"), ("ABC123DEF", "DEF123GHIJ", "keyID"), ("ABC123DEFGH", "DEF123GHIJ", "keyID"),
        ("abc123defg", "DEF123GHIJ", "keyID"), ("ABC123DEFÄ", "DEF123GHIJ", "keyID"), ("ABC123DEFG", "x y", "teamID"),
        ("ABC123DEFG", "DEF123GHI\n", "teamID"), ("mrt_short", "DEF123GHIJ", "keyID"),
    ])
    func `a name that is not ten letters and digits is refused`(keyID: String, teamID: String, field: String) throws {
        let pem = try ES256PrivateKey().pem()
        let error = try #require(throws: APNsError.self) { try SigningKey(pem: pem, keyID: keyID, teamID: teamID) }
        #expect(error.code == .badCredentials)
        #expect(error.description.hasPrefix("\(field) must be the ten characters of A-Z and 0-9"))
        let found = ShownValue.quoted(field == "keyID" ? keyID : teamID)
        #expect(error.description.contains("(found \(found))") && !error.description.contains("mrt_"))
        #expect(try SigningKey(pem: pem, keyID: "ABC123DEFG", teamID: "DEF123GHIJ").keyID == "ABC123DEFG")
    }

    @Test func `the description of a key has no key material`() throws {
        let key = try SigningKey.ephemeral(keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
        #expect("\(key)" == "SigningKey(ABC123DEFG of team DEF123GHIJ)")
        var dumped = ""
        dump(PushClient.Authentication.token(key), to: &dumped)
        #expect(!dumped.contains("PRIVATE"))
    }
}

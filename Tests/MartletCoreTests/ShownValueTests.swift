// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MartletCore

@Suite(.timeLimit(.minutes(10))) struct ShownValueTests {
    /// A random secret in base64 and one in hexadecimal digits.
    private static let base64 = "q83vEjRWeJq83vEjRWeJq83vEjR/WeJq83vEjRWeJq8="
    private static let hexadecimal = String(repeating: "0a1b", count: 16)

    @Test(arguments: [
        "AuthKey_ABC123DEFG.p8", "/etc/martlet/AuthKey_ABC123DEFG.p8", "./keys/key", "no/such.json", "-", "",
        "/tmp/martlet-6F9619FF-8B86-D011-B42D-00C04FC964FF/both.pem", "C:\\keys\\AuthKey.p8", "/Volumes/My Disk/key.p8",
        "/tmp/martlet-6F9619FF-8B86-D011-B42D-00C04FC964FF", "/etc/martlet/mrt_operator.key", "/ключи/ключ.p8",
        "/var/lib/docker/overlay2/\(hexadecimal)/merged/AuthKey_ABC123DEFG.p8", "--foo", "\(hexadecimal).pem",
        "/run/secrets/production-apns-signing-key-2024-orders",
        "/data/region=eu/key.p8", "[::1]:2197", "http://127.0.0.1:4318/v1/traces",
    ])
    func `a path is shown`(value: String) {
        let shown = ShownValue(value)
        #expect(shown.isWhole && shown.description == value)
    }

    @Test func `a repeated name in JSON that may be a secret is not shown`() throws {
        let text = #"{"mrt_short":1,"mrt_short":2}"#
        let error = try #require(throws: JSONError.self) { try JSONReader.read(Array(text.utf8)) }
        #expect(error.description.contains("the name text of 9 characters (not shown"), "\(error)")
    }

    @Test func `a provider token's values that may be a secret are not shown`() {
        #expect(ProviderTokenError.wrongAlgorithm("none").description.contains("signed with none;"))
        let errors = [ProviderTokenError.wrongAlgorithm("mrt_short"), .repeatedName("mrt_short", part: "header")]
        for error in errors { #expect(!error.description.contains("mrt_"), "\(error)") }
    }

    @Test(arguments: [
        "-----BEGIN PRIVATE KEY-----", "line\nline", "tab\tkey", "a\u{2028}b", "mrt_abcdefghijklmnopqrstuvwxyz234567",
        "/etc/martlet/mrt_abcdefghijklmnopqrstuvwxyz234567", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJERUYxMjNHSElKIn0.c2ln", "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCg==",
        "\"MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg q83vEj/\"", base64, hexadecimal,
        "/etc/martlet/\(hexadecimal)", "postgresql://relay:secret@db1/push", "x-api-key=0a1b2c3d4e",
        "user:secret@proxy:8080", "host=db1 user=relay password=secret", "https://h/?token=secret",
        "--eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJERUYxMjNHSElKIn0.c2ln",
        "api-key=hunter2", "api-key=hunter.2/a", "authorization: Bearer hunter2", #"{"a":"hunter2"}"#,
        #" ["hunter2"]"#, "http://u:hunter2@h:1", "http://hunter2@h:1", "hunter2@h:1", "https://h/?key=hunter2",
        "/v1/nodes/mrt_short/drain", "/v1/key=mrt_short", "orders,mri_short", String(repeating: "a/", count: 101),
    ])
    func `a value that may be a secret is described by its length`(value: String) {
        let shown = ShownValue(value)
        #expect(!shown.isWhole)
        #expect(shown.description == "text of \(value.count) characters (not shown, as it may be a secret)")
    }

    @Test func `the length of a value is in the singular for one character`() {
        #expect(ShownValue.quoted("\0") == "text of 1 character (not shown, as it may be a secret)")
        #expect(JSONValue.string("=").excerpt == "a string of 1 character")
        let accents = JSONValue.string("e" + String(repeating: "\u{301}", count: 20))
        #expect(accents.excerpt == "a string of 1 character, 41 bytes")
    }

    @Test func `a part of a value that may be a secret hides the value`() {
        let secret = "mtk_" + String(repeating: "s", count: 20)
        for value in [secret, secret + ".voip", "com.example." + secret] {
            let text = ShownValue.text(value, separators: ".")
            #expect(text == "text of \(value.count) characters (not shown, as it may be a secret)")
        }
        for value in ["com.example.orders", "KEY0000001", ""] {
            #expect(ShownValue.text(value, separators: ".") == value)
        }
        let subject = "CN=Apple Push Services: com.example.app"
        #expect(ShownValue.text(subject, separators: " ,+=:./") == subject)
    }
}

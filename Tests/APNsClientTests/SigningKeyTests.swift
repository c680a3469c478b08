import APNsClient
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

    @Test func `a file that is not there is named`() throws {
        let error = try #require(throws: APNsError.self) {
            try SigningKey(file: "/nonexistent/AuthKey.p8", keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
        }
        #expect(error.code == .badCredentials)
        #expect(error.description.contains("/nonexistent/AuthKey.p8"))
    }

    @Test func `a key never shows its material`() throws {
        let key = try SigningKey.ephemeral(keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
        #expect("\(key)" == "SigningKey(ABC123DEFG of team DEF123GHIJ)")
        var dumped = ""
        dump(Authentication.token(key), to: &dumped)
        #expect(!dumped.contains("PRIVATE"))
    }
}

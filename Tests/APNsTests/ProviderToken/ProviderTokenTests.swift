import Foundation
import Testing

@testable import APNs

@Suite struct Base64URLTests {
    /// RFC 4648 §10, without padding, and the two characters that differ from plain base64.
    @Test(arguments: [
        ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
        ("foobar", "Zm9vYmFy"), ("~~~???", "fn5-Pz8_"),
    ])
    func `text goes there and back`(plain: String, encoded: String) {
        #expect(Base64URL.encode(plain.utf8) == Array(encoded.utf8))
        #expect(Base64URL.decode(encoded.utf8) == Array(plain.utf8))
    }

    @Test(arguments: ["Z", "Zg==", "Zm9v\n", "Zm9+", "Zm9/", "Zh", "Zm9vYmF"]) func `other text is refused`(
        text: String
    ) {
        #expect(Base64URL.decode(text.utf8) == nil)
    }
}

@Suite struct ProviderTokenTests {
    private let token = ProviderToken(keyID: "ABC123DEFG", teamID: "DEF123GHIJ", issuedAt: 1_437_179_036)
    private let signature = [UInt8](repeating: 7, count: 64)

    @Test func `header and claims are those of Apple's example`() throws {
        let parts = token.signingInput.split(separator: UInt8(ascii: "."))
        let header = try #require(Base64URL.decode(parts[0]))
        let claims = try #require(Base64URL.decode(parts[1]))
        #expect(String(decoding: header, as: UTF8.self) == #"{"alg":"ES256","kid":"ABC123DEFG"}"#)
        #expect(String(decoding: claims, as: UTF8.self) == #"{"iss":"DEF123GHIJ","iat":1437179036}"#)
    }

    @Test func `a token that was made can be taken apart`() throws {
        let parsed = try ParsedProviderToken(token.signed(by: signature))
        #expect(parsed.claims == token)
        #expect(parsed.signature == signature)
        #expect(parsed.signingInput == token.signingInput)
    }

    private static func jwt(_ header: String, _ claims: String, signature: String = "AA") -> String {
        [header, claims].map { String(decoding: Base64URL.encode($0.utf8), as: UTF8.self) }.joined(separator: ".")
            + "." + signature
    }

    @Test(arguments: [
        ("", ProviderTokenError.notThreeParts(1)),
        ("a.b", .notThreeParts(2)),
        ("a.b.c.d", .notThreeParts(4)),
        ("?.e30.AA", .notBase64URL("header")),
        ("e30.?.AA", .missing("alg")),
        (jwt("[]", "{}"), .notJSON("header")),
        (jwt("{}", "{}"), .missing("alg")),
        (jwt(#"{"alg":"HS256","kid":"K"}"#, "{}"), .wrongAlgorithm("HS256")),
        (jwt(#"{"alg":"none","kid":"K"}"#, "{}"), .wrongAlgorithm("none")),
        (jwt(#"{"alg":"ES256"}"#, "{}"), .missing("kid")),
        (jwt(#"{"alg":"ES256","kid":""}"#, "{}"), .missing("kid")),
        (jwt(#"{"alg":"ES256","kid":"K"}"#, "no"), .notJSON("claims")),
        (jwt(#"{"alg":"ES256","kid":"K"}"#, "{}"), .missing("iss")),
        (jwt(#"{"alg":"ES256","kid":"K"}"#, #"{"iss":"T"}"#), .missing("iat")),
        (jwt(#"{"alg":"ES256","kid":"K"}"#, #"{"iss":"T","iat":"1"}"#), .timeNotWhole),
        (jwt(#"{"alg":"ES256","kid":"K"}"#, #"{"iss":"T","iat":1.5}"#), .timeNotWhole),
        (jwt(#"{"alg":"ES256","kid":"K"}"#, #"{"iss":"T","iat":99999999999999999999}"#), .timeNotWhole),
        (jwt(#"{"alg":"ES256","kid":"K"}"#, #"{"iss":"T","iat":1}"#, signature: "A"), .notBase64URL("signature")),
    ])
    func `what is wrong with a token is told`(text: String, error: ProviderTokenError) {
        #expect(throws: error) { try ParsedProviderToken(Array(text.utf8)) }
        #expect(!error.description.isEmpty)
    }

    @Test func `the age of a token cannot overflow`() {
        #expect(token.age(at: token.issuedAt + 60) == 60)
        let ancient = ProviderToken(keyID: "K", teamID: "T", issuedAt: .min)
        _ = ancient.age(at: .max)
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import MartletCore

@Suite struct Base64URLTests {
    /// RFC 4648 §10, without padding, and the two characters that differ from plain base64.
    @Test(arguments: [
        ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
        ("foobar", "Zm9vYmFy"), ("~~~???", "fn5-Pz8_"),
    ])
    func `text is encoded and decoded`(plain: String, encoded: String) {
        #expect(Base64URL.encode(plain.utf8) == Array(encoded.utf8))
        #expect(Base64URL.decode(encoded.utf8) == Array(plain.utf8))
    }

    @Test(arguments: ["Z", "Zm9v\n", "Zh", "Zm9vYmF", "Zg=A", "=Zg", "Zh==", "Zm9*"])
    func `other text is refused`(text: String) {
        #expect(Base64URL.decode(text.utf8) == nil)
    }

    @Test(arguments: [
        ("Zg==", "f"), ("Zm8=", "fo"), ("Zg=", "f"), ("fn5+Pz8/", "~~~???"), ("fn5-Pz8/", "~~~???"), ("==", ""),
    ])
    func `the standard alphabet and padding are decoded`(text: String, plain: String) {
        #expect(Base64URL.decode(text.utf8) == Array(plain.utf8))
    }
}

@Suite struct ProviderTokenTests {
    private let token = ProviderToken(
        keyID: "ABC123DEFG",
        teamID: "DEF123GHIJ",
        issuedAt: Date(timeIntervalSince1970: 1_437_179_036)
    )
    private let signature = [UInt8](repeating: 7, count: 64)

    @Test func `header and claims are those of Apple's example`() throws {
        let parts = token.signingInput.split(separator: UInt8(ascii: "."))
        let header = try #require(Base64URL.decode(parts[0]))
        let claims = try #require(Base64URL.decode(parts[1]))
        #expect(String(decoding: header, as: UTF8.self) == #"{"alg":"ES256","kid":"ABC123DEFG"}"#)
        #expect(String(decoding: claims, as: UTF8.self) == #"{"iss":"DEF123GHIJ","iat":1437179036}"#)
    }

    @Test func `a signed token is parsed into claims and signature`() throws {
        let parsed = try ParsedProviderToken(token.signed(by: signature))
        #expect(parsed.claims == token)
        #expect(parsed.signature == signature)
        #expect(parsed.signingInput == token.signingInput)
    }

    @Test func `a printed token has no signature`() throws {
        let parsed = try ParsedProviderToken(token.signed(by: signature))
        var dumped = ""
        dump(parsed, to: &dumped)
        let expected = "ParsedProviderToken(key ABC123DEFG, team DEF123GHIJ, issued at 1437179036)"
        #expect("\(parsed)" == expected && !dumped.contains("signature"), "\(dumped)")
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
        (jwt(#"{"alg":"ES256","kid":"K","crit":["exp"],"exp":1}"#, "{}"), .criticalExtension),
        (jwt(#"{"alg":"ES256"}"#, "{}"), .missing("kid")),
        (jwt(#"{"alg":"ES256","kid":""}"#, "{}"), .missing("kid")),
        (jwt(#"{"alg":"ES256","kid":"K"}"#, "no"), .notJSON("claims")),
        (jwt(#"{"alg":"ES256","kid":"K"}"#, "{}"), .missing("iss")),
        (jwt(#"{"alg":"ES256","kid":"K"}"#, #"{"iss":"T"}"#), .missing("iat")),
        (jwt(#"{"alg":"ES256","kid":"K"}"#, #"{"iss":"T","iat":"soon"}"#), .invalidIssuedAt),
        (jwt(#"{"alg":"ES256","kid":"K"}"#, #"{"iss":"T","iat":"+1"}"#), .invalidIssuedAt),
        (jwt(#"{"alg":"ES256","kid":"K"}"#, #"{"iss":"T","iat":""}"#), .invalidIssuedAt),
        (jwt(#"{"alg":"ES256","kid":"K"}"#, #"{"iss":"T","iat":"99999999999999999999"}"#), .invalidIssuedAt),
        (jwt(#"{"alg":"ES256","kid":"K"}"#, #"{"iss":"T","iat":true}"#), .invalidIssuedAt),
        (jwt(#"{"alg":"ES256","kid":"K"}"#, #"{"iss":"T","iat":99999999999999999999}"#), .invalidIssuedAt),
        (jwt(#"{"alg":"ES256","kid":"K"}"#, #"{"iss":"T","iat":1e300}"#), .invalidIssuedAt),
        (jwt(#"{"alg":"ES256","kid":"K"}"#, #"{"iss":"T","iat":" 1.5"}"#), .invalidIssuedAt),
        (jwt(#"{"alg":"ES256","kid":"K"}"#, #"{"iss":"T","iat":"0x10"}"#), .invalidIssuedAt),
        (jwt(#"{"alg":"ES256","kid":"K","kid":"L"}"#, "{}"), .repeatedName("kid", part: "header")),
        (
            jwt(#"{"alg":"ES256","kid":"K"}"#, #"{"iss":"T","iat":1,"iss":"U"}"#),
            .repeatedName("iss", part: "claims")
        ),
        (
            jwt(#"{"alg":"ES256","kid":"K"}"#, #"{"iss":"T","iat":1}"#, signature: String(repeating: "A", count: 86)),
            .impossibleSignature
        ),
        (
            jwt(
                #"{"alg":"ES256","kid":"K"}"#,
                #"{"iss":"T","iat":1}"#,
                signature: String(repeating: "_", count: 85) + "w"
            ),
            .impossibleSignature
        ),
        (jwt(#"{"alg":"ES256","kid":"K"}"#, #"{"iss":"T","iat":1}"#), .invalidSignature(byteCount: 1)),
        (jwt(#"{"alg":"ES256","kid":"K"}"#, #"{"iss":"T","iat":1}"#, signature: "A"), .notBase64URL("signature")),
    ])
    func `an invalid token is refused with the reason`(text: String, error: ProviderTokenError) {
        #expect(throws: error) { try ParsedProviderToken(Array(text.utf8)) }
        #expect(!error.description.isEmpty)
    }

    @Test(
        arguments: [
            ("1700000000", []), (#""1700000000""#, [.textIssuedAt]), ("1700000000.5", [.fractionalIssuedAt]),
            ("1700000000.999", [.fractionalIssuedAt]), ("1700000000.0", [.issuedAtNotation]),
            ("1.7e9", [.issuedAtNotation]), ("1700000000e0", [.issuedAtNotation]),
            (#""1700000000.5""#, [.textIssuedAt, .fractionalIssuedAt]),
            (#""1.7e9""#, [.textIssuedAt, .issuedAtNotation]), (#""01700000000""#, [.textIssuedAt]),
        ] as [(String, [ProviderTokenDeviation])]
    )
    func `iat is read in each form that clients write`(issuedAt: String, deviations: [ProviderTokenDeviation]) throws {
        let signature = String(decoding: Base64URL.encode(signature), as: UTF8.self)
        let claims = #"{"iss":"T","iat":\#(issuedAt)}"#
        let token = Self.jwt(#"{"alg":"ES256","kid":"K"}"#, claims, signature: signature)
        let parsed = try ParsedProviderToken(token.utf8)
        #expect(parsed.claims.issuedAtSeconds == 1_700_000_000)
        #expect(parsed.deviations == deviations)
    }

    @Test func `a signature in DER is converted`() throws {
        let der: [UInt8] = [0x30, 38, 2, 2, 0, 0x80, 2, 32] + [UInt8](repeating: 7, count: 32)
        let parsed = try ParsedProviderToken(token.signingInput + Array(".".utf8) + Base64URL.encode(der))
        #expect(parsed.signature == [UInt8](repeating: 0, count: 31) + [0x80] + [UInt8](repeating: 7, count: 32))
        #expect(parsed.deviations == [.derSignature])
    }

    /// CleverTap's apns-http2 sends all parts in standard base64, with padding or without.
    @Test(
        arguments: [
            (true, true, [.standardBase64, .paddedBase64]), (true, false, [.standardBase64]),
            (false, true, [.paddedBase64]), (false, false, []),
        ] as [(Bool, Bool, [ProviderTokenDeviation])]
    )
    func `a token in another base64 is read`(
        isStandard: Bool,
        isPadded: Bool,
        deviations: [ProviderTokenDeviation]
    ) throws {
        func encode(_ bytes: [UInt8]) -> String {
            var text = Data(bytes).base64EncodedString()
            if !isPadded { text = text.replacing("=", with: "") }
            return isStandard ? text : text.replacing("+", with: "-").replacing("/", with: "_")
        }
        // The header needs padding, and the signature has both characters that differ between the alphabets.
        let input = [#"{"alg":"ES256","kid":"K"}"#, #"{"iss":"Tee","iat":1}"#].map { encode(Array($0.utf8)) }
            .joined(separator: ".")
        let signature = [UInt8](repeating: 0xFB, count: 32) + [UInt8](repeating: 0x3F, count: 32)
        let parsed = try ParsedProviderToken((input + "." + encode(signature)).utf8)
        #expect(parsed.signature == signature)
        #expect(parsed.claims.teamID == "Tee")
        #expect(parsed.signingInput == Array(input.utf8))
        #expect(parsed.deviations == deviations)
    }

    /// The header of edamov/pushok, which signs with SHA-512 and the key on the curve P-256.
    private static func es512(_ signature: [UInt8]) -> String {
        let text = String(decoding: Base64URL.encode(signature), as: UTF8.self)
        return jwt(#"{"alg":"ES512","kid":"K"}"#, #"{"iss":"T","iat":1}"#, signature: text)
    }

    @Test func `a signature of ES512 by a P-256 key is shortened`() throws {
        let number = [UInt8](repeating: 0, count: 34) + [UInt8](repeating: 7, count: 32)
        let parsed = try ParsedProviderToken(Self.es512(number + number).utf8)
        #expect(parsed.signature == signature)
        #expect(parsed.deviations == [.es512Signature])
    }

    @Test(
        arguments: [
            [UInt8](repeating: 7, count: 132), [UInt8](repeating: 7, count: 64), [],
            [UInt8](repeating: 0, count: 33) + [UInt8](repeating: 7, count: 99),
        ] as [[UInt8]]
    )
    func `another signature of ES512 is refused`(signature: [UInt8]) {
        #expect(throws: ProviderTokenError.wrongAlgorithm("ES512")) {
            try ParsedProviderToken(Self.es512(signature).utf8)
        }
    }

    @Test func `an ES512 signature of zeros is impossible`() {
        #expect(throws: ProviderTokenError.impossibleSignature) {
            try ParsedProviderToken(Self.es512([UInt8](repeating: 0, count: 132)).utf8)
        }
    }

    @Test(
        arguments: [
            [], [0x30], [0x30, 0], [0x30, 6, 2, 1, 1, 2, 1], [0x30, 6, 2, 1, 1, 2, 1, 1, 0],
            [0x31, 6, 2, 1, 1, 2, 1, 1],
            [0x30, 6, 3, 1, 1, 2, 1, 1], [0x30, 6, 2, 1, 0, 2, 1, 1], [0x30, 6, 2, 1, 0x80, 2, 1, 1],
            [0x30, 7, 2, 2, 0, 1, 2, 1, 1], [0x30, 5, 2, 0, 2, 1, 1], [0x30, 3, 2, 1, 1],
            [0x30, 9, 2, 1, 1, 2, 1, 1, 2, 1, 1],
            [0x30, 0x81, 6, 2, 1, 1, 2, 1, 1], [0x30, 38, 2, 33, 1] + [UInt8](repeating: 1, count: 32) + [2, 1, 1],
        ] as [[UInt8]]
    )
    func `other bytes are no signature in DER`(bytes: [UInt8]) {
        #expect(ECDSASignature.raw(der: bytes) == nil)
    }

    /// r and s have to be from 1 to n - 1, with n the order of the curve.
    @Test func `a number of a signature has bounds`() {
        let order: [UInt8] =
            [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0] + [UInt8](repeating: 0xFF, count: 8)
            + [0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51]
        let one = [UInt8](repeating: 0, count: 31) + [1]
        let zero = [UInt8](repeating: 0, count: 32)
        let largest: [UInt8] = Array(order.dropLast()) + [0x50]
        for good in [one, largest] {
            #expect(ECDSASignature.isPossible(good + one) && ECDSASignature.isPossible(one + good))
            for bad in [zero, order, [UInt8](repeating: 0xFF, count: 32)] {
                #expect(!ECDSASignature.isPossible(good + bad) && !ECDSASignature.isPossible(bad + good))
            }
        }
    }

    @Test func `the age of a token cannot overflow`() {
        #expect(token.age(at: token.issuedAt + TimeInterval(60)) == .seconds(60))
        let ancient = ProviderToken(keyID: "K", teamID: "T", issuedAtSeconds: .min)
        _ = ancient.ageInSeconds(at: .max)
        _ = ancient.age(at: .distantFuture)
    }
}

import APNs
import APNsClient
import Testing

@testable import Simulator

/// Laws that are let rest, and that they hold otherwise.
@Suite struct LeniencyTests {
    private func reasons(_ fields: [String: String?], _ leniency: Leniency) throws -> [Reason?] {
        let test = ConformanceTests.Case(testDescription: "", fields: fields)
        return try [[], leniency, .all].map { leniency in
            var bench = try ConformanceTests.Bench(leniency)
            return bench.verdict(on: test).reason
        }
    }

    @Test func `headers are forgiven what some clients write`() throws {
        #expect(try reasons(["apns-push-type": "Alert"], .pushTypeCase) == [.invalidPushType, nil, nil])
        let hurried: [String: String?] = ["apns-push-type": "background", "apns-priority": "10"]
        #expect(try reasons(hurried, .hurriedBackground) == [.badPriority, nil, nil])
        let id = "123E4567-E89B-12D3-A456-4266554400A0"
        #expect(try reasons(["apns-id": id], .upperCaseIDs) == [.badMessageID, nil, nil])
    }

    @Test func `a signature in ASN1 is taken on request`() throws {
        let token = ConformanceTests.Bench.authorization().dropFirst("bearer ".count)
        let parsed = try ParsedProviderToken(token.utf8)
        let input = String(decoding: parsed.signingInput, as: UTF8.self)
        let other = "bearer " + input + "." + base64URL(asn1(parsed.signature))
        #expect(try reasons(["authorization": other], .derSignatures) == [.invalidProviderToken, nil, nil])
        let broken = "bearer " + input + "." + base64URL(Array(asn1(parsed.signature).dropLast()))
        #expect(try reasons(["authorization": broken], .derSignatures).allSatisfy { $0 == .invalidProviderToken })
    }

    @Test func `a time in quotes is taken on request`() throws {
        func token(_ time: String) throws -> ProviderToken {
            let claims = base64URL(Array(#"{"iss":"TEAM000001","iat":"\#(time)"}"#.utf8))
            let header = base64URL(Array(#"{"alg":"ES256","kid":"KEY0000001"}"#.utf8))
            return try ParsedProviderToken((header + "." + claims + ".AAAA").utf8, allowsTextTime: true).claims
        }
        #expect(try token("1790000000").issuedAt == 1_790_000_000)
        #expect(throws: ProviderTokenError.timeNotWhole) { try token("soon") }
    }

    @Test func `every law has a name`() {
        let named = Leniency.names.filter { $0.name != "all" }.reduce(Leniency()) { $0.union($1.leniency) }
        #expect(named == .all)
    }

    /// Two numbers as ASN.1 has them (ITU-T X.690 §8.3).
    private func asn1(_ signature: [UInt8]) -> [UInt8] {
        func number(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
            let digits = Array(bytes.drop { $0 == 0 })
            let content = digits.first.map { $0 >= 0x80 } ?? true ? [0] + digits : digits
            return [2, UInt8(content.count)] + content
        }
        let content = number(signature[..<32]) + number(signature[32...])
        return [0x30, UInt8(content.count)] + content
    }

    private func base64URL(_ bytes: [UInt8]) -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        var text = ""
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for index in 0...group.count { text.append(letters[bits >> (18 - 6 * index) & 63]) }
        }
        return text
    }
}

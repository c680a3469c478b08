import Wire

/// A provider token as one client writes it.
struct ProviderTokenForm: Sendable {
    /// The header, with `KID` in place of the key's identifier.
    var header = #"{"alg":"ES256","kid":"KID","typ":"JWT"}"#
    /// The claims, with `TEAM` and `IAT` in place of the team's identifier and ``issuedAt``.
    var claims = #"{"iss":"TEAM","iat":IAT}"#
    /// The value of `iat` as JSON, with `NOW` in place of the seconds since 1970.
    var issuedAt = "NOW"
    /// Whether the signature is DER instead of 64 bytes.
    var isDER = false

    /// Returns the value of `authorization`.
    func authorization(at now: Int64, keyID: String, teamID: String, key: ES256PrivateKey) throws -> String {
        let header = header.replacing("KID", with: keyID)
        let time = issuedAt.replacing("NOW", with: "\(now)")
        let claims = claims.replacing("TEAM", with: teamID).replacing("KID", with: keyID).replacing("IAT", with: time)
        let input = Self.base64URL(Array(header.utf8)) + "." + Self.base64URL(Array(claims.utf8))
        let signature = try key.sign(Array(input.utf8))
        return "bearer " + input + "." + Self.base64URL(isDER ? Self.der(signature) : signature)
    }

    private static func der(_ signature: [UInt8]) -> [UInt8] {
        func number(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
            let digits = Array(bytes.drop { $0 == 0 })
            let content = digits.first.map { $0 >= 0x80 } ?? true ? [0] + digits : digits
            return [2, UInt8(content.count)] + content
        }
        let content = number(signature[..<32]) + number(signature[32...])
        return [0x30, UInt8(content.count)] + content
    }

    private static func base64URL(_ bytes: [UInt8]) -> String {
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

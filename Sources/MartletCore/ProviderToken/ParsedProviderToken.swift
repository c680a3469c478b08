// SPDX-License-Identifier: Apache-2.0

/// The parts of a provider token; verifying its signature needs the signing key.
///
/// Besides the form in Apple's documentation it accepts the ``ProviderTokenDeviation``s, which widely used clients send
/// to APNs.
public struct ParsedProviderToken: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// The claims and the key identifier.
    public let claims: ProviderToken
    /// The signed bytes: header and claims as they were sent.
    public let signingInput: [UInt8]
    /// The signature: 64 bytes, r and s (RFC 7518 §3.4), also when it was sent as DER or with the padding of ES512.
    public let signature: [UInt8]
    /// The deviations from the form in Apple's documentation; empty for most tokens.
    public let deviations: [ProviderTokenDeviation]

    /// Parses and checks the form of a token.
    ///
    /// - Parameter token: The token as it is sent after `bearer`.
    /// - Throws: ``ProviderTokenError`` that names the part that is wrong.
    public init(_ token: some Collection<UInt8>) throws(ProviderTokenError) {
        let parts = token.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .notThreeParts(parts.count) }
        let header = try ParsedProviderToken.object(parts[0], "header")
        guard let algorithm = header["alg"]?.stringValue else { throw .missing("alg") }
        let isES512 = algorithm == "ES512"
        guard isES512 || algorithm == "ES256" else { throw .wrongAlgorithm(algorithm) }
        guard header["crit"] == nil else { throw .criticalExtension }
        guard let keyID = header["kid"]?.stringValue, !keyID.isEmpty else { throw .missing("kid") }
        let body = try ParsedProviderToken.object(parts[1], "claims")
        guard let teamID = body["iss"]?.stringValue, !teamID.isEmpty else { throw .missing("iss") }
        guard let time = body["iat"] else { throw .missing("iat") }
        let issuedAt: (seconds: Int64, deviations: [ProviderTokenDeviation]) = try ParsedProviderToken.issuedAt(time)
        guard let bytes = Base64URL.decode(parts[2]) else { throw .notBase64URL("signature") }
        let signature: [UInt8]
        let form: ProviderTokenDeviation?
        if isES512 {
            // A signature of a key on P-521, which ES512 is for, has larger numbers.
            guard let raw = ECDSASignature.raw(es512: bytes) else { throw .wrongAlgorithm(algorithm) }
            signature = raw
            form = .es512Signature
        } else if bytes.count == ECDSASignature.byteCount {
            signature = bytes
            form = nil
        } else {
            guard let raw = ECDSASignature.raw(der: bytes) else { throw .invalidSignature(byteCount: bytes.count) }
            signature = raw
            form = .derSignature
        }
        guard ECDSASignature.isPossible(signature) else { throw .impossibleSignature }
        claims = ProviderToken(keyID: keyID, teamID: teamID, issuedAtSeconds: issuedAt.seconds)
        signingInput = Array(parts[0]) + [UInt8(ascii: ".")] + Array(parts[1])
        self.signature = signature
        var deviations = issuedAt.deviations
        if let form { deviations.append(form) }
        if parts.contains(where: { Base64URL.isStandard($0) }) { deviations.append(.standardBase64) }
        if parts.contains(where: { Base64URL.isPadded($0) }) { deviations.append(.paddedBase64) }
        self.deviations = deviations
    }

    /// The claims, without the signature, with which anyone could send pushes.
    public var description: String {
        "ParsedProviderToken(key \(claims.keyID), team \(claims.teamID), issued at \(claims.issuedAtSeconds))"
    }

    /// A mirror without children, which shows only ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }

    private static func object(
        _ text: some Collection<UInt8>,
        _ part: String
    ) throws(ProviderTokenError) -> JSONValue {
        guard let bytes = Base64URL.decode(text) else { throw .notBase64URL(part) }
        do throws(JSONError) {
            let value = try JSONReader.read(bytes)
            if value.members != nil { return value }
        } catch {
            // Implementations of JWT reject a repeated name or use its last value (RFC 7519 §4).
            if case .duplicateName(let name) = error.problem {
                throw .repeatedName(String(name.prefix(20)), part: part)
            }
        }
        throw .notJSON(part)
    }

    /// Parses `iat` in one of the forms that clients send.
    private static func issuedAt(
        _ value: JSONValue
    ) throws(ProviderTokenError) -> (seconds: Int64, deviations: [ProviderTokenDeviation]) {
        switch value {
        case .number(let number):
            let (seconds, deviation) = try ParsedProviderToken.seconds(of: number)
            return (seconds, [deviation].compactMap(\.self))
        case .string(let text):
            let (seconds, deviation) = try ParsedProviderToken.seconds(of: number(in: text))
            return (seconds, [.textIssuedAt, deviation].compactMap(\.self))
        default: throw .invalidIssuedAt
        }
    }

    /// Parses the number in a text, which may have leading zeros or be in the grammar of JSON.
    private static func number(in text: String) throws(ProviderTokenError) -> JSONNumber {
        if text.utf8.allSatisfy(\.isDigit), let number = Int64(text) { return JSONNumber(number) }
        guard case .number(let number)? = try? JSONReader.read(Array(text.utf8)), number.text == text else {
            throw .invalidIssuedAt
        }
        return number
    }

    private static func seconds(
        of number: JSONNumber
    ) throws(ProviderTokenError) -> (seconds: Int64, deviation: ProviderTokenDeviation?) {
        if let seconds = number.integerValue { return (seconds, nil) }
        let whole = number.doubleValue.rounded(.down)
        guard let seconds = Int64(exactly: whole) else { throw .invalidIssuedAt }
        return (seconds, whole == number.doubleValue ? .issuedAtNotation : .fractionalIssuedAt)
    }
}

/// A form of a provider token that Apple's documentation does not describe and that widely used clients send to APNs.
public enum ProviderTokenDeviation: Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// `iat` is a string of digits instead of a number.
    case textIssuedAt
    /// `iat` is not a whole number of seconds.
    case fractionalIssuedAt
    /// `iat` is a whole number that is written with a decimal point or an exponent, such as `1.7e9`.
    case issuedAtNotation
    /// The signature is DER instead of the 64 bytes r and s.
    case derSignature
    /// The header names ES512, and a key on the curve P-256 signs with SHA-512; r and s are padded to 66 bytes each.
    case es512Signature
    /// A part is in the standard alphabet of base64, with `+` and `/`, instead of the URL-safe one.
    case standardBase64
    /// A part has the padding `=` of base64.
    case paddedBase64

    /// The deviation and the documented form, in a sentence without the final stop.
    public var description: String {
        switch self {
        case .textIssuedAt: "iat is a string; Apple's documentation asks for a number of seconds"
        case .fractionalIssuedAt: "iat is not a whole number; Apple's documentation asks for whole seconds"
        case .issuedAtNotation:
            "iat is a whole number written with a decimal point or an exponent; Apple's documentation shows digits only"
        case .derSignature: "the signature is DER; ES256 (RFC 7518 §3.4) asks for 64 bytes, r and s"
        case .es512Signature:
            "the token is signed with ES512, by a key on the curve P-256; Apple's documentation allows only ES256"
        case .standardBase64: "the token is in base64 with + and /; JWS (RFC 7515 §2) asks for base64url, with - and _"
        case .paddedBase64: "the token has = as padding of base64; JWS (RFC 7515 §2) asks for base64url without it"
        }
    }

    /// The reason to accept the deviation, as the second part of a sentence.
    package var acceptance: String {
        switch self {
        case .textIssuedAt, .fractionalIssuedAt, .issuedAtNotation, .derSignature: "APNs accepts it"
        case .es512Signature, .standardBase64, .paddedBase64:
            "users of clients that send it report that APNs accepts it"
        }
    }
}

/// An error in a provider token.
public enum ProviderTokenError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The token does not have three parts separated by dots.
    case notThreeParts(Int)
    /// A part is not base64url, nor base64.
    case notBase64URL(String)
    /// A part is not a JSON object.
    case notJSON(String)
    /// The token is signed with an algorithm other than ES256, or with ES512 by a key that is not on the curve P-256.
    case wrongAlgorithm(String)
    /// The header has `crit`, extensions that a reader must understand (RFC 7515 §4.1.11); APNs defines none.
    case criticalExtension
    /// A part has the same name twice.
    case repeatedName(String, part: String)
    /// A field is missing.
    case missing(String)
    /// The time of issue is not a number of seconds.
    case invalidIssuedAt
    /// The signature is neither 64 bytes nor DER.
    case invalidSignature(byteCount: Int)
    /// A number of the signature is 0, or not less than the order of the curve, so no key can have made it.
    case impossibleSignature

    /// The error in a sentence without the final stop; the token is never included.
    public var description: String {
        switch self {
        case .notThreeParts(let count): "a provider token has three parts separated by dots, not \(count)"
        case .notBase64URL(let part): "the \(part) of the provider token is not base64url"
        case .notJSON(let part): "the \(part) of the provider token must be a JSON object"
        case .repeatedName(let name, let part):
            "the \(part) of the provider token must have the name \(ShownValue.quoted(name)) only once"
        case .wrongAlgorithm(let name): "the provider token is signed with \(ShownValue(name)); APNs accepts only ES256"
        case .criticalExtension: "the provider token has crit in its header; APNs defines no such extensions"
        case .missing(let field): "the provider token has no \(field)"
        case .invalidIssuedAt: "the iat of the provider token must be a number of seconds since 1970"
        case .invalidSignature(let count):
            "the signature of the provider token has \(count.counted("byte")); it must be the 64 bytes of ES256, or DER"
        case .impossibleSignature:
            "the signature of the provider token is impossible: r and s of ES256 are at least 1 and less than the"
                + " order of the curve P-256"
        }
    }
}

/// What a provider token says: which key of which team signed it, and when.
///
/// The token itself is a JSON Web Token (RFC 7519) signed with ES256. Source: "Establishing a token-based connection
/// to APNs".
public struct ProviderToken: Sendable, Hashable {
    /// Seconds after which APNs answers `ExpiredProviderToken`.
    public static let maximumAge: Int64 = 60 * 60
    /// Seconds that have to lie between two tokens, lest APNs answers `TooManyProviderTokenUpdates`.
    public static let minimumRefreshInterval: Int64 = 20 * 60

    /// The ten characters that name the signing key (`kid`).
    public var keyID: String
    /// The ten characters that name the team (`iss`).
    public var teamID: String
    /// When it was issued, in seconds since 1970 (`iat`).
    public var issuedAt: Int64

    /// Claims from their parts.
    public init(keyID: String, teamID: String, issuedAt: Int64) {
        self.keyID = keyID
        self.teamID = teamID
        self.issuedAt = issuedAt
    }

    /// How old the token is.
    ///
    /// - Parameter now: Seconds since 1970.
    /// - Returns: Seconds; negative when it comes from the future.
    public func age(at now: Int64) -> Int64 {
        now.subtractingReportingOverflow(issuedAt).partialValue
    }

    /// What has to be signed: header and claims.
    public var signingInput: [UInt8] {
        let header: JSONValue = ["alg": "ES256", "kid": .string(keyID)]
        let claims: JSONValue = ["iss": .string(teamID), "iat": .number(JSONNumber(issuedAt))]
        return Base64URL.encode(header.encoded()) + [UInt8(ascii: ".")] + Base64URL.encode(claims.encoded())
    }

    /// The whole token.
    ///
    /// - Parameter signature: The signature of ``signingInput``: 64 bytes, r and s (RFC 7518 §3.4).
    /// - Returns: The token as it travels after `bearer`.
    public func signed(by signature: [UInt8]) -> [UInt8] {
        signingInput + [UInt8(ascii: ".")] + Base64URL.encode(signature)
    }
}

/// A provider token taken apart; whether its signature fits is for whoever has the key.
public struct ParsedProviderToken: Sendable, Hashable {
    /// What it says.
    public let claims: ProviderToken
    /// What was signed.
    public let signingInput: [UInt8]
    /// The signature, which should have 64 bytes.
    public let signature: [UInt8]

    /// Takes a token apart.
    ///
    /// - Parameters:
    ///   - token: The token as it travels after `bearer`.
    ///   - allowsTextTime: Whether the time of issue may be a number in quotes, as some clients write it.
    /// - Throws: ``ProviderTokenError``, which says what is wrong with it.
    public init(_ token: some Collection<UInt8>, allowsTextTime: Bool = false) throws(ProviderTokenError) {
        let parts = token.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .notThreeParts(parts.count) }
        let header = try ParsedProviderToken.object(parts[0], "header")
        guard let algorithm = header["alg"]?.stringValue else { throw .missing("alg") }
        guard algorithm == "ES256" else { throw .wrongAlgorithm(algorithm) }
        guard let keyID = header["kid"]?.stringValue, !keyID.isEmpty else { throw .missing("kid") }
        let body = try ParsedProviderToken.object(parts[1], "claims")
        guard let teamID = body["iss"]?.stringValue, !teamID.isEmpty else { throw .missing("iss") }
        guard let time = body["iat"] else { throw .missing("iat") }
        let timeInQuotes = allowsTextTime ? time.stringValue.flatMap { Int64($0) } : nil
        guard let issuedAt = time.integerValue ?? timeInQuotes else { throw .timeNotWhole }
        guard let signature = Base64URL.decode(parts[2]) else { throw .notBase64URL("signature") }
        claims = ProviderToken(keyID: keyID, teamID: teamID, issuedAt: issuedAt)
        signingInput = Array(parts[0]) + [UInt8(ascii: ".")] + Array(parts[1])
        self.signature = signature
    }

    private static func object(
        _ text: some Collection<UInt8>,
        _ part: String
    ) throws(ProviderTokenError) -> JSONValue {
        guard let bytes = Base64URL.decode(text) else { throw .notBase64URL(part) }
        guard let value = try? JSONReader.read(bytes), value.members != nil else { throw .notJSON(part) }
        return value
    }
}

/// What is wrong with a provider token.
public enum ProviderTokenError: Error, Sendable, Hashable, CustomStringConvertible {
    /// It has not three parts with dots between.
    case notThreeParts(Int)
    /// A part is not base64url without padding.
    case notBase64URL(String)
    /// A part is no JSON object.
    case notJSON(String)
    /// It is signed by another algorithm than APNs takes.
    case wrongAlgorithm(String)
    /// A field is missing.
    case missing(String)
    /// The time of issue is no whole number.
    case timeNotWhole

    /// What is wrong, in a sentence without the final stop; the token is never repeated.
    public var description: String {
        switch self {
        case .notThreeParts(let count): "a provider token has three parts with dots between, not \(count)"
        case .notBase64URL(let part): "the \(part) of the provider token is not base64url without padding"
        case .notJSON(let part): "the \(part) of the provider token is no JSON object"
        case .wrongAlgorithm(let name): "the provider token is signed with \(name); APNs takes only ES256"
        case .missing(let field): "the provider token has no \(field)"
        case .timeNotWhole: "the iat of the provider token has to be a whole number of seconds since 1970"
        }
    }
}

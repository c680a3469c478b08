internal import APNs
internal import Wire

/// Checks provider tokens as APNs does ("Establishing a token-based connection to APNs").
///
/// Until a key is registered, a token signed by any key is good: its form and age are checked, its signature cannot.
struct ProviderTokenVerifier {
    /// Why a token is not good.
    struct Refusal: Error {
        var reason: Reason
    }

    /// A key that is known.
    struct Key {
        fileprivate var publicKey: ES256PublicKey
        var teamID: String
        var scope: KeyScope
    }

    /// How far ahead of this machine's clock a token may be.
    private static let clockTolerance: Int64 = 5 * 60

    /// The keys that are known, by their identifiers.
    private(set) var keys: [String: Key] = [:]
    /// Grows with every change of the keys: what was found of a token before holds no more.
    private(set) var generation = 0

    mutating func register(publicKeyPEM: String, keyID: String, teamID: String, scope: KeyScope) throws {
        keys[keyID] = Key(publicKey: try ES256PublicKey(pem: publicKeyPEM), teamID: teamID, scope: scope)
        generation += 1
    }

    /// Forgets a key; false when it was not known.
    mutating func remove(_ keyID: String) -> Bool {
        generation += 1
        return keys.removeValue(forKey: keyID) != nil
    }

    /// The sender with a token whose form and signature are good, from the value of `authorization`.
    func check(_ authorization: String, _ leniency: Leniency) -> Result<ConnectionLaws.Sender, Refusal> {
        let invalid = Refusal(reason: .invalidProviderToken)
        let authorization = Array(authorization.utf8)
        let scheme = Array("bearer ".utf8)
        guard authorization.count > scheme.count,
            zip(authorization, scheme).allSatisfy({ $0 | 0x20 == $1 | 0x20 }),
            let token = try? ParsedProviderToken(
                authorization[scheme.count...],
                allowsTextTime: leniency.contains(.textIssuedAt)
            )
        else { return .failure(invalid) }
        guard !keys.isEmpty else { return .success(ConnectionLaws.Sender(claims: token.claims, scope: .team())) }
        guard let key = keys[token.claims.keyID], key.teamID == token.claims.teamID,
            key.publicKey.isValid(signature: token.signature, for: token.signingInput)
                || leniency.contains(.derSignatures)
                    && key.publicKey.isValid(derSignature: token.signature, for: token.signingInput)
        else { return .failure(invalid) }
        return .success(ConnectionLaws.Sender(claims: token.claims, scope: key.scope))
    }

    /// What is wrong with the age of a token that is otherwise good.
    func ageProblem(of claims: ProviderToken, at now: Int64) -> Reason? {
        let age = claims.age(at: now)
        if age > ProviderToken.maximumAge { return .expiredProviderToken }
        return age < -ProviderTokenVerifier.clockTolerance ? .invalidProviderToken : nil
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Martlet
internal import MartletCore
internal import MartletTransport

/// A verifier of provider tokens that applies the rules of APNs ("Establishing a token-based connection to APNs").
///
/// Until a key is registered, tokens signed by any key are accepted: their form and age are checked, but their
/// signature cannot be verified.
struct ProviderTokenVerifier {
    /// A registered key.
    struct Key {
        fileprivate var publicKey: ES256PublicKey
        var teamID: String
        var scope: SimulatedAPNs.KeyScope
    }

    /// The registered keys, by key identifier.
    private(set) var keys: [String: Key] = [:]
    /// The number of changes of the keys; after a change, earlier results of checks are no longer valid.
    private(set) var generation = 0

    mutating func register(publicKeyPEM: String, keyID: String, teamID: String, scope: SimulatedAPNs.KeyScope) throws {
        keys[keyID] = Key(publicKey: try ES256PublicKey(pem: publicKeyPEM), teamID: teamID, scope: scope)
        generation += 1
    }

    /// Removes a key; returns false when it was not registered.
    mutating func remove(_ keyID: String) -> Bool {
        generation += 1
        return keys.removeValue(forKey: keyID) != nil
    }

    /// Parses and verifies the value of `authorization`, except for the age, which ``ageProblem(of:at:skew:)`` checks.
    func check(_ authorization: String) -> Result<ConnectionRules.Sender, Refusal> {
        let authorization = Array(authorization.utf8)
        let scheme = Array("bearer ".utf8)
        guard authorization.count > scheme.count, zip(authorization, scheme).allSatisfy({ $0 | 0x20 == $1 | 0x20 })
        else {
            return invalid(.providerTokenMalformed, "authorization must be bearer, a space, and the provider token")
        }
        let token: ParsedProviderToken
        do throws(ProviderTokenError) {
            token = try ParsedProviderToken(authorization[scheme.count...])
        } catch {
            let isSignature = error == .impossibleSignature
            return invalid(isSignature ? .providerTokenSignatureWrong : .providerTokenMalformed, "\(error)")
        }
        var sender = ConnectionRules.Sender(claims: token.claims, scope: .team(), deviations: token.deviations)
        // The identifiers come from the client and may have any length.
        let (keyID, teamID) = (token.claims.keyID.prefix(20), token.claims.teamID.prefix(20))
        guard let key = keys[token.claims.keyID] else {
            if let text = identifierProblem(in: token.claims) {
                return invalid(.providerTokenIdentifierMalformed, text)
            }
            guard !keys.isEmpty else { return .success(sender) }
            return invalid(.providerTokenKeyUnknown, "no key \(keyID) is registered with the simulator")
        }
        guard key.teamID == token.claims.teamID else {
            return invalid(.providerTokenTeamWrong, "the key \(keyID) belongs to the team \(key.teamID), not \(teamID)")
        }
        guard token.isSigned(by: key.publicKey) else {
            return invalid(
                .providerTokenSignatureWrong,
                "the signature does not verify with the key \(keyID): another private key made it, or the token was"
                    + " changed"
            )
        }
        sender.scope = key.scope
        return .success(sender)
    }

    /// Returns the problem of `kid` or `iss` when it does not have the form that APNs requires; nil when both do.
    private func identifierProblem(in claims: ProviderToken) -> String? {
        [("kid", claims.keyID), ("iss", claims.teamID)].first { !SigningKey.isIdentifier($0.1) }.map { name, value in
            let found = value.count > 20 ? "\(value.count) characters" : ShownValue.quoted(value)
            return "\(name) of the provider token must be ten characters of A-Z and 0-9 (found \(found))"
        }
    }

    private func invalid(_ rule: PushLint.Rule, _ text: String) -> Result<ConnectionRules.Sender, Refusal> {
        .failure(.credentials(.invalidProviderToken, rule, text))
    }

    /// Returns the refusal for the age of a token that is otherwise valid.
    ///
    /// - Parameters:
    ///   - claims: The claims of the token.
    ///   - now: The time of the simulator's clock, in milliseconds since 1970.
    ///   - skew: The milliseconds by which a fault has set that clock ahead.
    /// - Returns: The refusal; nil when APNs accepts the age.
    func ageProblem(of claims: ProviderToken, at now: Int64, skew: Int64) -> Refusal? {
        let age = claims.ageInSeconds(at: now / 1_000)
        if age > ProviderToken.maximumAgeInSeconds {
            return .credentials(
                .expiredProviderToken,
                .providerTokenTooOld,
                "the provider token was issued at \(claims.issuedAtSeconds), \(age / 60) minutes ago, and is valid"
                    + " for 60" + ProviderTokenRules.skewNote(skew)
            )
        }
        guard age < -ProviderToken.maximumLeadInSeconds else { return nil }
        return .credentials(
            .invalidProviderToken,
            .providerTokenFromFuture,
            "the provider token was issued at \(claims.issuedAtSeconds), \(age.magnitude) seconds in the future: "
                + (skew == 0
                    ? "the sender's clock is ahead, or iat is in milliseconds"
                    : "an hour is the most" + ProviderTokenRules.skewNote(skew))
        )
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import Martlet
internal import MartletCore
internal import MartletTransport

/// The callers of a relay and the verification of their credentials.
///
/// A caller identifies itself with an API key of the relay, a provider token signed with an app's signing key, or a
/// client certificate.
struct Callers: Sendable {
    struct Caller: Sendable, Hashable {
        /// The name for operators.
        var name: String
        /// The names of the apps that it may act for.
        var apps: Set<String>
        var scopes: Set<RelayConfiguration.Caller.Scope>
        /// The time of issue of its provider token, in seconds since 1970; nil with an API key or a certificate.
        var tokenIssuedAt: Int64?
        /// The deviations of the provider token from the form in Apple's documentation.
        var deviations: [ProviderTokenDeviation] = []
        /// The time when the key or the certificate expires, in seconds since 1970; nil for never.
        var expiresAt: Int64?
        /// The topic of pushes without `apns-topic`, which a certificate with a single topic supplies; nil for none.
        var defaultTopic: String?

        /// Returns the name of a caller that signs with an app's signing key.
        static func name(ofKey keyID: String) -> String { "key \(keyID)" }

        /// Returns the reason to reject the credentials at a time in seconds since 1970; nil if they are valid.
        func refusal(at now: Int64) -> APNsReason? {
            if let expiresAt, now >= expiresAt { return .expiredProviderToken }
            guard let tokenIssuedAt else { return nil }
            // The time of issue comes from outside and may be any number.
            let (age, overflows) = now.subtractingReportingOverflow(tokenIssuedAt)
            if overflows { return tokenIssuedAt < 0 ? .expiredProviderToken : .invalidProviderToken }
            if age < -ProviderToken.maximumLeadInSeconds { return .invalidProviderToken }
            return age > ProviderToken.maximumAgeInSeconds ? .expiredProviderToken : nil
        }

        /// Returns whether the caller may send a request about channels.
        ///
        /// Creating and deleting channels is not sending. The holder of an app's signing key may do both, as it could
        /// ask Apple directly.
        func maySendAboutChannels(_ method: String) -> Bool {
            tokenIssuedAt != nil || scopes.contains(.manage) || method == "GET" && scopes.contains(.read)
        }
    }

    /// A signing key of an app, which verifies its provider tokens.
    private struct AppKey: Sendable {
        var app: String
        var teamID: String
        var key: ES256PublicKey
    }

    private let configured: [RelayConfiguration.Caller]
    private let appKeys: [String: [AppKey]]
    private let appsByBundleID: [String: String]

    init(_ configuration: RelayConfiguration) throws(RelayError) {
        configured = configuration.callers
        var appKeys: [String: [AppKey]] = [:]
        var appsByBundleID: [String: String] = [:]
        for app in configuration.apps {
            do throws(APNsError) {
                let key = AppKey(app: app.name, teamID: app.key.teamID, key: try app.key.publicKey())
                appKeys[app.key.keyID, default: []].append(key)
            } catch {
                throw RelayError("the app \(app.name): \(error)")
            }
            for bundle in app.bundleIDs {
                if let other = appsByBundleID.updateValue(app.name, forKey: bundle), other != app.name {
                    throw RelayError("the bundle identifier \(bundle) belongs to two apps, \(other) and \(app.name)")
                }
            }
        }
        self.appKeys = appKeys
        self.appsByBundleID = appsByBundleID
    }

    /// Returns the teams of the apps with a signing key of this identifier.
    func teams(ofKey keyID: String) -> Set<String> { Set(appKeys[keyID, default: []].map(\.teamID)) }

    /// Returns the app of a bundle identifier; nil for an unknown one.
    func app(ofBundle bundle: String) -> String? { appsByBundleID[bundle] }

    var appsByCaller: [String: Set<String>] {
        var apps: [String: Set<String>] = [:]
        for caller in configured { apps[caller.name] = caller.apps }
        for (keyID, keys) in appKeys { apps[Caller.name(ofKey: keyID)] = Set(keys.map(\.app)) }
        return apps
    }

    /// Returns whether a caller that was identified before still has a scope for its apps.
    func stillPermit(_ scope: RelayConfiguration.Caller.Scope, to caller: Caller) -> Bool {
        if let known = configured.first(where: { $0.name == caller.name }) {
            return known.scopes.contains(scope) && caller.apps.isSubset(of: known.apps)
        }
        return caller.apps.isSubset(of: appsByCaller[caller.name] ?? [])
    }

    /// Returns the caller that an `authorization` header identifies; nil for unknown credentials.
    func caller(_ authorization: String?) -> Caller? {
        guard let authorization, let space = authorization.firstIndex(of: " "),
            authorization[..<space].lowercased() == "bearer"
        else { return nil }
        let credential = authorization[authorization.index(after: space)...]
        return keyHolder(credential) ?? tokenHolder(credential)
    }

    /// Returns the caller that a client certificate identifies; nil for an unknown certificate.
    func caller(_ certificate: CertificateFacts) -> Caller? {
        guard let found = configured.first(where: { $0.certificate?.matches(certificate) ?? false }) else { return nil }
        var caller = Caller(found)
        caller.expiresAt = [caller.expiresAt, certificate.expiry].compactMap(\.self).min()
        caller.defaultTopic = certificate.topics.count == 1 ? certificate.topics[0] : nil
        return caller
    }

    private func keyHolder(_ credential: Substring) -> Caller? {
        guard let digits = try? CallerKey.hash(of: credential) else { return nil }
        var found: RelayConfiguration.Caller?
        // Compares all hashes completely, so that the time does not reveal which one matches.
        for caller in configured where caller.hash?.isSame(as: digits) ?? false { found = caller }
        return found.map(Caller.init)
    }

    private func tokenHolder(_ credential: Substring) -> Caller? {
        guard let token = try? ParsedProviderToken(credential.utf8) else { return nil }
        let keys = appKeys[token.claims.keyID, default: []].filter { key in
            key.teamID == token.claims.teamID && token.isSigned(by: key.key)
        }
        guard !keys.isEmpty else { return nil }
        return Caller(
            name: Caller.name(ofKey: token.claims.keyID),
            apps: Set(keys.map(\.app)),
            scopes: [.send],
            tokenIssuedAt: token.claims.issuedAtSeconds,
            deviations: token.deviations
        )
    }
}

extension Callers.Caller {
    /// Creates the caller of a configured key or certificate.
    fileprivate init(_ caller: RelayConfiguration.Caller) {
        self.init(
            name: caller.name,
            apps: caller.apps,
            scopes: caller.scopes,
            tokenIssuedAt: nil,
            expiresAt: caller.expiresAt?.secondsSince1970
        )
    }
}

extension String {
    /// Returns whether the text is these digits, in a time that does not depend on the position of a difference.
    fileprivate func isSame(as digits: [UInt8]) -> Bool {
        let own = Array(lowercased().utf8)
        guard own.count == digits.count else { return false }
        return zip(own, digits).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

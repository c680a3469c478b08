internal import APNs
internal import APNsClient
internal import Wire

/// Tells who calls, and what for: a value without a clock.
///
/// A caller shows a key of the relay's, or a provider token that an app's own signing key has signed.
struct Callers: Sendable {
    /// Who calls.
    struct Caller: Sendable, Hashable {
        /// What people know it by.
        var name: String
        /// The names of the apps that it may act for.
        var apps: Set<String>
        var scopes: Set<RelayConfiguration.Caller.Scope>
        /// When the provider token was issued that it has shown, in seconds since 1970; nil with a key of the relay's.
        var tokenIssuedAt: Int64?

        /// The name of a caller that signs with an app's own key.
        static func name(ofKey keyID: String) -> String { "key \(keyID)" }

        /// Whether it is still one: a provider token grows old.
        func isCurrent(at now: Int64) -> Bool {
            guard let tokenIssuedAt else { return true }
            // The time of issue comes from outside and may be any number.
            let (age, isTooMuch) = now.subtractingReportingOverflow(tokenIssuedAt)
            return !isTooMuch && (-300...ProviderToken.maximumAgeInSeconds).contains(age)
        }

        /// Whether a request about channels may go through.
        ///
        /// What makes or deletes them is no sending; who has the app's signing key could ask Apple as well.
        func maySendAboutChannels(_ method: String) -> Bool {
            tokenIssuedAt != nil || scopes.contains(.manage) || method == "GET" && scopes.contains(.read)
        }
    }

    /// An app's key, by which its provider tokens are checked.
    private struct AppKey: Sendable {
        var app: String
        var teamID: String
        var key: ES256PublicKey
    }

    private let keys: [RelayConfiguration.Caller]
    private let appKeys: [String: [AppKey]]
    private let appsByBundleID: [String: String]

    init(_ configuration: RelayConfiguration) throws(RelayError) {
        keys = configuration.callers
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

    /// The app that a bundle identifier belongs to; nil when it is none of this relay's.
    func app(ofBundle bundle: String) -> String? { appsByBundleID[bundle] }

    /// The apps of each caller, by its name.
    var appsByCaller: [String: Set<String>] {
        var apps: [String: Set<String>] = [:]
        for key in keys { apps[key.name] = key.apps }
        for (keyID, keys) in appKeys { apps[Caller.name(ofKey: keyID)] = Set(keys.map(\.app)) }
        return apps
    }

    /// Whether a caller that was known before may still send for its apps.
    func mayStillSend(_ caller: Caller) -> Bool {
        if let key = keys.first(where: { $0.name == caller.name }) {
            return key.scopes.contains(.send) && caller.apps.isSubset(of: key.apps)
        }
        return caller.apps.isSubset(of: appsByCaller[caller.name] ?? [])
    }

    /// Who shows this in `authorization`; nil when nobody does who is known.
    func caller(_ authorization: String?) -> Caller? {
        guard let authorization, let space = authorization.firstIndex(of: " "),
            authorization[..<space].lowercased() == "bearer"
        else { return nil }
        let credential = authorization[authorization.index(after: space)...]
        return keyHolder(credential) ?? tokenHolder(credential)
    }

    private func keyHolder(_ credential: Substring) -> Caller? {
        guard let digits = try? CallerKey.hash(of: credential) else { return nil }
        var found: RelayConfiguration.Caller?
        // All are compared, each to its end, so that the time tells nothing.
        for key in keys where key.hash.isSame(as: digits) { found = key }
        return found.map { Caller(name: $0.name, apps: $0.apps, scopes: $0.scopes, tokenIssuedAt: nil) }
    }

    private func tokenHolder(_ credential: Substring) -> Caller? {
        guard let token = try? ParsedProviderToken(credential.utf8) else { return nil }
        let keys = appKeys[token.claims.keyID, default: []].filter { key in
            key.teamID == token.claims.teamID
                && key.key.isValid(signature: token.signature, for: token.signingInput)
        }
        guard !keys.isEmpty else { return nil }
        return Caller(
            name: Caller.name(ofKey: token.claims.keyID),
            apps: Set(keys.map(\.app)),
            scopes: [.send],
            tokenIssuedAt: token.claims.issuedAtSeconds
        )
    }
}

extension String {
    /// Whether the text is these digits, found in a time that does not depend on where they differ.
    fileprivate func isSame(as digits: [UInt8]) -> Bool {
        let own = Array(lowercased().utf8)
        guard own.count == digits.count else { return false }
        return zip(own, digits).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

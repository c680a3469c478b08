// SPDX-License-Identifier: Apache-2.0

internal import Martlet

/// The access that callers lose when one configuration replaces another.
///
/// A stream of events or a connection that is already open keeps the rights with which it was opened, so a reload ends
/// those that are revoked.
struct RevokedAccess: Sendable, Equatable {
    /// The rights that one caller loses.
    struct Loss: Sendable, Equatable {
        /// The caller's name, as ``Callers`` reports it.
        var caller: String
        var scope: RelayConfiguration.Caller.Scope
        /// The apps for which the caller no longer has the scope.
        var apps: Set<String>
    }

    /// The losses, by caller and scope; empty when no caller loses access.
    private(set) var losses: [Loss] = []

    /// Compares two configurations.
    ///
    /// A caller whose key was replaced loses all that it had, because the old key may have leaked. The same applies to
    /// clients that sign with an app's own key.
    init(from old: RelayConfiguration, to new: RelayConfiguration) {
        for caller in old.callers.sorted(by: { $0.name < $1.name }) {
            let successor = new.callers.first { $0.hasCredentials(of: caller) }
            for scope in RelayConfiguration.Caller.Scope.allCases where caller.scopes.contains(scope) {
                let remaining = successor.map { $0.scopes.contains(scope) ? $0.apps : [] } ?? []
                let apps = caller.apps.subtracting(remaining)
                if !apps.isEmpty { losses.append(Loss(caller: caller.name, scope: scope, apps: apps)) }
            }
        }
        let replaced = old.apps.filter { app in
            !new.apps.contains { $0.name == app.name && $0.key.isSame(as: app.key) }
        }
        for (keyID, apps) in Dictionary(grouping: replaced, by: \.key.keyID).sorted(by: { $0.key < $1.key }) {
            losses.append(Loss(caller: Callers.Caller.name(ofKey: keyID), scope: .send, apps: Set(apps.map(\.name))))
        }
    }

    /// Returns the apps for which a caller of the old configuration no longer has a scope.
    func apps(of caller: String, for scope: RelayConfiguration.Caller.Scope) -> Set<String> {
        losses.first { $0.caller == caller && $0.scope == scope }?.apps ?? []
    }
}

extension RelayConfiguration.Caller {
    /// Returns whether both callers have the same credentials.
    fileprivate func hasCredentials(of other: RelayConfiguration.Caller) -> Bool {
        hash?.lowercased() == other.hash?.lowercased() && certificate == other.certificate
    }
}

extension SigningKey {
    /// Returns whether both keys are the same, with the same identifiers.
    fileprivate func isSame(as other: SigningKey) -> Bool {
        keyID == other.keyID && teamID == other.teamID && (try? publicKeyPEM()) == (try? other.publicKeyPEM())
    }
}

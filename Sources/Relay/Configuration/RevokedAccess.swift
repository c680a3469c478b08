/// The access that callers lose when one configuration replaces another.
///
/// A stream of events or a connection that is already open keeps the rights with which it was opened, so a reload ends
/// those that are revoked.
struct RevokedAccess: Sendable, Equatable {
    /// What one caller loses.
    struct Loss: Sendable, Equatable {
        /// The caller's name.
        var caller: String
        /// The scope.
        var scope: RelayConfiguration.Caller.Scope
        /// The apps for which the caller no longer has the scope.
        var apps: Set<String>
    }

    /// The losses, by caller and scope; empty when nobody loses anything.
    private(set) var losses: [Loss] = []

    /// The difference between two configurations.
    ///
    /// A caller whose key was replaced loses all that it had, since the old key may be in other hands.
    init(from old: [RelayConfiguration.Caller], to new: [RelayConfiguration.Caller]) {
        for caller in old.sorted(by: { $0.name < $1.name }) {
            let successor = new.first { $0.hash.lowercased() == caller.hash.lowercased() }
            for scope in RelayConfiguration.Caller.Scope.allCases where caller.scopes.contains(scope) {
                let remaining = successor.map { $0.scopes.contains(scope) ? $0.apps : [] } ?? []
                let apps = caller.apps.subtracting(remaining)
                if !apps.isEmpty { losses.append(Loss(caller: caller.name, scope: scope, apps: apps)) }
            }
        }
    }

    /// The apps for which a caller of the old configuration no longer has a scope.
    ///
    /// - Parameters:
    ///   - caller: The caller's name in the old configuration.
    ///   - scope: The scope.
    /// - Returns: The apps; empty when the caller keeps them all.
    func apps(of caller: String, for scope: RelayConfiguration.Caller.Scope) -> Set<String> {
        losses.first { $0.caller == caller && $0.scope == scope }?.apps ?? []
    }
}

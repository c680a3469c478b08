extension RelayConfiguration {
    /// Returns the names of the settings that differ from those of another configuration and change only with a
    /// restart.
    func changesForRestart(since old: RelayConfiguration) -> [String] {
        var names = RelayConfiguration.settings.changedByRestart().filter { !$0.isEqual(old, self) }
            .map(\.declaration.name)
        if (identity == nil) != (old.identity == nil) { names.append("certificate") }
        return names
    }

    /// Returns this configuration with the settings of another one that change only with a restart.
    ///
    /// A reload replaces the certificate of `listen`, but does not add or remove TLS.
    func keepingUnchangeable(from old: RelayConfiguration) -> RelayConfiguration {
        var configuration = self
        for setting in RelayConfiguration.settings.changedByRestart() { setting.copy(old, &configuration) }
        if old.identity == nil { configuration.identity = nil }
        return configuration
    }
}

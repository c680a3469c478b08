// SPDX-License-Identifier: Apache-2.0

internal import MartletOutbox

extension RelayConfiguration {
    /// Returns the names of the settings that differ from those of another configuration and change only with a
    /// restart.
    func settingsThatNeedRestart(since old: RelayConfiguration) -> [String] {
        var names = RelayConfiguration.settings.changedByRestart().filter { !$0.isEqual(old, self) }
            .map(\.declaration.name)
        if (identity == nil) != (old.identity == nil) { names.append("certificate") }
        if (sealingKeys == nil) != (old.sealingKeys == nil) { names.append("sealing-keys") }
        return names
    }

    /// Returns this configuration with the settings of another one that change only with a restart.
    ///
    /// A reload replaces the certificate of `listen` and the keys of the outbox, but does not add or remove them.
    func keepingFixedSettings(of old: RelayConfiguration) -> RelayConfiguration {
        var configuration = self
        for setting in RelayConfiguration.settings.changedByRestart() { setting.copy(old, &configuration) }
        if old.identity == nil { configuration.identity = nil }
        if old.sealingKeys == nil || sealingKeys == nil { configuration.sealingKeys = old.sealingKeys }
        return configuration
    }

    func openOutbox() async throws(RelayError) -> any OutboxStore {
        do throws(OutboxError) {
            let store = try await openStore()
            guard let sealingKeys else { return store }
            let sealed = SealedOutbox(store, keys: sealingKeys)
            do throws(OutboxError) {
                try await sealed.prepare()
            } catch {
                await store.close(isInOrder: true)
                throw error
            }
            return sealed
        } catch {
            guard error.kind == .damaged else { throw RelayError("\(error)") }
            throw RelayError("the stored data is damaged: \(error)", action: error.kind.action(at: data))
        }
    }

    private func openStore() async throws(OutboxError) -> any OutboxStore {
        switch data {
        case .file(let path):
            var options = outbox
            options.retriesOpening = true
            options.isSealed = sealingKeys != nil
            return try await SQLiteOutbox(file: path, options: options)
        case .database(let address):
            let options = PostgreSQLOutbox.Options(
                limit: outbox.limit,
                name: node,
                statementTime: statementTime,
                retriesOpening: true,
                isSealed: sealingKeys != nil
            )
            return try await PostgreSQLOutbox(address: address, options: options)
        }
    }
}

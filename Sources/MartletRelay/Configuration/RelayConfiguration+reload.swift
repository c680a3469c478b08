internal import Martlet
internal import MartletOutbox

/// The settings that change only when the relay is started again.
extension RelayConfiguration {
    /// Returns this configuration with the settings of another one that a reload cannot change.
    func keepingFixedSettings(of old: RelayConfiguration) -> RelayConfiguration {
        var new = self
        new.data = old.data
        new.node = old.node
        new.outbox = old.outbox
        new.listeners = old.listeners
        new.http = old.http
        new.endpoints = old.endpoints
        new.identity = old.identity == nil ? nil : identity
        new.telemetry = old.telemetry
        return new
    }

    /// Returns the names of the settings that differ from another configuration and need a restart.
    func settingsThatNeedRestart(since old: RelayConfiguration) -> [String] {
        let changes = [
            ("data", data != old.data), ("durability", outbox.durability != old.outbox.durability),
            ("limit", outbox.limit != old.outbox.limit), ("listen", listeners != old.listeners),
            ("http", http != old.http), ("certificate", (identity == nil) != (old.identity == nil)),
            ("apple", endpoints.mapValues(\.endpoint) != old.endpoints.mapValues(\.endpoint)),
            ("telemetry", telemetry != old.telemetry),
        ]
        return changes.filter(\.1).map(\.0)
    }

    /// Opens the outbox.
    ///
    /// - Throws: ``RelayError`` when it cannot be opened.
    func openOutbox() async throws(RelayError) -> any OutboxStore {
        do throws(OutboxError) {
            switch data {
            case .file(let path):
                var options = outbox
                options.retriesOpening = true
                return try await SQLiteOutbox(file: path, options: options)
            case .database(let address):
                let options = PostgreSQLOutbox.Options(
                    limit: outbox.limit,
                    name: node,
                    statementTime: statementTime,
                    retriesOpening: true
                )
                return try await PostgreSQLOutbox(address: address, options: options)
            }
        } catch {
            throw RelayError("\(error)")
        }
    }
}

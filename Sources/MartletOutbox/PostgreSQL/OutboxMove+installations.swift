// SPDX-License-Identifier: Apache-2.0

internal import MartletSQLite

/// Moving of installations. Tickets are not moved: they are void after at most a day, and an app asks for another one.
/// Nor are the counts of alerts, most of which are of the day of the migration.
extension OutboxMove {
    /// The number of installations in one batch.
    private static let installationBatch = 200

    /// Moves a batch of installations, with their secrets, and returns their number.
    func moveInstallations() async throws(OutboxError) -> Int {
        let batch = try await file.read { (tables) throws(SQLiteError) in
            let stored = try InstallationTable(tables.database).all(
                "number > 0 ORDER BY number LIMIT ?",
                Int64(OutboxMove.installationBatch)
            )
            let secrets = try tables.database.connection.prepare(
                "SELECT secret_hash FROM installation WHERE number = ?"
            )
            var batch: [(installation: StoredInstallation, secret: [UInt8]?)] = []
            for installation in stored {
                try secrets.bind(installation.number)
                guard try secrets.step() else { continue }
                batch.append((installation, secrets.optionalBlob(at: 0)))
                secrets.reset()
            }
            return batch
        }
        let target = PostgreSQLInstallations(connections: database.connections, apps: database.apps)
        for (stored, secret) in batch { try await target.adopt(stored.installation, secret: secret) }
        guard let last = batch.last else { return 0 }
        try await file.change { (tables) throws(SQLiteError) in
            try tables.database.connection.prepare("DELETE FROM installation WHERE number <= ?")
                .run(with: last.installation.number)
        }
        return batch.count
    }
}

// SPDX-License-Identifier: Apache-2.0

/// Moving of the sealed data key. Sealed rows move as they are, because they belong to the name of their app and to
/// their identifier, which stay the same.
extension OutboxMove {
    /// Moves the data key of a sealed file; throws if the database has another one, or only one of both is sealed.
    func moveSealedKey() async throws(OutboxError) {
        let records = PostgreSQLRecords(connections: database.connections, apps: database.apps)
        var known = try await records.sealedKey()
        guard let key = try await file.records.sealedKey() else {
            guard known != nil else { return }
            throw OutboxError(
                .refused,
                "the database is sealed and the file is not: start a relay with the file and sealing-keys once, stop"
                    + " it, and move the file into a new database"
            )
        }
        guard key.isComplete else {
            throw OutboxError(
                .refused,
                "the rows of the file are not all sealed: start a relay with the file and sealing-keys once, stop it,"
                    + " and repeat the command"
            )
        }
        // The key is not complete in the database, where the next relay seals rows that were there before.
        if known == nil { known = try await records.addSealedKey(key) }
        guard known?.id == key.id else {
            throw OutboxError(
                .refused,
                "the database is sealed with another data key than the file: move the file into a new database"
            )
        }
    }
}

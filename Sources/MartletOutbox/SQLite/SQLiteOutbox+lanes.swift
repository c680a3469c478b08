package import MartletCore
internal import MartletSQLite

/// Pausing and purging of lanes, and searches.
extension SQLiteOutbox {
    package func pauses() throws(OutboxError) -> [LanePause] {
        try read { (database) throws(SQLiteError) in try database.pauses() }
    }

    package func pause(_ lane: Lane, by caller: String, at now: Int64) throws(OutboxError) -> LanePause {
        try change { (database) throws(SQLiteError) in try database.pause(lane, by: caller, at: now) }
    }

    package func resume(_ lane: Lane) throws(OutboxError) -> Bool {
        try change { (database) throws(SQLiteError) in try database.resume(lane) }
    }

    package func purge(
        _ lane: Lane,
        upTo last: Int64?,
        limit: Int,
        at now: Int64
    ) throws(OutboxError) -> PurgedPushes {
        try change { (database) throws(SQLiteError) in try database.purge(lane, upTo: last, limit: limit, at: now) }
    }

    package func pushes(
        to token: DeviceToken,
        of app: String,
        after cursor: Int64,
        limit: Int
    ) throws(OutboxError) -> [FoundPush] {
        try read { (database) throws(SQLiteError) in
            try database.pushes(to: token, of: app, after: cursor, limit: limit)
        }
    }

    package func deadLetter(_ id: APNsID, of app: String) throws(OutboxError) -> DeadLetter? {
        try read { (database) throws(SQLiteError) in try database.deadLetter(id, of: app) }
    }
}

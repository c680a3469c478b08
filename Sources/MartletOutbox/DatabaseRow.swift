// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// A row of a SQLite file or of PostgreSQL, for values that both engines select in the same columns.
///
/// Columns are counted from 0. NULL reads as 0 or as an empty value, unless the result is optional.
protocol DatabaseRow: ~Copyable {
    func integer(at column: Int) -> Int64
    func optionalInteger(at column: Int) -> Int64?
    func text(at column: Int) -> String
    func optionalText(at column: Int) -> String?
    func bytes(at column: Int) -> [UInt8]
    /// Returns an environment, which each engine stores in another form.
    func environment(at column: Int) -> PushEnvironment
}

extension Outcome {
    /// Reads seven columns: state, status, reason, unique identifier, time of unregistration, attempts, attempts
    /// without an answer.
    init(_ row: borrowing some DatabaseRow & ~Copyable, from column: Int) {
        self.init(
            State(rawValue: row.text(at: column)) ?? .dead,
            status: row.optionalInteger(at: column + 1).map { Int($0) },
            reason: row.optionalText(at: column + 2),
            uniqueID: row.optionalText(at: column + 3),
            unregisteredAt: row.optionalInteger(at: column + 4),
            attempts: Int(row.integer(at: column + 5)),
            unknownTries: Int(row.integer(at: column + 6))
        )
    }
}

extension UnregisteredToken {
    /// Reads seven columns: cursor, token, environment, topic, time of unregistration, time of the report, reason.
    init?(_ row: borrowing some DatabaseRow & ~Copyable) {
        guard let token = DeviceToken(stored: row.text(at: 1)) else { return nil }
        self.init(
            cursor: row.integer(at: 0),
            token: token,
            environment: row.environment(at: 2),
            topic: row.text(at: 3),
            unregisteredAt: row.optionalInteger(at: 4),
            reportedAt: row.integer(at: 5),
            reason: row.text(at: 6)
        )
    }
}

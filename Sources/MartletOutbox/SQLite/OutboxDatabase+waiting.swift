// SPDX-License-Identifier: Apache-2.0

internal import MartletSQLite

/// The rows that wait for work of the relay, in which apps take turns.
extension OutboxDatabase {
    /// The condition of a row whose number is one of a ``list(_:)``.
    static let isListed = "number IN (SELECT value FROM json_each(?))"

    /// Returns numbers as a JSON array.
    static func list(_ numbers: [Int64]) -> String {
        "[" + numbers.map { "\($0)" }.joined(separator: ",") + "]"
    }

    /// Returns the numbers of rows that wait, from the first to the last.
    ///
    /// The apps take turns, so that many rows of one do not delay another. The turns of an app go to its oldest row,
    /// its newest one, the next oldest one and so on. At most `limit` entries of an index are read for each app.
    ///
    /// - Parameters:
    ///   - table: The table.
    ///   - condition: The condition of a row that waits.
    ///   - column: The column with the time since which a row waits.
    ///   - time: The time since which it waits at the latest.
    ///   - limit: The maximum number of rows.
    /// - Returns: The numbers, each once.
    /// - Throws: ``SQLiteError`` when they cannot be read.
    func waitingRows(
        of table: String,
        where condition: String = "true",
        by column: String,
        until time: Int64 = .max,
        limit: Int
    ) throws(SQLiteError) -> [Int64] {
        let rows = """
            SELECT number, \(column) FROM \(table) WHERE app = ? AND \(condition) AND \(column) <= ? ORDER BY \(column)
            """
        let oldest = try connection.prepare("\(rows), number LIMIT ?")
        let newest = try connection.prepare("\(rows) DESC, number DESC LIMIT ?")
        var waiting: [(turn: Int, since: Int64, number: Int64)] = []
        for app in state.apps.values {
            try oldest.bind(app, time, Int64(limit - limit / 2))
            let first = try oldest.all { (number: $0.integer(at: 0), since: $0.integer(at: 1)) }
            for (place, row) in first.enumerated() { waiting.append((2 * place, row.since, row.number)) }
            // Otherwise these are all rows of the app.
            guard first.count == limit - limit / 2 else { continue }
            try newest.bind(app, time, Int64(limit / 2))
            let last = try newest.all { (number: $0.integer(at: 0), since: $0.integer(at: 1)) }
            for (place, row) in last.enumerated() { waiting.append((2 * place + 1, row.since, row.number)) }
        }
        var known: Set<Int64> = []
        return Array(waiting.sorted(by: <).map(\.number).filter { known.insert($0).inserted }.prefix(limit))
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletSQLite

/// A dead letter without its payload, because there may be very many.
struct DeadLetterRow {
    var number: Int64
    var id: APNsID
    var queue: UrgencyQueue
    var unknownTries: Int
    /// Whether the push was not sent because its stored content is damaged.
    var isDamaged: Bool
    /// The number of the job that the push belongs to; nil for none.
    var job: Int64?
}

extension OutboxDatabase {
    /// Returns the dead letters of an app with some identifiers, or all in the order of acceptance.
    func deadLetters(_ ids: [APNsID]?, of app: Int64) throws(SQLiteError) -> [DeadLetterRow] {
        let found = """
            SELECT number, push.app, push.environment, urgency, push.apns_id, outcome.unknown_tries,
                outcome.reason IS '\(Outcome.damagedReason)', push.job
            FROM outcome JOIN push USING (apns_id, app) WHERE outcome.app = ? AND state = 'dead'
            """
        var letters: [DeadLetterRow] = []
        guard let ids else {
            let rows = try connection.prepare(found + " ORDER BY number")
            try rows.bind(app)
            try addLetters(rows, to: &letters)
            return letters
        }
        // One by one, because an app may have many more dead letters than are asked for.
        let rows = try connection.prepare(found + " AND outcome.apns_id = ?")
        for id in Set(ids) {
            try rows.bind(app, id.bytes)
            try addLetters(rows, to: &letters)
        }
        return letters
    }

    /// Deletes the dead letters of a selection in a range of numbers, and returns their number.
    func deleteDeadLetters(
        _ selection: PushSelection,
        _ app: Int64,
        in numbers: Range<Int64>
    ) throws(SQLiteError) -> Int {
        // Only a dead letter neither has a time nor waits in line.
        let letters = """
            \(selection.fileRows) AND \(selection.fileCondition) AND number >= ?3 AND number < ?4
                AND ready_at IS NULL AND is_in_line = 0
            """
        let (value, start, end) = (selection.value, numbers.lowerBound, numbers.upperBound)
        try connection.prepare(
            "DELETE FROM outcome WHERE app = ?2 AND apns_id IN (SELECT apns_id FROM \(letters))"
        ).run(with: value, app, start, end)
        try connection.prepare("DELETE FROM \(letters)").run(with: value, app, start, end)
        return connection.changes
    }

    private func addLetters(
        _ rows: borrowing Statement,
        to letters: inout [DeadLetterRow]
    ) throws(SQLiteError) {
        while try rows.step() {
            guard let id = APNsID(bytes: rows.blob(at: 4)) else { continue }
            let (number, queue) = (rows.integer(at: 0), UrgencyQueue(rows, from: 1))
            letters.append(
                DeadLetterRow(
                    number: number,
                    id: id,
                    queue: queue,
                    unknownTries: Int(rows.integer(at: 5)),
                    isDamaged: rows.integer(at: 6) != 0,
                    job: rows.optionalInteger(at: 7)
                )
            )
        }
    }
}

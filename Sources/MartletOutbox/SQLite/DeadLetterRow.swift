// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletSQLite

/// A dead letter without its payload, because there may be very many.
struct DeadLetterRow {
    var number: Int64
    var id: APNsID
    var queue: UrgencyQueue
    var unknownTries: Int
}

extension OutboxDatabase {
    /// Returns the dead letters of an app with some identifiers, or all in the order of acceptance.
    func deadLetters(_ ids: [APNsID]?, of app: Int64) throws(SQLiteError) -> [DeadLetterRow] {
        let found = """
            SELECT number, push.app, push.environment, urgency, push.apns_id, outcome.unknown_tries
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

    private func addLetters(
        _ rows: borrowing Statement,
        to letters: inout [DeadLetterRow]
    ) throws(SQLiteError) {
        while try rows.step() {
            guard let id = APNsID(bytes: rows.blob(at: 4)) else { continue }
            let (number, queue) = (rows.integer(at: 0), UrgencyQueue(rows, from: 1))
            letters.append(DeadLetterRow(number: number, id: id, queue: queue, unknownTries: Int(rows.integer(at: 5))))
        }
    }
}

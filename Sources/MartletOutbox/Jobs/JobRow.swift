// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

extension StoredJob {
    /// Reads the columns that both engines select, as ``JobTable`` lists them; the second one is the app.
    init?(_ row: borrowing some DatabaseRow & ~Copyable, app: String) {
        guard let id = APNsID(bytes: row.bytes(at: 2)), let state = JobState(rawValue: row.text(at: 12)) else {
            return nil
        }
        let job = Job(
            app: app,
            id: id,
            caller: row.text(at: 3),
            fingerprint: row.bytes(at: 4),
            request: row.bytes(at: 5),
            audience: row.text(at: 6),
            notBefore: row.optionalInteger(at: 7),
            expiresAt: row.optionalInteger(at: 8)
        )
        self.init(
            number: row.integer(at: 0),
            job: job,
            createdAt: row.integer(at: 9),
            highMark: row.integer(at: 10),
            cursor: row.integer(at: 11),
            state: state,
            expandedAt: row.optionalInteger(at: 13),
            stored: Int(row.integer(at: 14)),
            leftOut: JobCounts.read(row.text(at: 15)),
            outcomes: JobCounts.read(row.optionalText(at: 16)),
            outcomesChangedAt: row.integer(at: 17),
            endCursor: row.optionalInteger(at: 18)
        )
    }
}

/// The form of counts in one column: a JSON object.
enum JobCounts {
    /// Returns the counts that are greater than 0; ignores unknown names.
    static func read<Key: RawRepresentable<String> & Hashable>(_ text: String?) -> [Key: Int] {
        let members = text.flatMap { try? JSONReader.read(Array($0.utf8)) }?.members ?? []
        var counts: [Key: Int] = [:]
        for member in members {
            guard let key = Key(rawValue: member.name), let count = member.value.integerValue else { continue }
            if count > 0 { counts[key] = Int(count) }
        }
        return counts
    }

    /// Returns counts as text.
    static func text(_ counts: [LeftOutReason: Int]) -> String {
        let members = counts.map { JSONValue.Member($0.key.rawValue, .integer($0.value)) }
        return String(decoding: JSONValue.object(members).encoded(), as: UTF8.self)
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletPostgreSQL

extension Parameter {
    static func identifier(_ id: APNsID) -> Parameter { .identifier(id.bytes) }

    /// Returns a list of parameters for a statement: `$1, $2` and so on.
    static func places(_ count: Int) -> String { (1...count).map { "$\($0)" }.joined(separator: ", ") }
}

extension PushEnvironment {
    var isProduction: Bool { self == .production }

    init(isProduction: Bool) {
        self = isProduction ? .production : .development
    }
}

extension Row: DatabaseRow {
    func environment(at column: Int) -> PushEnvironment { PushEnvironment(isProduction: flag(at: column)) }
}

extension PushStatus {
    /// Reads the columns of `martlet.known`; nil when the row has no identifier.
    init?(_ row: Row, from column: Int, app: String) {
        guard let id = row.optionalBytes(at: column).flatMap({ APNsID(bytes: $0) }) else { return nil }
        let state: PushStatus.State =
            if let endedAt = row.optionalInteger(at: column + 4) {
                .ended(Outcome(row, from: column + 5), at: endedAt)
            } else {
                row.flag(at: column + 3) ? .inFlight : .accepted
            }
        self.init(
            id: id,
            lane: Lane(app: app, environment: row.environment(at: column + 1)),
            acceptedAt: row.integer(at: column + 2),
            state: state,
            history: AttemptHistory(stored: row.optionalText(at: column + 12))
        )
    }

    /// Reads a push that has ended without being sent: the identifier in the first column, and three columns with the
    /// time of acceptance, attempts, and attempts without an answer; nil when the row has no identifier.
    init?(_ row: Row, from column: Int, endedAs state: Outcome.State, in lane: Lane, at now: Int64) {
        guard let id = APNsID(bytes: row.bytes(at: 0)) else { return nil }
        let outcome = Outcome(
            state,
            attempts: Int(row.integer(at: column + 1)),
            unknownTries: Int(row.integer(at: column + 2))
        )
        self.init(id: id, lane: lane, acceptedAt: row.integer(at: column), state: .ended(outcome, at: now))
    }
}

extension ClaimedPush {
    /// Reads the columns of `martlet.claim`; without the last seven, the push counts as sound and sent singly to a
    /// token.
    init(_ row: Row, lane: Lane, claim: Int64 = 0, isChecked: Bool = false) {
        let destination: PushDestination =
            if let token = row.optionalText(at: 6).flatMap(DeviceToken.init(stored:)) {
                .device(token)
            } else {
                .channel(ChannelID(row.text(at: 7)), bundle: row.text(at: 8))
            }
        let push = OutboxPush(
            lane: lane,
            id: APNsID(bytes: row.bytes(at: 4)) ?? APNsID(randomBits: (0, 0)),
            destination: destination,
            headers: PushHeaders(
                pushType: row.optionalText(at: 9),
                expiration: row.optionalText(at: 12),
                priority: row.optionalText(at: 11),
                topic: row.optionalText(at: 10),
                collapseID: row.optionalText(at: 13)
            ),
            payload: row.bytes(at: 18),
            expiresAt: row.optionalInteger(at: 16),
            orderKey: row.optionalText(at: 15),
            traceParent: row.optionalText(at: 14),
            user: isChecked ? row.optionalText(at: 22) : nil,
            job: isChecked ? row.optionalInteger(at: 24) : nil,
            session: isChecked ? row.optionalInteger(at: 25) : nil
        )
        self.init(
            number: row.integer(at: 0),
            push: push,
            acceptedAt: row.integer(at: 17),
            readyAt: row.integer(at: 1),
            attempts: Int(row.integer(at: 2)),
            unknownTries: Int(row.integer(at: 3)),
            history: AttemptHistory(stored: isChecked ? row.optionalText(at: 21) : nil),
            isDamaged: isChecked && (push.differs(from: row.optionalInteger(at: 19)) || row.flag(at: 20)),
            hasFormerUser: isChecked && row.flag(at: 23)
        )
        self.claim = claim
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletSQLite

/// A due push with the values that only the outbox needs.
struct DuePush {
    var claimed: ClaimedPush
    var isInLine: Bool
    var readyAt: Int64

    /// Reads the current row of a statement with ``PushTable/columns``.
    init(_ row: borrowing Statement, lane: Lane) {
        let push = OutboxPush(
            lane: lane,
            id: APNsID(bytes: row.blob(at: 3)) ?? APNsID(randomBits: (0, 0)),
            destination: PushDestination(row, from: 4),
            headers: PushHeaders(
                pushType: row.optionalText(at: 7),
                expiration: row.optionalText(at: 10),
                priority: row.optionalText(at: 9),
                topic: row.optionalText(at: 8),
                collapseID: row.optionalText(at: 11)
            ),
            payload: row.blob(at: 13),
            expiresAt: row.optionalInteger(at: 15),
            orderKey: row.optionalText(at: 14),
            traceParent: row.optionalText(at: 12),
            user: row.integer(at: 26) != 0 ? row.optionalText(at: 25) : nil,
            job: row.optionalInteger(at: 27),
            session: row.optionalInteger(at: 28)
        )
        let hasChangedTime = DuePush.hasChangedTime(row)
        claimed = ClaimedPush(
            number: row.integer(at: 0),
            push: push,
            acceptedAt: row.integer(at: 16),
            readyAt: row.integer(at: 20),
            attempts: Int(row.integer(at: 17)),
            unknownTries: Int(row.integer(at: 18)),
            history: AttemptHistory(stored: row.optionalText(at: 24)),
            isDamaged: push.differs(from: row.optionalInteger(at: 22)) || hasChangedTime
        )
        isInLine = row.integer(at: 19) != 0
        readyAt = row.integer(at: 20)
    }

    /// Returns whether the due time of the current row differs from the complement that is stored with it.
    static func hasChangedTime(_ row: borrowing Statement) -> Bool {
        row.optionalInteger(at: 20).map { ~$0 } != row.optionalInteger(at: 23)
    }
}

extension PushDestination {
    /// The columns of a destination: token, channel and bundle identifier.
    var columns: (token: String?, channel: String?, bundle: String?) {
        switch self {
        case .device(let token): (token.hex, nil, nil)
        case .channel(let channel, let bundle): (nil, channel.rawValue, bundle)
        }
    }

    fileprivate init(_ row: borrowing Statement, from column: Int) {
        if let token = DeviceToken(stored: row.text(at: column)) {
            self = .device(token)
        } else {
            self = .channel(ChannelID(row.text(at: column + 1)), bundle: row.text(at: column + 2))
        }
    }
}

extension UrgencyQueue {
    /// Reads three columns: app, environment, urgency.
    init(_ row: borrowing Statement, from column: Int) {
        self.init(
            app: row.integer(at: column),
            environment: PushEnvironment(row, at: column + 1),
            urgency: Urgency(row, at: column + 2)
        )
    }
}

extension PushEnvironment {
    init(_ row: borrowing Statement, at column: Int) {
        self = PushEnvironment(rawValue: row.text(at: column)) ?? .production
    }
}

extension Urgency {
    init(_ row: borrowing Statement, at column: Int) {
        self = Urgency(rawValue: Int(row.integer(at: column))) ?? .immediate
    }
}

extension Statement: DatabaseRow {
    func bytes(at column: Int) -> [UInt8] { blob(at: column) }
    func environment(at column: Int) -> PushEnvironment { PushEnvironment(self, at: column) }
    func optionalText(at column: Int) -> String? { isNull(at: column) ? nil : text(at: column) }
    func optionalBlob(at column: Int) -> [UInt8]? { isNull(at: column) ? nil : blob(at: column) }
    func optionalInteger(at column: Int) -> Int64? { isNull(at: column) ? nil : integer(at: column) }

    /// Runs the statement to completion, and returns the values that a closure reads from its rows; nil for a row that
    /// is left out.
    func all<Value>(_ read: (borrowing Statement) -> Value?) throws(SQLiteError) -> [Value] {
        var values: [Value] = []
        while try step() {
            if let value = read(self) { values.append(value) }
        }
        return values
    }
}

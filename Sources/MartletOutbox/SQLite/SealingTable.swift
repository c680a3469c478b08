// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletSQLite
internal import MartletTransport

/// The sealed data key of an outbox, and the sealing of the rows that were stored before.
struct SealingTable {
    /// The number of rows that are read before they are changed: SQLite does not define the rows of a query whose table
    /// changes.
    private static let batch = 2_000

    private let database: OutboxDatabase

    init(_ database: OutboxDatabase) {
        self.database = database
    }

    // MARK: Data key

    /// Returns the sealed data key; nil for an outbox that has none.
    func key() throws(SQLiteError) -> SealedKey? {
        let row = try database.connection.prepare("SELECT id, number, bytes, is_complete FROM sealed_key")
        guard try row.step() else { return nil }
        return SealedKey(
            id: row.blob(at: 0),
            number: row.integer(at: 1),
            bytes: row.blob(at: 2),
            isComplete: row.integer(at: 3) != 0
        )
    }

    /// Stores the data key of an outbox that has none.
    func add(_ key: SealedKey) throws(SQLiteError) {
        try database.connection.prepare("INSERT INTO sealed_key (is_only, id, number, bytes) VALUES (1, ?, ?, ?)")
            .run(with: key.id, key.number, key.bytes)
    }

    /// Replaces the data key, if it is stored in this form.
    func replace(_ old: SealedKey, with new: SealedKey) throws(SQLiteError) {
        try database.connection.prepare("UPDATE sealed_key SET number = ?, bytes = ? WHERE id = ? AND bytes = ?")
            .run(with: new.number, new.bytes, old.id, old.bytes)
    }

    // MARK: Rows

    /// Replaces the values of all plain rows by sealed ones.
    func sealRows(with seal: OutboxSeal) throws(SQLiteError) {
        try sealPushes(with: seal)
        try sealOutcomes(with: seal)
        try sealRegisteredTokens(with: seal)
        try sealUnregisteredTokens(with: seal)
        let update = try database.connection.prepare("UPDATE job SET request = ?, fingerprint = ? WHERE number = ?")
        for stored in try JobTable(database).all("number > 0 ORDER BY number") where seal.open(stored.job) == nil {
            let sealed = try sealing { () throws(CryptographyError) in try seal.seal(stored.job) }
            try update.run(with: sealed.request, sealed.fingerprint, stored.number)
        }
        try sealSurfaces(with: seal)
        try sealSessions(with: seal)
    }

    private func sealPushes(with seal: OutboxSeal) throws(SQLiteError) {
        let rows = try database.connection.prepare(
            "SELECT \(PushTable.columns), fingerprint FROM push WHERE number > ? ORDER BY number LIMIT \(Self.batch)"
        )
        let update = try database.connection.prepare(
            "UPDATE push SET token = ?, order_key = ?, payload = ?, checksum = ?, fingerprint = ? WHERE number = ?"
        )
        var last = Int64.min
        while true {
            var batch: [(number: Int64, push: OutboxPush, fingerprint: [UInt8]?, checksum: Int64?)] = []
            try rows.bind(last)
            while try rows.step() {
                let lane = Lane(app: database.name(of: rows.integer(at: 1)), environment: PushEnvironment(rows, at: 2))
                let push = DuePush(rows, lane: lane).claimed.push
                batch.append((rows.integer(at: 0), push, rows.optionalBlob(at: 29), rows.optionalInteger(at: 22)))
            }
            rows.reset()
            guard let end = batch.last else { return }
            for row in batch {
                let sealed = try sealing { () throws(CryptographyError) in
                    try seal.sealedForm(ofStored: row.push, fingerprint: row.fingerprint, checksum: row.checksum)
                }
                guard let sealed else { continue }
                let token = sealed.push.destination.columns.token
                let (orderKey, payload) = (sealed.push.orderKey, sealed.push.payload)
                try update.run(with: token, orderKey, payload, sealed.checksum, sealed.fingerprint, row.number)
            }
            last = end.number
        }
    }

    private func sealOutcomes(with seal: OutboxSeal) throws(SQLiteError) {
        let rows = try database.connection.prepare(
            """
            SELECT apns_id, app, fingerprint FROM outcome WHERE (apns_id, app) > (?, ?) ORDER BY apns_id, app
            LIMIT \(Self.batch)
            """
        )
        let update = try database.connection.prepare(
            "UPDATE outcome SET fingerprint = ? WHERE apns_id = ? AND app = ?"
        )
        var last: (id: [UInt8], app: Int64) = ([], .min)
        while true {
            var batch: [(id: [UInt8], app: Int64, fingerprint: [UInt8]?)] = []
            try rows.bind(last.id, last.app)
            while try rows.step() {
                batch.append((rows.blob(at: 0), rows.integer(at: 1), rows.optionalBlob(at: 2)))
            }
            rows.reset()
            guard let end = batch.last else { return }
            for row in batch {
                guard let plain = row.fingerprint else { continue }
                let sealed = try sealing { () throws(CryptographyError) in try seal.sealedForm(ofStored: plain) }
                if let sealed { try update.run(with: sealed, row.id, row.app) }
            }
            last = (end.id, end.app)
        }
    }

    private func sealRegisteredTokens(with seal: OutboxSeal) throws(SQLiteError) {
        let rows = try database.connection.prepare(
            """
            SELECT t.installation, t.kind, t.name, t.token, i.app FROM installation_token t
            CROSS JOIN installation i ON i.number = t.installation
            WHERE (t.installation, t.kind, t.name) > (?, ?, ?) ORDER BY t.installation, t.kind, t.name
            LIMIT \(Self.batch)
            """
        )
        let update = try database.connection.prepare(
            "UPDATE installation_token SET token = ? WHERE installation = ? AND kind = ? AND name = ?"
        )
        var last: (installation: Int64, kind: String, name: String) = (.min, "", "")
        while true {
            var batch: [(installation: Int64, kind: String, name: String, token: String, app: Int64)] = []
            try rows.bind(last.installation, last.kind, last.name)
            while try rows.step() {
                let (token, app) = (rows.text(at: 3), rows.integer(at: 4))
                batch.append((rows.integer(at: 0), rows.text(at: 1), rows.text(at: 2), token, app))
            }
            rows.reset()
            guard let end = batch.last else { return }
            for row in batch {
                let name = database.name(of: row.app)
                let sealed = try sealing { () throws(CryptographyError) in
                    try seal.sealedForm(ofStored: row.token, of: name)
                }
                if let sealed { try update.run(with: sealed, row.installation, row.kind, row.name) }
            }
            last = (end.installation, end.kind, end.name)
        }
    }

    private func sealUnregisteredTokens(with seal: OutboxSeal) throws(SQLiteError) {
        let rows = try database.connection.prepare(
            "SELECT cursor, token, app FROM unregistered_token WHERE cursor > ? ORDER BY cursor LIMIT \(Self.batch)"
        )
        let update = try database.connection.prepare("UPDATE unregistered_token SET token = ? WHERE cursor = ?")
        var last = Int64.min
        while true {
            var batch: [(cursor: Int64, token: String, app: Int64)] = []
            try rows.bind(last)
            while try rows.step() { batch.append((rows.integer(at: 0), rows.text(at: 1), rows.integer(at: 2))) }
            rows.reset()
            guard let end = batch.last else { return }
            for row in batch {
                let name = database.name(of: row.app)
                let sealed = try sealing { () throws(CryptographyError) in
                    try seal.sealedForm(ofStored: row.token, of: name)
                }
                if let sealed { try update.run(with: sealed, row.cursor) }
            }
            last = end.cursor
        }
    }

    private func sealSurfaces(with seal: OutboxSeal) throws(SQLiteError) {
        let update = try database.connection.prepare("UPDATE surface SET request = ?, fingerprint = ? WHERE number = ?")
        let table = SurfaceTable(database)
        var last: Int64 = 0
        while true {
            let batch = try table.all("number > ? ORDER BY number LIMIT \(Self.batch)", last)
            guard let end = batch.last else { return }
            for stored in batch where seal.open(stored.surface) == nil {
                let sealed = try sealing { () throws(CryptographyError) in try seal.seal(stored.surface) }
                try update.run(with: sealed.request, sealed.fingerprint, stored.number)
            }
            last = end.number
        }
    }

    private func sealSessions(with seal: OutboxSeal) throws(SQLiteError) {
        let update = try database.connection.prepare("UPDATE surface_session SET state = ? WHERE number = ?")
        let table = try SessionTable(database)
        var last: Int64 = 0
        while true {
            let batch = try table.all("number > ? ORDER BY number LIMIT \(Self.batch)", last)
            guard let end = batch.last?.session else { return }
            for due in batch where seal.open(state: due.session.state, of: due.place) == nil {
                let sealed = try sealing { () throws(CryptographyError) in
                    try seal.seal(state: due.session.state, of: due.place)
                }
                try update.run(with: sealed, due.session.number)
            }
            last = end.number
        }
    }

    /// Returns the result of an encryption.
    private func sealing<Value>(_ body: () throws(CryptographyError) -> Value) throws(SQLiteError) -> Value {
        do throws(CryptographyError) {
            return try body()
        } catch {
            throw .refused("the outbox cannot be sealed: \(error)")
        }
    }
}

extension SQLiteOutbox {
    /// Seals the rows that were stored before the outbox had a data key, and rewrites the file, whose free pages have
    /// the old values.
    func sealRows(with seal: OutboxSeal) throws(OutboxError) {
        try change { (tables) throws(SQLiteError) in try SealingTable(tables.database).sealRows(with: seal) }
        try read { (tables) throws(SQLiteError) in
            try tables.database.connection.execute("VACUUM; UPDATE sealed_key SET is_complete = 1;")
            try tables.database.connection.truncateLog()
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletSQLite
internal import MartletTransport

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A SQLite file that stores the received pushes, the channels, and the nicknames of devices.
///
/// The actor runs on a thread of its own, because writing to a disk can block. Each set of changes is one transaction:
/// if the process ends at any time, the file stays consistent and lacks at most the changes since the last transaction.
actor PushArchive {
    /// A channel in a file.
    struct StoredChannel: Sendable {
        let app: String
        let channel: ChannelID
        let storage: ChannelStorage
    }

    /// The contents of a file.
    struct Contents: Sendable {
        /// The pushes, oldest first.
        var pushes: [ReceivedPush]
        /// The highest number of a push so far.
        var lastNumber: Int
        var channels: [StoredChannel]
        /// The nicknames of devices by their tokens.
        var names: [String: String] = [:]
        /// The number of rows that are not valid pushes.
        var unreadable = 0
    }

    /// The script that creates the tables.
    private static let tables = """
        CREATE TABLE pushes (number INTEGER PRIMARY KEY, record TEXT NOT NULL);
        CREATE TABLE channels (
            app TEXT, channel TEXT, storage INTEGER NOT NULL, PRIMARY KEY (app, channel)
        ) WITHOUT ROWID;
        CREATE TABLE facts (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE names (token TEXT PRIMARY KEY, name TEXT NOT NULL) WITHOUT ROWID;
        """
    /// The version of the tables.
    private static let version = 1
    private static let lastNumber = "last-number"

    private nonisolated let loop: EventLoop
    /// The executor, a requirement of `Actor`.
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    private let connection: Connection
    private let putPush: Statement
    private let removePushes: Statement
    private let putChannel: Statement
    private let removeChannel: Statement
    private let putName: Statement
    private let removeName: Statement
    private let putFact: Statement

    /// Opens a file, or creates it, and locks it for this process until the archive is released.
    init(file: String) throws(SimulatorError) {
        do {
            var options = Connection.Options(synchronous: .normal)
            options.busyTimeout = .seconds(1)
            connection = try Connection(path: file, options: options)
            // Two simulators would assign the same numbers to different pushes.
            try connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            try connection.createTables(PushArchive.tables, version: PushArchive.version)
            putPush = try connection.prepare("INSERT OR REPLACE INTO pushes (number, record) VALUES (?, ?)")
            removePushes = try connection.prepare("DELETE FROM pushes WHERE number BETWEEN ? AND ?")
            putChannel = try connection.prepare(
                "INSERT OR REPLACE INTO channels (app, channel, storage) VALUES (?, ?, ?)"
            )
            removeChannel = try connection.prepare("DELETE FROM channels WHERE app = ? AND channel = ?")
            putName = try connection.prepare("INSERT OR REPLACE INTO names (token, name) VALUES (?, ?)")
            removeName = try connection.prepare("DELETE FROM names WHERE token = ?")
            putFact = try connection.prepare("INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)")
            loop = try EventLoop()
        } catch let error as SQLiteError where error.kind == .busy {
            throw SimulatorError("\(ShownValue(file)) is in use by another simulator: use another data file")
        } catch {
            throw SimulatorError("\(ShownValue(file)) cannot be used as data file: \(error)")
        }
    }

    deinit {
        loop.shutdown()
    }

    /// Returns everything that is stored.
    ///
    /// - Throws: ``SimulatorError`` when the file cannot be read.
    func contents() throws(SimulatorError) -> Contents {
        do throws(SQLiteError) {
            let facts = try connection.prepare("SELECT value FROM facts WHERE name = ?")
            try facts.bind(PushArchive.lastNumber, at: 1)
            var contents = Contents(pushes: [], lastNumber: 0, channels: [])
            if try facts.step() { contents.lastNumber = Int(facts.integer(at: 0)) }
            facts.reset()

            let channels = try connection.prepare("SELECT app, channel, storage FROM channels")
            while try channels.step() {
                let storage = ChannelStorage(rawValue: Int(channels.integer(at: 2)))
                contents.channels.append(
                    StoredChannel(
                        app: channels.text(at: 0),
                        channel: ChannelID(channels.text(at: 1)),
                        storage: storage ?? .nothing
                    )
                )
            }
            let names = try connection.prepare("SELECT token, name FROM names")
            while try names.step() { contents.names[names.text(at: 0)] = names.text(at: 1) }
            let pushes = try connection.prepare("SELECT number, record FROM pushes ORDER BY number")
            while try pushes.step() {
                let number = Int(pushes.integer(at: 0))
                if let record = try? JSONReader.read(pushes.blob(at: 1)),
                    let push = try? ReceivedPush(record: record, number: number)
                {
                    contents.pushes.append(push)
                } else {
                    contents.unreadable += 1
                }
            }
            return contents
        } catch {
            throw SimulatorError("the stored pushes cannot be read: \(error)")
        }
    }

    /// Writes changes in one transaction.
    func write(_ changes: ArchiveChanges) throws(SimulatorError) {
        do throws(SQLiteError) {
            try connection.transaction { () throws(SQLiteError) in
                for numbers in changes.forgotten {
                    try removePushes.bind(Int64(numbers.lowerBound), at: 1)
                    try removePushes.bind(Int64(numbers.upperBound), at: 2)
                    try removePushes.run()
                }
                for (number, push) in changes.pushes {
                    try putPush.bind(Int64(number), at: 1)
                    try putPush.bind(String(decoding: push.record.encoded(), as: UTF8.self), at: 2)
                    try putPush.run()
                }
                for (channel, storage) in changes.channels { try write(channel, storage) }
                for (token, name) in changes.names { try write(name, ofDevice: token) }
                try putFact.bind(PushArchive.lastNumber, at: 1)
                try putFact.bind(Int64(changes.lastNumber), at: 2)
                try putFact.run()
            }
        } catch {
            throw SimulatorError("pushes cannot be written to the data file: \(error)")
        }
    }

    private func write(_ name: String?, ofDevice token: String) throws(SQLiteError) {
        guard let name else {
            try removeName.bind(token, at: 1)
            return try removeName.run()
        }
        try putName.bind(token, at: 1)
        try putName.bind(name, at: 2)
        try putName.run()
    }

    private func write(_ channel: ArchiveChanges.Channel, _ storage: ChannelStorage?) throws(SQLiteError) {
        guard let storage else {
            try removeChannel.bind(channel.app, at: 1)
            try removeChannel.bind(channel.channel.rawValue, at: 2)
            return try removeChannel.run()
        }
        try putChannel.bind(channel.app, at: 1)
        try putChannel.bind(channel.channel.rawValue, at: 2)
        try putChannel.bind(Int64(storage.rawValue), at: 3)
        try putChannel.run()
    }
}

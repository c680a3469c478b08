// SPDX-License-Identifier: Apache-2.0

import MartletCommands
import MartletCore
import MartletOutbox
import MartletTransport
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Command {
    /// Creates the tables that several relays share, and moves the content of a file into them.
    static let relayMigrate = Command(
        "relay migrate",
        "Create the tables of a relay's database, and move a file into it",
        examples: [
            "relay migrate --configuration relay.json",
            "relay migrate --data postgresql://relay@db1,db2/push --from /var/lib/martlet/relay.sqlite",
        ],
        RelayOptions.configurationFile,
        Option<FilePath?>(
            "--data",
            "Database (postgresql://…), in place of the configuration's",
            variable: "MARTLET_RELAY_DATA"
        ),
        Option<FilePath?>("--from", "SQLite file of a stopped relay to move into the database"),
        OutputFormat.declared
    ) { configuration, data, file, output in
        let location = try data.map { OutboxLocation($0.path) } ?? RelayOptions.location(in: configuration)
        guard case .database(let address) = location else {
            throw UsageError("data must be the address of a database, postgresql://… (found \(location))")
        }
        if let rule = location.violatedRule { throw UsageError("data \(rule)") }
        if let file { try checkIsDatabase(file.path) }
        try await OutboxSchema.create(in: address)
        let created = "The tables in \(location) are ready.\n"
        guard let file else { return output.write(json: ["database": .string("\(location)")], text: created) }
        let move: OutboxMove
        do throws(OutboxError) {
            move = try await OutboxMove(from: file.path, to: address)
        } catch {
            guard error.kind == .inUse else { throw error }
            throw UsageError("--from \(ShownValue(file.path)) is in use: a relay still uses the file; stop it first")
        }
        let account = try await run(move)
        output.write(
            json: [
                "database": .string("\(location)"), "pushes": .integer(account.pushes),
                "outcomes": .integer(account.outcomes),
                "unregistered-tokens": .integer(account.unregisteredTokens),
                "installations": .integer(account.installations), "jobs": .integer(account.jobs),
            ],
            text: "\(created)Moved from \(file.path): \(account.pushes.counted("push")), "
                + "\(account.outcomes.counted("outcome")), "
                + "\(account.unregisteredTokens.counted("unregistered token")), "
                + "\(account.installations.counted("installation")), \(account.jobs.counted("job")).\n"
        )
    }
}

extension Command {
    /// Moves the content of the file and shows the progress, which ends with the scope of `async let`.
    private static func run(_ move: OutboxMove) async throws -> OutboxMove.Account {
        let moved = Mutex(OutboxMove.Account())
        async let _ = Terminal.errors.showProgress {
            let account = moved.withLock(\.self)
            return "\(account.pushes.counted("push")), \(account.outcomes.counted("outcome")) moved"
        }
        return try await move.run(at: Int64(Date().timeIntervalSince1970 * 1_000)) { account in
            moved.withLock { $0 = account }
        }
    }

    /// The beginning of every file of SQLite (https://www.sqlite.org/fileformat.html §1.3).
    private static let databaseHeader = Array("SQLite format 3\0".utf8)

    /// Checks, before the tables are created, that a file exists and is one of SQLite.
    fileprivate static func checkIsDatabase(_ path: String) throws(UsageError) {
        let start: [UInt8]
        do throws(FileError) {
            start = try FileContents.start(of: path, byteCount: databaseHeader.count)
        } catch {
            throw UsageError("--from \(error)")
        }
        guard start == databaseHeader else {
            throw UsageError("--from \(ShownValue(path)) is not the database of a relay")
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletOutbox
import OutboxModel
import TestSupport

/// The engines that the conformance suite runs on.
enum OutboxEngine: String, CaseIterable, Sendable {
    case model
    case sqlite
    case postgresql
    case sealedSQLite
    case sealedPostgreSQL

    /// The engines that store pushes outside of memory.
    static let stores = allCases.filter { $0 != .model }

    /// A place where an outbox can be opened again and again.
    func place() async throws -> Place {
        var place = Place(engine: self, directory: try ScratchDirectory(), disk: ModelOutbox.Disk())
        if self == .postgresql || self == .sealedPostgreSQL {
            let server = try await PostgreSQLServer.shared.value
            let database = try await server.makeDatabase()
            place.database = (server, database)
            try await OutboxSchema.create(in: place.address)
        }
        return place
    }

    struct Place: Sendable {
        let engine: OutboxEngine
        let directory: ScratchDirectory
        let disk: ModelOutbox.Disk
        fileprivate(set) var database: (server: PostgreSQLServer, name: String)?

        var location: OutboxLocation { database == nil ? .file(file) : .database(address) }

        var file: String { directory.path + "/outbox.sqlite" }
        /// The address of the database; empty for the other engines.
        var address: String { database.map { $0.server.address(of: $0.name) } ?? "" }

        /// Opens the outbox that is there, or makes one.
        func open(limit: Int = 1_000_000) async throws -> any OutboxStore {
            switch engine {
            case .model: return ModelOutbox(on: disk, limit: limit)
            case .sqlite, .postgresql: return try await openStore(limit: limit, isSealed: false)
            case .sealedSQLite, .sealedPostgreSQL:
                // Another key seals the outbox after many of the openings.
                let first = UInt8.random(in: 1...3)
                let keys = try SealingKeys.numbered(first, first % 3 + 1, (first + 1) % 3 + 1)
                return try await openSealed(with: keys, limit: limit)
            }
        }

        /// Opens the outbox that is there with keys.
        func openSealed(with keys: SealingKeys? = nil, limit: Int = 1_000_000) async throws -> SealedOutbox {
            let store = try await openStore(limit: limit, isSealed: true)
            let outbox = SealedOutbox(store, keys: try keys ?? .numbered(1))
            do {
                try await outbox.prepare()
            } catch {
                await store.close(isInOrder: true)
                throw error
            }
            return outbox
        }

        private func openStore(limit: Int, isSealed: Bool) async throws -> any OutboxStore {
            guard database != nil else {
                let options = SQLiteOutbox.Options(durability: .relaxed, limit: limit, isSealed: isSealed)
                return try await SQLiteOutbox(file: file, options: options)
            }
            // So long a lease that a store that has been left alone says nothing in between.
            let options = PostgreSQLOutbox.Options(limit: limit, lease: .seconds(3_600), isSealed: isSealed)
            return try await PostgreSQLOutbox(address: address, options: options)
        }

        /// The bytes of each file of the directory by its name.
        func contents() throws -> [String: Data] {
            let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
            return try names.reduce(into: [:]) { contents, name in
                contents[name] = try Data(contentsOf: URL(filePath: directory.path + "/" + name))
            }
        }

        /// Runs SQL in the database, and returns its output; empty without a database.
        @discardableResult
        func ask(_ sql: String) async throws -> String {
            guard let database else { return "" }
            return try await database.server.ask(sql, of: database.name)
        }

        /// The place as the next process finds it when the power goes now, or long after this one has died.
        func afterCrash() async throws -> Place {
            switch engine {
            case .model:
                return self
            case .sqlite, .sealedSQLite:
                let next = Place(engine: engine, directory: try ScratchDirectory(), disk: disk)
                for suffix in ["", "-wal"] {
                    try FileManager.default.copyItem(atPath: file + suffix, toPath: next.file + suffix)
                }
                return next
            case .postgresql, .sealedPostgreSQL:
                try await database?.server.ask(
                    "UPDATE martlet.node SET lease_until = '-infinity'",
                    of: database?.name ?? ""
                )
                return self
            }
        }
    }
}

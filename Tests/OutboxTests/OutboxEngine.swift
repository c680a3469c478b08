import Foundation
import Outbox
import OutboxModel
import TestSupport

/// The engines that the conformance suite runs on: what each promises is the same.
enum OutboxEngine: String, CaseIterable, Sendable {
    case model
    case sqlite

    /// A place where an outbox can be opened again and again.
    func place() throws -> Place { Place(engine: self, directory: try ScratchDirectory(), disk: ModelOutbox.Disk()) }

    struct Place: Sendable {
        let engine: OutboxEngine
        let directory: ScratchDirectory
        let disk: ModelOutbox.Disk

        private var file: String { directory.path + "/outbox.sqlite" }

        /// Opens the outbox that is there, or makes one.
        func open(limit: Int = 1_000_000) async throws -> any OutboxStore {
            switch engine {
            case .model:
                return ModelOutbox(on: disk, limit: limit)
            case .sqlite:
                let options = SQLiteOutbox.Options(durability: .relaxed, limit: limit)
                return try await SQLiteOutbox(file: file, options: options)
            }
        }

        /// The place as the next process finds it when the power goes now.
        func afterCrash() throws -> Place {
            guard engine == .sqlite else { return self }
            let next = Place(engine: engine, directory: try ScratchDirectory(), disk: disk)
            for suffix in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: file + suffix, toPath: next.file + suffix)
            }
            return next
        }
    }
}

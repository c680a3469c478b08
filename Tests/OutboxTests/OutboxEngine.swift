import Outbox
import TestSupport

/// The engines that the conformance suite runs on: what each promises is the same.
enum OutboxEngine: String, CaseIterable, Sendable {
    case sqlite

    /// A place where an outbox can be opened again and again.
    func place() throws -> Place { Place(engine: self, directory: try ScratchDirectory()) }

    struct Place: Sendable {
        let engine: OutboxEngine
        let directory: ScratchDirectory

        /// Opens the outbox that is there, or makes one.
        func open(limit: Int = 1_000_000) async throws -> any OutboxStore {
            switch engine {
            case .sqlite:
                let options = SQLiteOutbox.Options(durability: .relaxed, limit: limit)
                return try await SQLiteOutbox(file: directory.path + "/outbox.sqlite", options: options)
            }
        }
    }
}

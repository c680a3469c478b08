internal import MartletOutbox
internal import Synchronization

/// The health of the outbox, which every part of the relay reports and any thread may read.
final class OutboxHealth: Sendable {
    private let health = Mutex(StoreHealth())

    /// The current health.
    var current: StoreHealth { health.withLock { $0 } }

    /// Records the result of a write, nil for a success, and returns the change to log.
    func note(_ error: OutboxError?, at now: Int64) -> StoreHealth.Change? {
        health.withLock { $0.note(error, at: now) }
    }

    /// Records that the outbox has answered a read.
    func noteRead(at now: Int64) {
        health.withLock { $0.noteRead(at: now) }
    }
}

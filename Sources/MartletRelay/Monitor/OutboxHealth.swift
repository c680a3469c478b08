// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The health of the outbox, which every part of the relay reports and any thread may read.
final class OutboxHealth: Sendable {
    private let health = Mutex(StoreHealth())

    var current: StoreHealth { health.withLock { $0 } }

    /// Changes the health.
    func update<Result: Sendable>(_ body: (inout StoreHealth) -> Result) -> Result { health.withLock { body(&$0) } }
}

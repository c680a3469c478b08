// SPDX-License-Identifier: Apache-2.0

import MartletTransport

/// Runs code of a test on an event loop and returns its result.
actor LoopScope {
    nonisolated let loop: EventLoop

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(clock: ManualClock? = nil) throws {
        loop = try EventLoop(clock: clock)
    }

    func run<Value: Sendable>(_ body: (EventLoop) throws -> Value) rethrows -> Value {
        try body(loop)
    }

    /// Returns after the turn of the loop in which earlier calls ran.
    ///
    /// Another call of ``run(_:)`` would not do: the optimiser joins calls that follow each other into one job, and
    /// leaves out a job that does nothing.
    nonisolated func finishTurn() async {
        await withCheckedContinuation { continuation in loop.execute { continuation.resume() } }
    }

    deinit {
        loop.shutdown()
    }
}

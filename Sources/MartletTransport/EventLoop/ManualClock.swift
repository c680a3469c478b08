// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A clock that stands still until a test advances it, shared by every loop that was created with it.
package final class ManualClock: Sendable {
    private struct State {
        var now = MonotonicTime.zero
        var loops: [EventLoop] = []
    }

    private let state = Mutex(State())

    /// Creates a clock at ``MonotonicTime/zero``.
    package init() {}

    package var now: MonotonicTime { state.withLock { $0.now } }

    func add(_ loop: EventLoop) {
        state.withLock { $0.loops.append(loop) }
    }

    func remove(_ loop: EventLoop) {
        state.withLock { $0.loops.removeAll { $0 === loop } }
    }

    /// Advances the clock and returns when every loop has fired the timers that became due.
    package func advance(by duration: Duration) async {
        let loops = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            return state.loops
        }
        for loop in loops {
            await withCheckedContinuation { continuation in
                loop.execute {
                    loop.fireTimers()
                    continuation.resume()
                }
            }
        }
    }
}

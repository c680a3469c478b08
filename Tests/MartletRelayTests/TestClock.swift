// SPDX-License-Identifier: Apache-2.0

import Martlet
import Synchronization

/// A wall clock that a test sets.
final class TestClock: Sendable {
    private let seconds = Mutex<Int64>(1_795_000_000)
    var wall: WallClock { WallClock { self.seconds.withLock { $0 } } }
    /// Seconds since 1970.
    var now: Int64 { seconds.withLock { $0 } }

    func advance(by time: Int64) { seconds.withLock { $0 += time } }
}

import Synchronization
import Testing

@testable import APNsClient

@Suite struct ActivityTimestampsTests {
    @Test func `timestamps rise by a second at least, each address for itself, and fall back to the clock`() {
        let time = Mutex<Int64>(1_000)
        let timestamps = ActivityTimestamps(clock: WallClock { time.withLock { $0 } })
        let (first, second) = ("01", "02")
        #expect([1, 2, 3].map { _ in timestamps.next(for: first) } == [1_000, 1_001, 1_002])
        #expect(timestamps.next(for: second) == 1_000)
        time.withLock { $0 = 1_001 }
        #expect(timestamps.next(for: first) == 1_003)
        time.withLock { $0 = 2_000 }
        #expect(timestamps.next(for: first) == 2_000)
        // A clock that was set back, and more activities than are remembered.
        time.withLock { $0 = 1_500 }
        for number in 0..<3_000 { _ = timestamps.next(for: "\(number)") }
        #expect(timestamps.next(for: first) == 2_001)
    }
}

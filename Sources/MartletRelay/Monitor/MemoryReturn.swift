// SPDX-License-Identifier: Apache-2.0

/// Decides when freed memory is returned to the system.
///
/// The C library keeps what thousands of connections have used. Returning it takes milliseconds, so it is done once the
/// memory has grown much and grows no more, and less and less often while most of it is in use.
struct MemoryReturn {
    /// The growth in bytes since the start that makes a return worth its time.
    static let growth = 64 << 20
    /// The number of bytes that a return must free, or the next one comes later.
    private static let leastReturn = 8 << 20
    /// The maximum number of calls of ``isDue(at:)`` between two returns.
    private static let longestPause = 64

    private var lowest: Int
    private var last: Int
    /// The number of calls between returns, and of those left until the next.
    private var pause = 0
    private var callsLeft = 0

    /// Creates a decision for a process that has this many resident bytes.
    init(residentBytes: Int) {
        lowest = residentBytes
        last = residentBytes
    }

    /// Returns whether to return memory now; called at regular intervals with the resident bytes.
    mutating func isDue(at residentBytes: Int) -> Bool {
        let grows = residentBytes > last
        last = residentBytes
        lowest = min(lowest, residentBytes)
        callsLeft = max(0, callsLeft - 1)
        return !grows && callsLeft == 0 && residentBytes - lowest > MemoryReturn.growth
    }

    /// Records the resident bytes after memory has been returned.
    mutating func finished(at residentBytes: Int) {
        pause = last - residentBytes < MemoryReturn.leastReturn ? min(max(1, 2 * pause), MemoryReturn.longestPause) : 0
        callsLeft = pause
        last = residentBytes
    }
}

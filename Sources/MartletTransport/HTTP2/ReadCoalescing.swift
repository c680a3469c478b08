// SPDX-License-Identifier: Apache-2.0

/// The number of bytes that have to arrive before a busy client reads its socket again.
///
/// A client with hundreds of requests in flight that woke for each response would spend most of its time on system
/// calls and write its next requests one by one. With a low-water mark the kernel wakes it once for several responses.
/// A read after at most ``delayLimit`` limits the added latency.
struct ReadCoalescing {
    /// The number of open streams below which each response is read when it arrives.
    static let streamThreshold = 64
    /// The number of bytes to wait for per open stream; every response is longer, so the mark is always reached.
    static let bytesPerStream = 10
    /// The highest mark in bytes.
    static let byteLimit = 16_384
    /// The maximum time for which a response may stay unread.
    static let delayLimit = Duration.milliseconds(1)

    /// The current mark of the socket, in bytes.
    private(set) var mark = 1

    /// Whether a read after ``delayLimit`` is needed.
    var isActive: Bool { mark > 1 }

    /// Updates the mark for this number of open streams.
    ///
    /// - Returns: The mark to set on the socket; nil when it is unchanged. Marks are powers of two, so that they do not
    ///   change with each stream.
    mutating func openStreams(_ count: Int) -> Int? {
        var wanted = 1
        if count >= ReadCoalescing.streamThreshold {
            let bytes = min(count * ReadCoalescing.bytesPerStream, ReadCoalescing.byteLimit)
            wanted = 1 << (Int.bitWidth - 1 - bytes.leadingZeroBitCount)
        }
        guard wanted != mark else { return nil }
        mark = wanted
        return mark
    }
}

/// Decides how many bytes have to arrive before a busy client looks at its socket again.
///
/// A client with hundreds of requests in flight that woke for each single answer would spend most of its time on
/// system calls and write its next requests one by one. With a low-water mark the kernel wakes it once for many; a
/// look after ``delayLimit`` at the latest bounds what that may cost in time.
struct ReadCoalescing {
    /// With fewer streams each answer is looked at when it comes.
    static let streamThreshold = 64
    /// Bytes to wait for per open stream: no answer is shorter, so that the mark is always reached.
    static let bytesPerStream = 10
    /// No mark is higher.
    static let byteLimit = 16_384
    /// The longest an answer may lie unread.
    static let delayLimit = Duration.milliseconds(1)

    /// The mark that the socket has now.
    private(set) var mark = 1

    /// Whether a look after ``delayLimit`` is needed.
    var isActive: Bool { mark > 1 }

    /// So many streams are open now.
    ///
    /// - Returns: The mark to set on the socket; nil when it may stay. It changes by powers of two, so that it is not
    ///   set anew for each stream.
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

// SPDX-License-Identifier: Apache-2.0

/// A limit on a client's frames that cost the server time without any effect.
///
/// Neither flow control nor a limit on output restricts empty DATA, WINDOW_UPDATE, PRIORITY and similar frames (RFC
/// 9113 §10.5). Each request and each DATA frame of the server is a reason for a client to send a few of them; beyond
/// that a client has a budget of frames that grows with time. The frames are counted here because nghttp2 does not
/// report frames that it ignores.
struct HTTP2FrameBudget {
    static let burst = 10_000
    /// The time in which the budget grows by one frame, up to ``burst``.
    static let interval = Duration.milliseconds(1)
    /// The error message for a client that has sent too many.
    static let excess = "too many empty DATA, WINDOW_UPDATE, PRIORITY or unknown frames"
    /// The number of frames added for a request or a DATA frame of the server: one for its stream, one for the
    /// connection.
    private static let perCause = 2
    /// The length in octets of the shortest DATA frame that is not counted, unless it ends its stream.
    private static let leastData = 16
    /// The length in octets of the client preface before the first frame (RFC 9113 §3.4).
    private static let prefaceLength = 24

    private var left = HTTP2FrameBudget.burst
    private var updatedAt = MonotonicTime.zero
    /// The number of octets before the next frame.
    private var octetsToSkip = HTTP2FrameBudget.prefaceLength
    /// The beginning of a frame whose length, type and flags have not been received completely.
    private var start: [UInt8] = []

    mutating func sentData() { earn() }

    /// Counts the frames in the next octets; returns false when the client has sent too many.
    mutating func admits(_ octets: UnsafeRawBufferPointer, at now: MonotonicTime) -> Bool {
        var index = 0
        while true {
            let skipped = min(octetsToSkip, octets.count - index)
            octetsToSkip -= skipped
            index += skipped
            while index < octets.count, start.count < 5 {
                start.append(octets[index])
                index += 1
            }
            guard start.count == 5 else { return true }
            let length = Int(start[0]) << 16 | Int(start[1]) << 8 | Int(start[2])
            let (type, flags) = (start[3], start[4])
            start.removeAll(keepingCapacity: true)
            // The stream identifier and the payload follow.
            octetsToSkip = 4 + length
            guard count(RawFrame(type: type, flags: flags, length: length), at: now) else { return false }
        }
    }

    private struct RawFrame {
        var type: UInt8
        var flags: UInt8
        var length: Int
    }

    private mutating func count(_ frame: RawFrame, at now: MonotonicTime) -> Bool {
        switch frame.type {
        case 0:  // DATA
            let endsStream = frame.flags & 1 != 0
            return endsStream || frame.length >= HTTP2FrameBudget.leastData || spend(at: now)
        case 1:  // HEADERS
            earn()
            return true
        case 3, 4, 5, 6, 9:  // RST_STREAM, SETTINGS, PUSH_PROMISE, PING and CONTINUATION, which nghttp2 bounds
            return true
        default:  // PRIORITY, GOAWAY, WINDOW_UPDATE, and types that are not known
            return spend(at: now)
        }
    }

    private mutating func earn() {
        left = min(HTTP2FrameBudget.burst, left + HTTP2FrameBudget.perCause)
    }

    private mutating func spend(at now: MonotonicTime) -> Bool {
        if left == 0 {
            let time = now.duration(since: updatedAt) / HTTP2FrameBudget.interval
            let grown = Int(min(time, Double(HTTP2FrameBudget.burst)))
            guard grown > 0 else { return false }
            left = grown
            updatedAt = now
        }
        left -= 1
        return true
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import CMartletNghttp2

/// The limit on the number of streams that a server's client may have open, hidden from nghttp2.
///
/// A limit applies from its acknowledgement on: a client that opens streams before it has read the server's SETTINGS
/// violates nothing (RFC 9113 §6.5.3), and common clients send hundreds of requests that early.
///
/// nghttp2 ends the connection when a client exceeds a limit that it has acknowledged. RFC 9113 §5.1.2 also permits
/// REFUSED_STREAM for the one stream, after which the client may retry. Therefore nghttp2 gets the limit under an
/// identifier that it does not know, the real identifier is written into the encoded frame, and the session refuses
/// streams itself.
struct HTTP2StreamLimit {
    /// The limit before the first acknowledgement: the number of streams that APNs allows a client with a valid token.
    private static let initial: UInt32 = 1_000

    /// The limits of unacknowledged SETTINGS frames, the oldest first.
    private var pending: [UInt32] = []
    private var acknowledged = initial
    /// The limit in the last SETTINGS frame.
    private(set) var latest = initial

    /// The maximum number of unacknowledged SETTINGS frames.
    ///
    /// A server changes the limit at most once per response, and a client that reads acknowledges in order, so at most
    /// the responses to all of its streams can be pending. Twice as many also cover changes of other settings.
    private static let pendingLimit = 2_000

    /// Whether the client has left too many SETTINGS frames unacknowledged (RFC 9113 §6.5.3).
    var isOverdue: Bool { pending.count > HTTP2StreamLimit.pendingLimit }

    /// The number of open streams from which on a further one is refused.
    var current: UInt32 { pending.reduce(acknowledged, max) }

    /// Records a SETTINGS frame, with a new limit or with other settings.
    mutating func sent(_ limit: UInt32? = nil) {
        latest = limit ?? latest
        if !isOverdue { pending.append(latest) }
    }

    /// Records that the client has acknowledged the oldest SETTINGS frame.
    mutating func acknowledge() {
        guard !pending.isEmpty else { return }
        acknowledged = pending.removeFirst()
    }

    /// An identifier that no specification assigns (RFC 9113 §11.3).
    private static let placeholder: UInt16 = 0xFA03
    /// The length in octets of a frame header (§4.1), and of an entry (§6.5.1).
    private static let headerLength = 9
    private static let entryLength = 6

    /// Returns the entry to submit to nghttp2.
    static func entry(_ limit: UInt32) -> nghttp2_settings_entry {
        nghttp2_settings_entry(settings_id: Int32(placeholder), value: limit)
    }

    /// Writes the real identifier into a SETTINGS frame.
    ///
    /// - Parameters:
    ///   - output: The output, which ends with a complete frame of any type.
    ///   - start: The position at which the frame begins.
    static func writeIdentifier(into output: inout [UInt8], from start: Int) {
        guard output.count >= start + headerLength, output[start + 3] == UInt8(NGHTTP2_SETTINGS.rawValue) else {
            return
        }
        let identifier = UInt16(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue)
        for entry in stride(from: start + headerLength, to: output.count, by: entryLength)
        where output[entry] == UInt8(placeholder >> 8) && output[entry + 1] == UInt8(placeholder & 0xFF) {
            output[entry] = UInt8(identifier >> 8)
            output[entry + 1] = UInt8(identifier & 0xFF)
        }
    }
}

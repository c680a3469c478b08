/// Encoded frames between a session and its transport, collected so that they fill TLS records.
struct HTTP2Output {
    /// The size of a TLS record in bytes (RFC 8446 §5.1).
    private static let recordLength = 16 * 1024
    /// The number of queued frames from which on a client encodes them early, while their data is in the processor's
    /// caches.
    private static let earlyFrames = 12

    private var bytes: [UInt8] = []

    var isEmpty: Bool { bytes.isEmpty }

    var isFull: Bool { bytes.count >= HTTP2Output.recordLength }

    /// Takes frames from the session until they fill a record.
    mutating func fill(from session: borrowing HTTP2Session) {
        while !isFull, session.writeFrame(to: &bytes) {}
    }

    /// Takes frames from the session when at least `earlyFrames` are queued.
    mutating func fillEarly(from session: borrowing HTTP2Session) {
        if session.outputFrameCount >= HTTP2Output.earlyFrames { fill(from: session) }
    }

    mutating func write(to transport: borrowing Transport) -> Transport.Outcome {
        let outcome = bytes.withUnsafeBytes { transport.write($0) }
        if case .moved(let count) = outcome {
            if count == bytes.count { bytes.removeAll(keepingCapacity: true) } else { bytes.removeFirst(count) }
        }
        return outcome
    }
}

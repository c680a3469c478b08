/// Frames on their way from a session to its transport, gathered so that they fill TLS records.
struct HTTP2Output {
    /// Size of one TLS record (RFC 8446 §5.1).
    private static let recordLength = 16 * 1024
    /// Frames of a client that are gathered together: what they are made from is at hand still.
    private static let gatheredFrames = 12

    private var bytes: [UInt8] = []

    var isEmpty: Bool { bytes.isEmpty }

    /// Whether there is enough to fill a record.
    var isFull: Bool { bytes.count >= HTTP2Output.recordLength }

    /// Takes frames from the session, as many as fill one record.
    mutating func gather(from session: borrowing HTTP2Session) {
        while !isFull, session.writeFrame(to: &bytes) {}
    }

    /// The same, but only when `gatheredFrames` wait.
    mutating func gatherMany(from session: borrowing HTTP2Session) {
        if session.outputFrameCount >= HTTP2Output.gatheredFrames { gather(from: session) }
    }

    /// Hands the transport as much as it takes.
    mutating func write(to transport: borrowing Transport) -> Transport.Outcome {
        let outcome = bytes.withUnsafeBytes { transport.write($0) }
        if case .moved(let count) = outcome {
            if count == bytes.count { bytes.removeAll(keepingCapacity: true) } else { bytes.removeFirst(count) }
        }
        return outcome
    }
}

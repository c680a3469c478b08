// SPDX-License-Identifier: Apache-2.0

/// Encoded frames between a session and its transport, collected so that they fill TLS records.
struct HTTP2Output {
    /// The size of a TLS record in bytes (RFC 8446 §5.1).
    private static let recordLength = 16 * 1024
    /// The number of queued frames from which on a client encodes them early, while their data is in the processor's
    /// caches.
    private static let earlyFrames = 12

    /// The output that the transport has not accepted yet.
    private var bytes: [UInt8] = []
    /// Whether the socket currently accepts no output.
    private(set) var isStalled = false

    private var isFull: Bool { bytes.count >= HTTP2Output.recordLength }

    /// Writes all frames of the session, and then everything that the transport has buffered.
    ///
    /// - Returns: `.moved` when all is written; otherwise the reason why the transport did not accept the rest.
    mutating func flush(_ session: borrowing HTTP2Session, to transport: borrowing Transport) -> Transport.Outcome {
        while true {
            if bytes.isEmpty { fill(from: session) }
            guard !bytes.isEmpty else { break }
            let outcome = write(to: transport)
            guard case .moved = outcome else { return outcome }
        }
        let outcome = transport.flush()
        isStalled = if case .mustWait(let toWrite) = outcome { toWrite } else { false }
        return outcome
    }

    /// Encodes requests when at least `earlyFrames` are queued.
    ///
    /// Output encoded at the end of the turn would no longer be in the processor's caches. With TLS the transport
    /// buffers its output until it is flushed, or full.
    ///
    /// - Returns: Whether a full record has to be passed to the transport now.
    mutating func fillsEarly(from session: borrowing HTTP2Session) -> Bool {
        if session.outputFrameCount >= HTTP2Output.earlyFrames { fill(from: session) }
        return isFull && !isStalled
    }

    /// Takes frames from the session until they fill a record.
    private mutating func fill(from session: borrowing HTTP2Session) {
        while !isFull, session.writeFrame(to: &bytes) {}
    }

    /// Passes the encoded output to the transport.
    mutating func write(to transport: borrowing Transport) -> Transport.Outcome {
        let outcome = bytes.withUnsafeBytes { transport.write($0) }
        switch outcome {
        case .moved(let count):
            if count == bytes.count { bytes.removeAll(keepingCapacity: true) } else { bytes.removeFirst(count) }
        case .mustWait(let toWrite):
            isStalled = toWrite
        case .ended, .failed:
            break
        }
        return outcome
    }
}

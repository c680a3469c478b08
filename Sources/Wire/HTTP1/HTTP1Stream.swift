internal import CMicroHTTPD
internal import Synchronization

/// What a handler of an ``HTTP1Listener`` answers.
package enum HTTP1Answer: Sendable {
    /// A response that is complete.
    case whole(HTTPResponse)
    /// Status 200 with these fields, and a body that goes on for as long as there are pieces of it.
    case pieces(HTTPFields, any AsyncSequence<[UInt8], Never> & Sendable)
}

/// A body that is still being written: the handler's task puts pieces in, libmicrohttpd's thread takes them out.
///
/// It is `@unchecked Sendable` because the connection, which libmicrohttpd keeps until the body is over, is only woken
/// and laid to rest while the lock is held; everything else is behind that lock.
final class HTTP1Stream: @unchecked Sendable {
    /// Bytes that wait to be taken before the writer has to.
    private static let room = 64 * 1024
    /// What libmicrohttpd asks to be returned at the end of a body: `MHD_CONTENT_READER_END_OF_STREAM`.
    private static let end = -1
    /// What libmicrohttpd takes for a length that nobody knows: `MHD_SIZE_UNKNOWN`.
    private static let unknownSize = UInt64.max

    private struct State {
        var bytes: [UInt8] = []
        /// How much of the bytes has been taken.
        var taken = 0
        var hasEnded = false
        /// Whether the connection rests until there is something to take.
        var isResting = false
        var writer: CheckedContinuation<Void, Never>?
    }

    private let connection: OpaquePointer
    private let state = Mutex(State())

    init(on connection: OpaquePointer) {
        self.connection = connection
    }

    // MARK: Called by the handler's task

    /// Adds a piece, once there is room for it; false when nobody takes anything any more.
    func write(_ piece: [UInt8]) async -> Bool {
        await withCheckedContinuation { continuation in
            state.withLock { state in
                if state.hasEnded || state.bytes.count - state.taken < HTTP1Stream.room {
                    continuation.resume()
                } else {
                    state.writer = continuation
                }
            }
        }
        return state.withLock { state in
            guard !state.hasEnded else { return false }
            state.bytes.removeFirst(state.taken)
            state.taken = 0
            state.bytes += piece
            wake(&state)
            return true
        }
    }

    /// Nothing more will be written, or nobody takes it: what is there still goes out.
    func finish() {
        state.withLock { state in
            state.hasEnded = true
            state.writer.take()?.resume()
            wake(&state)
        }
    }

    /// The caller holds the lock.
    private func wake(_ state: inout State) {
        guard state.isResting else { return }
        state.isResting = false
        MHD_resume_connection(connection)
    }

    // MARK: Called by libmicrohttpd

    /// A response whose body this is; `onEnd` is called once it is over, however it ended.
    func response(onEnd: @escaping @Sendable () -> Void) -> OpaquePointer? {
        let reader = Unmanaged.passRetained(Reader(stream: self, onEnd: onEnd)).toOpaque()
        let made = MHD_create_response_from_callback(
            HTTP1Stream.unknownSize,
            HTTP1Stream.room,
            { reader, _, buffer, capacity in
                guard let reader, let buffer else { return HTTP1Stream.end }
                let bytes = UnsafeMutableRawBufferPointer(start: buffer, count: capacity)
                return Unmanaged<Reader>.fromOpaque(reader).takeUnretainedValue().stream.take(into: bytes)
            },
            reader,
            { reader in
                guard let reader else { return }
                let ended = Unmanaged<Reader>.fromOpaque(reader).takeRetainedValue()
                ended.stream.finish()
                ended.onEnd()
            }
        )
        if made == nil {
            Unmanaged<Reader>.fromOpaque(reader).release()
            onEnd()
        }
        return made
    }

    /// What libmicrohttpd holds for as long as it reads.
    private final class Reader {
        let stream: HTTP1Stream
        let onEnd: @Sendable () -> Void

        init(stream: HTTP1Stream, onEnd: @escaping @Sendable () -> Void) {
            self.stream = stream
            self.onEnd = onEnd
        }
    }

    /// The next bytes; the connection rests when there are none yet.
    private func take(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        state.withLock { state in
            let rest = state.bytes[state.taken...].prefix(buffer.count)
            guard rest.isEmpty else {
                buffer.copyBytes(from: rest)
                state.taken += rest.count
                if state.bytes.count - state.taken < HTTP1Stream.room { state.writer.take()?.resume() }
                return rest.count
            }
            if state.hasEnded { return HTTP1Stream.end }
            state.isResting = true
            MHD_suspend_connection(connection)
            return 0
        }
    }
}

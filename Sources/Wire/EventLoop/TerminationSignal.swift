internal import CLibuv

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Waits for the signals by which people and service managers end a program.
package enum TerminationSignal {
    /// Returns when the process has been sent `SIGINT` or `SIGTERM`.
    ///
    /// While this waits, the signals do not end the process by themselves; afterwards they do again, so that whoever
    /// asks twice is obeyed at once.
    ///
    /// - Throws: ``WireError`` of kind `.system` when the system gives no descriptor or thread.
    package static func received() async throws(WireError) {
        let loop = try EventLoop()
        await withCheckedContinuation { continuation in
            loop.execute {
                let watch = SignalWatch(of: [SIGINT, SIGTERM], on: loop) { _, watch in
                    watch.stop()
                    continuation.resume()
                }
                watch.start()
            }
        }
        loop.shutdown()
    }
}

/// What people and service managers tell a service by signals.
package enum ServiceSignal: Sendable, Hashable {
    /// It is to end: `SIGINT` or `SIGTERM`.
    case end
    /// It is to read its configuration anew: `SIGHUP`.
    case reload

    /// Watches for signals from now on; none of them ends the process by itself when this returns.
    ///
    /// - Returns: The signals. After ``end`` there are no more, and whoever asks for the end a second time is obeyed at
    ///   once.
    /// - Throws: ``WireError`` of kind `.system` when the system gives no descriptor or thread.
    package static func watch() async throws(WireError) -> AsyncStream<ServiceSignal> {
        let loop = try EventLoop()
        let (stream, continuation) = AsyncStream.makeStream(of: ServiceSignal.self)
        await withCheckedContinuation { ready in
            loop.execute {
                let watch = SignalWatch(of: [SIGINT, SIGTERM, SIGHUP], on: loop) { number, watch in
                    guard number != SIGHUP else {
                        _ = continuation.yield(.reload)
                        return
                    }
                    watch.stop()
                    // There is nothing to be read anew any more.
                    signal(SIGHUP, SIG_IGN)
                    continuation.yield(.end)
                    continuation.finish()
                    loop.shutdown()
                }
                watch.start()
                ready.resume()
            }
        }
        return stream
    }
}

/// libuv handles that tell of signals, and keep themselves alive until they are stopped.
private final class SignalWatch {
    private let handles: UnsafeMutableBufferPointer<uv_signal_t>
    private let signals: [CInt]
    private let onSignal: (CInt, SignalWatch) -> Void

    init(of signals: [CInt], on loop: EventLoop, onSignal: @escaping (CInt, SignalWatch) -> Void) {
        self.signals = signals
        self.onSignal = onSignal
        handles = .allocate(capacity: signals.count)
        for index in handles.indices { uv_signal_init(loop.loop, handles.baseAddress?.advanced(by: index)) }
    }

    deinit {
        handles.deallocate()
    }

    func start() {
        for (index, number) in signals.enumerated() {
            // Each handle keeps this object, whose memory it lies in, until the loop has closed it.
            handles[index].data = Unmanaged.passRetained(self).toOpaque()
            _ = ProcessExit.ifNotBegun {
                uv_signal_start(
                    handles.baseAddress?.advanced(by: index),
                    { handle, number in
                        guard let context = handle?.pointee.data else { return }
                        let watch = Unmanaged<SignalWatch>.fromOpaque(context).takeUnretainedValue()
                        watch.onSignal(number, watch)
                    },
                    number
                )
            }
        }
    }

    func stop() {
        for index in handles.indices {
            guard let handle = handles.baseAddress?.advanced(by: index) else { continue }
            // To close it would stop it as well, which an exit does not allow.
            guard ProcessExit.ifNotBegun({ uv_signal_stop(handle) }) != nil else { return }
            handle.withMemoryRebound(to: uv_handle_t.self, capacity: 1) { handle in
                uv_close(handle) { handle in
                    guard let context = handle?.pointee.data else { return }
                    Unmanaged<SignalWatch>.fromOpaque(context).release()
                }
            }
        }
    }
}

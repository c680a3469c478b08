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
                let watch = SignalWatch(on: loop) { continuation.resume() }
                watch.start()
            }
        }
        loop.shutdown()
    }
}

/// Two libuv handles that tell of one signal together, and keep themselves alive until they have.
private final class SignalWatch {
    private let handles = UnsafeMutablePointer<uv_signal_t>.allocate(capacity: 2)
    private var onSignal: (() -> Void)?

    init(on loop: EventLoop, onSignal: @escaping () -> Void) {
        self.onSignal = onSignal
        for index in 0..<2 { uv_signal_init(loop.loop, handles + index) }
    }

    deinit {
        handles.deallocate()
    }

    func start() {
        for (index, number) in [SIGINT, SIGTERM].enumerated() {
            // Each handle keeps this object, whose memory it lies in, until the loop has closed it.
            handles[index].data = Unmanaged.passRetained(self).toOpaque()
            uv_signal_start(
                handles + index,
                { handle, _ in
                    guard let context = handle?.pointee.data else { return }
                    Unmanaged<SignalWatch>.fromOpaque(context).takeUnretainedValue().stop()
                },
                number
            )
        }
    }

    private func stop() {
        for index in 0..<2 { uv_signal_stop(handles + index) }
        for index in 0..<2 {
            (handles + index).withMemoryRebound(to: uv_handle_t.self, capacity: 1) { handle in
                uv_close(handle) { handle in
                    guard let context = handle?.pointee.data else { return }
                    Unmanaged<SignalWatch>.fromOpaque(context).release()
                }
            }
        }
        onSignal.take()?()
    }
}

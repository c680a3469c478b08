// SPDX-License-Identifier: Apache-2.0

internal import CMartletLibuv

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The signals with which users and service managers stop a program.
package struct TerminationSignal: Sendable {
    private let signals: AsyncStream<CInt>

    /// Watches for `SIGINT` and `SIGTERM` from now on; when this returns, they do not end the process.
    ///
    /// After the first of them they do again, so that a second signal ends the process immediately.
    ///
    /// - Returns: The watch; a program begins it before it tells the user how to stop it.
    /// - Throws: ``TransportError`` of kind `.system` when the system provides no descriptor or thread.
    package static func watch() async throws(TransportError) -> TerminationSignal {
        let loop = try EventLoop()
        let (signals, continuation) = AsyncStream.makeStream(of: CInt.self)
        await withCheckedContinuation { ready in
            loop.execute {
                let watch = SignalWatch(of: [SIGINT, SIGTERM], on: loop) { number, watch in
                    watch.stop()
                    continuation.yield(number)
                    continuation.finish()
                    loop.shutdown()
                }
                watch.start()
                ready.resume()
            }
        }
        return TerminationSignal(signals: signals)
    }

    /// Returns the number of the first signal, once the process has received it; nil when the task is cancelled before.
    @discardableResult
    package func received() async -> CInt? {
        await signals.first { _ in true }
    }
}

/// A signal with which a user or a service manager controls a service.
package enum ServiceSignal: Sendable, Hashable {
    /// A request to shut down: `SIGINT` or `SIGTERM`.
    case end
    /// A request to reload the configuration: `SIGHUP`.
    case reload

    /// Watches for signals from now on; when this returns, none of them ends the process.
    ///
    /// - Returns: The signals. The stream finishes after ``end``, and a second signal to stop ends the process
    ///   immediately.
    /// - Throws: ``TransportError`` of kind `.system` when the system provides no descriptor or thread.
    package static func watch() async throws(TransportError) -> AsyncStream<ServiceSignal> {
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
                    // The service is shutting down, so it ignores requests to reload.
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

/// The libuv handles that watch signals; they keep this object alive until they are stopped.
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
            // Each handle retains this object, which owns the handle's memory, until the loop has closed the handle.
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
            // `uv_close` would also stop the handle, which is not allowed while the process exits.
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

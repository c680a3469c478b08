// SPDX-License-Identifier: Apache-2.0

internal import CMartletLibuv

/// A watcher that reports when a socket is readable or writable, with libuv's `uv_poll`; used only on its loop.
package final class SocketWatcher {
    /// The readiness of a socket, or the readiness to wait for.
    package struct Readiness: OptionSet {
        package let rawValue: CInt
        /// Data can be read, or the peer has closed the connection.
        package static let readable = Readiness(rawValue: CInt(UV_READABLE.rawValue))
        /// Data can be written.
        package static let writable = Readiness(rawValue: CInt(UV_WRITABLE.rawValue))

        /// Creates a set from the flags of libuv.
        package init(rawValue: CInt) {
            self.rawValue = rawValue
        }
    }

    private let handle = UnsafeMutablePointer<uv_poll_t>.allocate(capacity: 1)
    private var interest: Readiness = []
    private var onReady: ((Readiness) -> Void)?

    /// Watches a socket; it must not be closed before ``close()``.
    package convenience init(
        _ socket: borrowing Socket,
        on loop: EventLoop,
        onReady: @escaping (Readiness) -> Void
    ) throws(TransportError) {
        try self.init(descriptor: socket.descriptor, on: loop, onReady: onReady)
    }

    /// Watches a socket that another object owns, reads and writes.
    ///
    /// - Parameters:
    ///   - descriptor: The socket. It must not be closed before ``close()``.
    ///   - loop: The event loop; the caller must be on it.
    ///   - onReady: Receives the readiness of the socket.
    /// - Throws: ``TransportError`` of kind `.system` when the socket cannot be watched.
    package init(descriptor: CInt, on loop: EventLoop, onReady: @escaping (Readiness) -> Void) throws(TransportError) {
        loop.checkIsolated()
        self.onReady = onReady
        let status = uv_poll_init_socket(loop.loop, handle, descriptor)
        guard status == 0 else {
            throw TransportError(.system, "cannot watch a socket: \(uvMessage(status))")
        }
        // libuv retains the watcher until `uv_close` has closed the handle.
        handle.pointee.data = Unmanaged.passRetained(self).toOpaque()
    }

    deinit {
        handle.deallocate()
    }

    /// Waits for this readiness; an empty set stops waiting.
    package func wait(for interest: Readiness) {
        guard onReady != nil, interest != self.interest else { return }
        self.interest = interest
        guard !interest.isEmpty else {
            uv_poll_stop(handle)
            return
        }
        uv_poll_start(handle, interest.rawValue) { handle, status, events in
            guard let data = handle?.pointee.data else { return }
            let watcher = Unmanaged<SocketWatcher>.fromOpaque(data).takeUnretainedValue()
            if status < 0 { watcher.becameFaulty() } else { watcher.onReady?(Readiness(rawValue: events)) }
        }
    }

    /// Reports the socket as ready, so that the owner gets the error from its next read or write.
    ///
    /// Data received before the error may have to be read first, so the watcher, which libuv has stopped, is restarted.
    private func becameFaulty() {
        let interest = self.interest
        self.interest = []
        wait(for: interest)
        onReady?(interest)
    }

    /// Stops watching permanently; must be called before the socket is closed.
    package func close() {
        guard onReady != nil else { return }
        onReady = nil
        uv_poll_stop(handle)
        handle.withMemoryRebound(to: uv_handle_t.self, capacity: 1) { handle in
            uv_close(handle) { handle in
                guard let data = handle?.pointee.data else { return }
                Unmanaged<SocketWatcher>.fromOpaque(data).release()
            }
        }
    }
}

internal import CLibuv

/// Tells when a socket can be read or written, through libuv's `uv_poll`; lives on its loop.
package final class SocketWatcher {
    /// What a socket is ready for, or is waited for.
    package struct Readiness: OptionSet {
        /// libuv's bits.
        package let rawValue: CInt
        /// Something can be read, or the peer has closed.
        package static let readable = Readiness(rawValue: CInt(UV_READABLE.rawValue))
        /// Something can be written.
        package static let writable = Readiness(rawValue: CInt(UV_WRITABLE.rawValue))

        /// libuv's bits.
        package init(rawValue: CInt) {
            self.rawValue = rawValue
        }
    }

    private let handle = UnsafeMutablePointer<uv_poll_t>.allocate(capacity: 1)
    private var interest: Readiness = []
    private var onReady: ((Readiness) -> Void)?

    convenience init(
        _ socket: borrowing Socket,
        on loop: EventLoop,
        onReady: @escaping (Readiness) -> Void
    ) throws(WireError) {
        try self.init(descriptor: socket.descriptor, on: loop, onReady: onReady)
    }

    /// Watches a socket that somebody else owns, and reads and writes.
    ///
    /// - Parameters:
    ///   - descriptor: The socket. It must not be closed before ``close()``.
    ///   - loop: Where it is watched; the caller is on it.
    ///   - onReady: Told what it is ready for.
    /// - Throws: ``WireError`` of kind `.system` when it cannot be watched.
    package init(descriptor: CInt, on loop: EventLoop, onReady: @escaping (Readiness) -> Void) throws(WireError) {
        loop.checkIsolated()
        self.onReady = onReady
        let status = uv_poll_init_socket(loop.loop, handle, descriptor)
        guard status == 0 else {
            throw WireError(.system, "cannot watch a socket: \(uvMessage(status))")
        }
        // libuv holds the watcher until `uv_close` is through with the handle.
        handle.pointee.data = Unmanaged.passRetained(self).toOpaque()
    }

    deinit {
        handle.deallocate()
    }

    /// Waits for these; an empty set waits for nothing.
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

    /// Leaves it to the owner to meet the error, with its own words, where it reads or writes.
    ///
    /// What came before the error may have to be read first, so the watching, which libuv has stopped, goes on.
    private func becameFaulty() {
        let interest = self.interest
        self.interest = []
        wait(for: interest)
        onReady?(interest)
    }

    /// Stops for good; must come before the socket is closed.
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

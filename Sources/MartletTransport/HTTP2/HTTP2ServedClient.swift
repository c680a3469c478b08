// SPDX-License-Identifier: Apache-2.0

/// A server's state of one client beside the protocol: its timeouts, its part of the server's load, and the progress of
/// a graceful shutdown.
struct HTTP2ServedClient {
    private enum Shutdown {
        /// No shutdown has begun. Can become `announced`.
        case none
        /// A GOAWAY without a limit has been sent, and the client may still open streams. Becomes `final` when the
        /// client acknowledges a PING, or after a time limit.
        case announced(debugData: [UInt8])
        /// The final GOAWAY has been sent.
        case final
    }

    var timeouts: HTTP2IdleMonitor
    let load: HTTP2ServerLoad
    /// The memory of incomplete requests and unread responses that was added to the load, in bytes.
    private(set) var heldBytes = 0
    /// Whether the client has shown valid credentials.
    private(set) var isAuthenticated = false
    private var shutdown = Shutdown.none

    init(_ timeouts: HTTP2IdleMonitor, load: HTTP2ServerLoad) {
        self.timeouts = timeouts
        self.load = load
    }

    /// Updates the load when the memory of incomplete requests and unread responses has changed.
    mutating func count(heldBytes bytes: Int) {
        guard bytes != heldBytes else { return }
        let change = bytes - heldBytes
        heldBytes = bytes
        load.add(heldBytes: change, isAuthenticated: isAuthenticated)
    }

    /// Records that the client has shown valid credentials.
    mutating func authenticated() {
        guard !isAuthenticated else { return }
        let bytes = heldBytes
        count(heldBytes: 0)
        isAuthenticated = true
        count(heldBytes: bytes)
    }

    /// Begins a graceful shutdown; returns false when one has begun already.
    mutating func announceShutdown(debugData: [UInt8]) -> Bool {
        guard case .none = shutdown else { return false }
        shutdown = .announced(debugData: debugData)
        return true
    }

    /// Ends a graceful shutdown.
    ///
    /// - Returns: The debug data for the final GOAWAY; nil when none has to be sent.
    mutating func finishShutdown() -> [UInt8]? {
        guard case .announced(let debugData) = shutdown else { return nil }
        shutdown = .final
        return debugData
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import MartletTransport

/// The open connections of an outbox and the event loops that serve them, both closed by its `deinit`.
///
/// A separate class because the `deinit` of an actor may not access values that are not `Sendable`, and an
/// `isolated deinit` needs macOS 15.4 and fails in the optimizer of Swift 6.3.1 ("circular reference").
final class ConnectionTable {
    let loop: EventLoop
    /// The event loop on which connections are opened, which may block for as long as a server does not answer.
    let connecting: EventLoop
    var connections: [DatabaseConnections.Purpose: PipelinedConnection] = [:]

    init() throws(TransportError) {
        loop = try EventLoop()
        do throws(TransportError) {
            connecting = try EventLoop()
        } catch {
            // Without all its properties the table has no `deinit`.
            loop.shutdown()
            throw error
        }
    }

    deinit {
        // Unchecked because nothing else refers to the connections by now, so they can move to their loop.
        nonisolated(unsafe) let connections = Array(connections.values)
        loop.execute { for connection in unsafe connections { connection.close() } }
        loop.shutdown()
        connecting.shutdown()
    }
}

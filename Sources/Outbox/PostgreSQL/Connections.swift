internal import Wire

/// The connections of an outbox and the loops that serve them; releasing it closes both.
///
/// It exists for its `deinit`: an actor's own may not touch what is not `Sendable`, and an `isolated deinit` needs
/// macOS 15.4 and stops the optimiser of Swift 6.3.1 ("circular reference").
final class Connections {
    /// Runs the outbox and its connections.
    let loop: EventLoop
    /// Opens connections, which may block for as long as a server does not answer.
    let connecting: EventLoop
    /// The open connections.
    var links: [PostgreSQLOutbox.Purpose: Link] = [:]

    init() throws(WireError) {
        loop = try EventLoop()
        connecting = try EventLoop()
    }

    deinit {
        // Unchecked because nothing else refers to the links by now, so they can move to their loop.
        nonisolated(unsafe) let links = Array(links.values)
        loop.execute { for link in unsafe links { link.close() } }
        loop.shutdown()
        connecting.shutdown()
    }
}

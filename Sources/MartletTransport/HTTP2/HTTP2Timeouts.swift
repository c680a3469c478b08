// SPDX-License-Identifier: Apache-2.0

/// The timeouts of a server's clients, which keep unresponsive clients from occupying memory and connections.
package struct HTTP2Timeouts: Sendable, Hashable {
    /// The timeout of the TLS handshake and the client's first SETTINGS together, from the connection's start.
    package var handshake: Duration
    /// The timeout of a whole request, from its first byte, and of the delivery of its response; then its stream is
    /// reset.
    package var request: Duration
    /// The timeout for a client that reads none of its output.
    package var output: Duration
    /// The timeout for a connection on which nothing is received, not even a PING.
    package var idle: Duration

    /// Creates timeouts, by default 30 seconds each for the handshake, a request and output, and one hour without
    /// input.
    package init(
        handshake: Duration = .seconds(30),
        request: Duration = .seconds(30),
        output: Duration = .seconds(30),
        idle: Duration = .seconds(3_600)
    ) {
        self.handshake = handshake
        self.request = request
        self.output = output
        self.idle = idle
    }
}

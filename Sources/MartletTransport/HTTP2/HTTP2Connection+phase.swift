extension HTTP2Connection {
    enum Phase {
        /// The connection has not been started. Can become `dialing` (clients), `handshaking` (servers) or `closed`.
        case idle
        /// The host name is resolved and a socket connected. Can become `tunnelling`, `handshaking` or `closed`.
        case dialing(Dialer)
        /// The proxy is asked for a tunnel to the server. Can become `handshaking` or `closed`.
        case tunnelling(ProxyTunnel)
        /// The TLS handshake is performed. Can become `open` or `closed`.
        case handshaking
        /// Requests and responses are exchanged. Can become `ending`, `draining` or `closed`.
        case open
        /// The peer has violated the protocol: the last output, with a GOAWAY, is written, and nothing more is read.
        /// Can become `draining` or `closed`.
        case ending(TransportError)
        /// All output has been sent, and input is read and discarded until the client closes the connection (servers
        /// only). Can become `closed`.
        case draining(TransportError)
        /// The connection is closed, and its end has been reported.
        case closed
    }

    /// The progress of a graceful shutdown (servers only).
    enum Shutdown {
        /// No shutdown has begun. Can become `announced`.
        case none
        /// A GOAWAY without a limit has been sent, and the client may still open streams. Becomes `final` when the
        /// client acknowledges a PING, or after a time limit.
        case announced(debugData: [UInt8])
        /// The final GOAWAY has been sent.
        case final
    }
}

// SPDX-License-Identifier: Apache-2.0

extension HTTP2Connection {
    enum Phase {
        /// The connection has not been started. Can become `dialing` (clients), `handshaking` (servers) or `closed`.
        case idle(EndpointDialer?)
        /// A socket is connected to the server, directly or through a proxy. Can become `handshaking` or `closed`.
        case dialing(EndpointDialer)
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
}

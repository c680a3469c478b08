// SPDX-License-Identifier: Apache-2.0

/// An error below the HTTP layer, with a kind for code and a message for people.
package struct TransportError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of failure.
    package enum Kind: Sendable, Hashable {
        /// The system provided no descriptor, thread or option.
        case system
        /// The name has no address, or the resolver did not respond.
        case nameNotResolved
        /// No address accepted the connection.
        case connectionRefused
        /// The operation exceeded its timeout.
        case timedOut
        /// The peer's certificate is not trusted, or the peer did not trust this side's certificate.
        case certificateRejected
        /// The peer does not use TLS, or the handshake failed for another reason.
        case tlsFailed
        /// The peer did not agree to HTTP/2.
        case notHTTP2
        /// A certificate, key or CA file cannot be used.
        case badCredentials
        /// The peer closed the connection.
        case closedByPeer
        /// The peer violated the protocol.
        case protocolViolation
        /// This side closed the connection.
        case closedLocally
        /// The server cannot listen on an address.
        case cannotListen
        /// The address to listen on is not an address of this machine, or the system has no addresses of its family.
        case addressNotAvailable
    }

    package var kind: Kind
    /// The error message, a sentence without the final full stop.
    package var description: String

    /// Creates an error of this kind with a message, a sentence without the final full stop.
    package init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}

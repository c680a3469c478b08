/// What went wrong below HTTP: a kind that code can switch on and a sentence for people.
package struct WireError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of failure.
    package enum Kind: Sendable, Hashable {
        /// The system refused a descriptor, thread or option.
        case system
        /// The name has no address, or the resolver gave no answer.
        case nameNotResolved
        /// No address accepted the connection.
        case connectionRefused
        /// It took longer than allowed.
        case timedOut
        /// The peer's certificate is not trusted, or the peer did not trust ours.
        case certificateRejected
        /// The peer does not speak TLS, or the handshake broke for another reason.
        case tlsFailed
        /// The peer did not agree to HTTP/2.
        case notHTTP2
        /// A certificate, key or CA file cannot be used.
        case badCredentials
        /// The peer closed the connection.
        case closedByPeer
        /// The peer broke the rules of HTTP/2.
        case protocolViolation
        /// This side closed the connection.
        case closedLocally
        /// An address cannot be listened on.
        case cannotListen
        /// An address to listen on is none of this machine's.
        case addressNotAvailable
    }

    /// The kind of failure.
    package var kind: Kind
    /// What happened, in a sentence without the final stop.
    package var description: String

    /// A failure of this kind, described in a sentence without the final stop.
    package init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}

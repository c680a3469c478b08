// SPDX-License-Identifier: Apache-2.0

package import MartletTransport

/// The server's side of a client's connection; used only on the listener's loop.
package final class ClientConnection {
    /// The number of the connection, from 1, in the order in which handshakes succeed or fail on all listeners that
    /// share a ``ConnectionNumbering``.
    package let id: Int
    /// The properties of the client's certificate; nil when it has presented none.
    package let certificate: CertificateFacts?
    /// The parameters negotiated in the TLS handshake; nil in cleartext.
    package let security: TransportSecurity?
    private let connection: HTTP2Connection
    /// The number of refused streams that were reported to the owner.
    private var reportedRefusals = 0

    init(id: Int, _ connection: HTTP2Connection) {
        self.id = id
        self.connection = connection
        certificate = connection.peerCertificate
        security = connection.security
    }

    /// The client's address with its port.
    package var peer: String { connection.peer }

    /// The number of open streams.
    package var openStreamCount: Int { connection.openStreamCount }

    /// The number of streams that were refused because the client had too many open, or too many responses were
    /// pending.
    package var refusedStreamCount: Int { connection.refusedStreamCount }

    /// Returns the number of streams that were refused since the last call; nil for none.
    func takeRefusals() -> Int? {
        let count = refusedStreamCount - reportedRefusals
        reportedRefusals += count
        return count > 0 ? count : nil
    }

    /// The number of streams that the client has reset.
    package var resetStreamCount: Int { connection.resetStreamCount }

    /// The last GOAWAY frame that was written to the client; nil when there was none.
    package var goAwaySent: HTTP2GoAway? { connection.goAwaySent }

    /// Whether the client has shown valid credentials.
    package var isAuthenticated: Bool { connection.isAuthenticated }

    /// Records that the client has shown valid credentials: for lack of memory, the server first closes connections of
    /// clients that have not.
    package func authenticated() {
        connection.authenticated()
    }

    /// Changes the maximum number of streams that the client may have open at once.
    package func allow(concurrentStreams: UInt32) {
        connection.allow(concurrentStreams: concurrentStreams)
    }

    /// Changes the flow-control window of the client's streams, in octets.
    package func allow(octetsPerStream: UInt32) {
        connection.allow(octetsPerStream: octetsPerStream)
    }

    /// Sends a GOAWAY; streams up to `lastStreamID`, by default all existing ones, are still processed.
    package func goAway(_ code: HTTP2ErrorCode, debugData: [UInt8], lastStreamID: Int32?) {
        connection.goAway(code, debugData: debugData, lastStreamID: lastStreamID)
    }

    /// Shuts down gracefully: announces a GOAWAY with the highest possible stream identifier, and sends one with the
    /// last stream when every stream that was being opened has arrived.
    package func shutDown(debugData: [UInt8]) {
        connection.shutDown(debugData: debugData)
    }

    /// Closes the connection in order; open streams end as broken.
    package func close() {
        connection.close(TransportError(.closedLocally, "the server closed the connection"))
    }

    /// Closes the connection with a TCP reset.
    package func abort() {
        connection.abort()
    }
}

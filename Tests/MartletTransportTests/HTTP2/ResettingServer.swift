// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport

@testable import MartletTransport

/// A server that accepts one client, and closes its connection with a GOAWAY and a reset.
///
/// Unchecked because `accept()` sets the client before `send(_:)` and `reset()` are called.
final class ResettingServer: @unchecked Sendable {
    private enum Failure: Error {
        case address
        case accept
        case handshake
    }

    let port: UInt16
    /// The TLS context for its client; nil without TLS.
    let trust: TLSContext?
    private let identity: TLSContext?
    private let listening: Socket
    private var client: Reference<Transport>?

    init(tls: Bool) throws {
        guard let address = SocketAddress(literal: "127.0.0.1", port: 0) else { throw Failure.address }
        listening = try Socket(for: address)
        try listening.bind(to: address)
        try listening.listen()
        // On a thread of its own everything may wait.
        _ = fcntl(listening.descriptor, F_SETFL, 0)
        // The socket of the client inherits this timeout.
        var timeout = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(listening.descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        port = listening.localAddress?.port ?? 0
        guard tls else {
            (trust, identity) = (nil, nil)
            return
        }
        let authority = try CertificateAuthority()
        let issued = try authority.issueServerCertificate(dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"])
        identity = try .server(
            identity: .init(certificateChainPEM: issued.certificatePEM, privateKeyPEM: issued.keyPEM)
        )
        trust = try .client(authorities: authority.certificatePEM())
    }

    /// Accepts a client and completes the handshake.
    func accept() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            Thread.detachNewThread { continuation.resume(with: Result { try self.acceptOnThisThread() }) }
        }
    }

    private func acceptOnThisThread() throws {
        // A client that has gone is an error here, too.
        var signals = sigset_t()
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        guard case .accepted(let accepted, _) = listening.accept() else { throw Failure.accept }
        let socket = Reference(accepted)
        _ = fcntl(socket.value.descriptor, F_SETFL, 0)
        let transport = try Transport(socket, tls: identity, peerName: "the client")
        guard case .moved = transport.handshake() else { throw Failure.handshake }
        client = Reference(transport)
    }

    /// Sends bytes, in one TLS record if they fit.
    func send(_ bytes: [UInt8]) {
        _ = bytes.withUnsafeBytes { client?.value.write($0) }
        _ = client?.value.flush()
    }

    /// Sends a GOAWAY and resets the connection.
    func reset() {
        let bytes = RawHTTP2.frame(.settings) + RawHTTP2.frame(.goAway, [UInt8](repeating: 0, count: 8))
        send(bytes)
        client?.value.resetOnClose()
        client = nil
    }
}

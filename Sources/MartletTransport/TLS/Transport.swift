// SPDX-License-Identifier: Apache-2.0

internal import CMartletOpenSSL

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The reading and writing side of a connected socket, in cleartext or with TLS.
///
/// OpenSSL uses the socket directly, with one buffer in each direction.
package struct Transport: ~Copyable {
    /// The result of an attempt to read, write or perform a handshake.
    package enum Outcome {
        /// The number of bytes that were read or written.
        case moved(Int)
        /// No progress is possible now: wait until the socket is readable, or writable.
        case mustWait(toWrite: Bool)
        /// The peer has closed the connection in order.
        case ended
        /// The connection is broken.
        case failed(TransportError)
    }

    /// The capacity for several TLS records, so that one system call, and one packet on the loopback interface, sends
    /// all of them.
    private static let writeBufferLength = 64 * 1024

    /// The capacity for more than a hundred responses, or one maximum-size record.
    private static let readBufferLength = 16 * 1024

    /// The alerts with which a peer rejects a certificate (RFC 8446 §6.2).
    private static let certificateAlerts: Set<CInt> = [
        SSL_R_SSLV3_ALERT_BAD_CERTIFICATE, SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED,
        SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED, SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN,
        SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE, SSL_R_TLSV1_ALERT_ACCESS_DENIED, SSL_R_TLSV1_ALERT_UNKNOWN_CA,
        SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED,
    ]

    private let socket: Reference<Socket>
    private let ssl: OpaquePointer?
    private let peerName: String
    private let needsHTTP2: Bool

    /// Creates a transport in cleartext, or one that starts TLS with ``handshake()``.
    ///
    /// - Parameters:
    ///   - socket: The connected socket.
    ///   - tls: The TLS settings; nil for cleartext.
    ///   - peerName: The name or address literal that a server's certificate must have; otherwise used only in
    ///     messages.
    /// - Throws: ``TransportError`` of kind `.system` when memory cannot be allocated.
    package init(_ socket: Reference<Socket>, tls: TLSContext?, peerName: String) throws(TransportError) {
        self.peerName = peerName
        needsHTTP2 = tls?.needsHTTP2 ?? false
        guard let tls else {
            self.socket = socket
            ssl = nil
            return
        }
        guard let ssl = SSL_new(tls.context) else {
            throw TransportError(.system, "cannot start TLS: \(openSSLMessage())")
        }
        guard Transport.connect(ssl, to: socket.value.descriptor),
            tls.isServer || Transport.expect(peerName, from: ssl)
        else {
            SSL_free(ssl)
            throw TransportError(.system, "cannot start TLS with \(peerName): \(openSSLMessage())")
        }
        if tls.isServer { SSL_set_accept_state(ssl) } else { SSL_set_connect_state(ssl) }
        self.socket = socket
        self.ssl = ssl
    }

    deinit {
        SSL_free(ssl)
    }

    /// Makes OpenSSL check the server's certificate for the name or address; returns false when this cannot be set up,
    /// because any certificate would then be accepted.
    private static func expect(_ peerName: String, from ssl: OpaquePointer) -> Bool {
        guard SocketAddress(literal: peerName, port: 0) != nil else {
            return SSL_set1_host(ssl, peerName) == 1 && martlet_SSL_set_tlsext_host_name(ssl, peerName) == 1
        }
        // A certificate contains an address without its zone identifier (RFC 4007 §11).
        let address = peerName.prefix { $0 != "%" }
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), String(address)) == 1
    }

    /// Continues the TLS handshake; returns `.moved(0)` when it is complete, in cleartext immediately.
    func handshake() -> Outcome {
        guard let ssl else { return .moved(0) }
        ERR_clear_error()
        let status = SSL_do_handshake(ssl)
        guard status == 1 else { return failure(status, during: "the TLS handshake") }
        if needsHTTP2, SSL_is_server(ssl) == 0, !agreedOnHTTP2 {
            return .failed(TransportError(.notHTTP2, "\(peerName) did not select HTTP/2 in the TLS handshake (ALPN)"))
        }
        return .moved(0)
    }

    /// Reads until the buffer is full or no more data is available, so that many small records are processed together.
    ///
    /// - Parameters:
    ///   - buffer: The destination.
    ///   - count: The number of bytes read, for every outcome.
    /// - Returns: `.moved` when the buffer is full, otherwise the reason why no more was read.
    package func fill(_ buffer: UnsafeMutableRawBufferPointer, _ count: inout Int) -> Outcome {
        // OpenSSL reports a failure through its error queue, in which older entries would be misleading.
        if ssl != nil { ERR_clear_error() }
        while count < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
            let outcome = read(into: rest)
            guard case .moved(let more) = outcome else { return outcome }
            count += more
        }
        return .moved(count)
    }

    private func read(into buffer: UnsafeMutableRawBufferPointer) -> Outcome {
        guard let ssl else {
            let count = recv(socket.value.descriptor, buffer.baseAddress, buffer.count, 0)
            return plain(count, during: "reading")
        }
        let count = SSL_read(ssl, buffer.baseAddress, CInt(clamping: buffer.count))
        return count > 0 ? .moved(Int(count)) : failure(count, during: "reading")
    }

    /// Makes OpenSSL read and write through a buffer for several records, so that they are received and sent together;
    /// see ``flush()``.
    ///
    /// OpenSSL's own read-ahead moves all buffered data for each record, and a response of APNs is a record of a
    /// hundred bytes.
    private static func connect(_ ssl: OpaquePointer, to descriptor: CInt) -> Bool {
        guard let socket = BIO_new_socket(descriptor, BIO_NOCLOSE) else { return false }
        guard let buffer = BIO_new(BIO_f_buffer()) else {
            BIO_free(socket)
            return false
        }
        _ = martlet_BIO_set_read_buffer_size(buffer, Transport.readBufferLength)
        _ = martlet_BIO_set_write_buffer_size(buffer, Transport.writeBufferLength)
        let buffered = BIO_push(buffer, socket)
        SSL_set_bio(ssl, buffered, buffered)
        return true
    }

    /// Writes the output that ``write(_:)`` has buffered; returns `.moved(0)` when all of it is written.
    func flush() -> Outcome {
        guard let ssl, let output = SSL_get_wbio(ssl) else { return .moved(0) }
        ERR_clear_error()
        if martlet_BIO_flush(output) > 0 { return .moved(0) }
        let number = errno
        if BIO_test_flags(output, BIO_FLAGS_SHOULD_RETRY) != 0 { return .mustWait(toWrite: true) }
        return .failed(TransportError(.closedByPeer, "writing to \(peerName) failed: \(Socket.message(number))"))
    }

    /// Accepts as many bytes as fit; with TLS, ``flush()`` writes them to the socket.
    package func write(_ bytes: UnsafeRawBufferPointer) -> Outcome {
        guard let ssl else {
            let count = send(socket.value.descriptor, bytes.baseAddress, bytes.count, 0)
            return plain(count, during: "writing")
        }
        ERR_clear_error()
        let count = SSL_write(ssl, bytes.baseAddress, CInt(clamping: bytes.count))
        return count > 0 ? .moved(Int(count)) : failure(count, during: "writing")
    }

    /// Makes the socket readable only when this many bytes have arrived.
    func setLowWaterMark(_ bytes: Int) {
        socket.value.setLowWaterMark(bytes)
    }

    /// The properties of the peer's certificate; nil when it has presented none.
    var peerCertificate: CertificateFacts? {
        guard let ssl, let raw = SSL_get1_peer_certificate(ssl) else { return nil }
        // The callback of `TLSContext.server` accepts untrusted certificates, but leaves the verification result
        // unchanged.
        let isIssuedByAuthority = SSL_get_verify_result(ssl) == Int(X509_V_OK)
        return CertificateFacts(Certificate(adopting: raw), isIssuedByAuthority: isIssuedByAuthority)
    }

    /// The parameters negotiated in the TLS handshake; nil in cleartext.
    var security: TransportSecurity? {
        guard let ssl, let version = SSL_get_version(ssl) else { return nil }
        return TransportSecurity(version: String(cString: version), isHTTP2Agreed: agreedOnHTTP2)
    }

    /// Makes closing the socket send a reset to the peer.
    func resetOnClose() {
        socket.value.resetOnClose()
    }

    /// Notifies the peer that no more data follows.
    package func closeWriting() {
        guard let ssl else {
            shutdown(socket.value.descriptor, CInt(SHUT_WR))
            return
        }
        ERR_clear_error()
        SSL_shutdown(ssl)
    }

    private var agreedOnHTTP2: Bool {
        var name: UnsafePointer<UInt8>?
        var length: CUnsignedInt = 0
        SSL_get0_alpn_selected(ssl, &name, &length)
        return UnsafeBufferPointer(start: name, count: Int(length)).elementsEqual("h2".utf8)
    }

    private func plain(_ count: Int, during what: String) -> Outcome {
        if count > 0 { return .moved(count) }
        if count == 0 { return .ended }
        switch errno {
        case EAGAIN, EINTR: return .mustWait(toWrite: what == "writing")
        default:
            return .failed(TransportError(.closedByPeer, "\(what) from \(peerName) failed: \(Socket.message(errno))"))
        }
    }

    private func failure(_ status: CInt, during what: String) -> Outcome {
        let number = errno
        switch SSL_get_error(ssl, status) {
        case SSL_ERROR_WANT_READ: return .mustWait(toWrite: false)
        case SSL_ERROR_WANT_WRITE: return .mustWait(toWrite: true)
        case SSL_ERROR_ZERO_RETURN: return .ended
        case SSL_ERROR_SYSCALL where ERR_peek_error() == 0:
            let text = "the connection to \(peerName) was lost during \(what): \(Socket.message(number))"
            return .failed(TransportError(.closedByPeer, text))
        default: break
        }
        let verification = SSL_get_verify_result(ssl)
        if verification != Int(X509_V_OK), SSL_is_server(ssl) == 0 {
            let why = X509_verify_cert_error_string(verification).map { String(cString: $0) } ?? "unknown"
            ERR_clear_error()
            let text = "the certificate of \(peerName) is not trusted: \(why)"
            return .failed(TransportError(.certificateRejected, text))
        }
        let code = ERR_GET_REASON(ERR_peek_error())
        if code == SSL_R_CERTIFICATE_VERIFY_FAILED {
            let why = X509_verify_cert_error_string(verification).map { String(cString: $0) } ?? "unknown"
            ERR_clear_error()
            return .failed(TransportError(.certificateRejected, "the certificate of \(peerName) was refused: \(why)"))
        }
        let message = openSSLMessage()
        if code == SSL_R_UNEXPECTED_EOF_WHILE_READING {
            return .failed(TransportError(.closedByPeer, "\(peerName) closed the connection during \(what)"))
        }
        let isServer = SSL_is_server(ssl) != 0
        if Transport.certificateAlerts.contains(code) {
            let text =
                isServer
                ? "\(peerName) does not trust the server's certificate"
                : "\(peerName) did not accept this side's certificate"
            return .failed(TransportError(.certificateRejected, "\(text): \(message)"))
        }
        if code == SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL {
            return .failed(TransportError(.notHTTP2, "\(peerName) does not support HTTP/2 (\(message))"))
        }
        // The errors that OpenSSL reports for a peer that responds in cleartext.
        let isClear = [SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST, SSL_R_PACKET_LENGTH_TOO_LONG].contains(code)
        if isClear, isServer {
            let data = code == SSL_R_HTTP_REQUEST ? "plain HTTP" : "data that is not TLS"
            return .failed(TransportError(.tlsFailed, "\(peerName) sent \(data) to a port with TLS"))
        }
        let guess = isClear ? "; the server may not use TLS on this port" : ""
        return .failed(TransportError(.tlsFailed, "TLS with \(peerName) failed during \(what): \(message)\(guess)"))
    }
}

/// The parameters negotiated in a TLS handshake.
package struct TransportSecurity: Sendable, Hashable {
    /// The protocol version, such as `TLSv1.3`.
    package let version: String
    /// Whether HTTP/2 was negotiated with ALPN (RFC 7301).
    package let isHTTP2Agreed: Bool
}

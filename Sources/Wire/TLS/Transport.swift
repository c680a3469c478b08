internal import COpenSSL

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Reads and writes a connected socket, in the clear or through TLS on the same socket.
///
/// OpenSSL works on the socket itself, through one buffer each way.
struct Transport: ~Copyable {
    /// What came of one attempt to move bytes.
    enum Outcome {
        case moved(Int)
        /// Nothing more for now: wait until the socket is readable, or writable.
        case mustWait(toWrite: Bool)
        /// The peer has closed in order.
        case ended
        case failed(WireError)
    }

    /// Room for several TLS records: one system call, and one packet on the loopback interface, for all of them.
    private static let writeBufferLength = 64 * 1024

    /// Room for more than a hundred answers, or one record.
    private static let readBufferLength = 16 * 1024

    /// How a peer says that it does not accept a certificate (RFC 8446 §6.2).
    private static let certificateAlerts: Set<CInt> = [
        SSL_R_SSLV3_ALERT_BAD_CERTIFICATE, SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED,
        SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED, SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN,
        SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE, SSL_R_TLSV1_ALERT_ACCESS_DENIED, SSL_R_TLSV1_ALERT_UNKNOWN_CA,
        SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED,
    ]

    private let socket: Box<Socket>
    private let ssl: OpaquePointer?
    private let peerName: String
    private let needsHTTP2: Bool

    /// A transport in the clear, or one that starts TLS with ``handshake()``.
    ///
    /// - Parameters:
    ///   - socket: The connected socket.
    ///   - tls: The TLS settings; nil for the clear.
    ///   - peerName: The name or address literal that a server's certificate must carry; for messages otherwise.
    /// - Throws: ``WireError`` of kind `.system` without memory.
    init(_ socket: Box<Socket>, tls: TLSContext?, peerName: String) throws(WireError) {
        self.peerName = peerName
        needsHTTP2 = tls?.needsHTTP2 ?? false
        guard let tls else {
            self.socket = socket
            ssl = nil
            return
        }
        guard let ssl = SSL_new(tls.context) else {
            throw WireError(.system, "cannot start TLS: \(openSSLMessage())")
        }
        guard Transport.connect(ssl, to: socket.value.descriptor),
            tls.isServer || Transport.expect(peerName, from: ssl)
        else {
            SSL_free(ssl)
            throw WireError(.system, "cannot start TLS with \(peerName): \(openSSLMessage())")
        }
        if tls.isServer { SSL_set_accept_state(ssl) } else { SSL_set_connect_state(ssl) }
        self.socket = socket
        self.ssl = ssl
    }

    deinit {
        SSL_free(ssl)
    }

    /// Has the server's certificate checked for the name or address; false when that cannot be done, for then any
    /// certificate would pass.
    private static func expect(_ peerName: String, from ssl: OpaquePointer) -> Bool {
        guard SocketAddress(literal: peerName, port: 0) != nil else {
            return SSL_set1_host(ssl, peerName) == 1 && martlet_SSL_set_tlsext_host_name(ssl, peerName) == 1
        }
        // A certificate names an address without the interface that leads to it (RFC 4007 §11).
        let address = peerName.prefix { $0 != "%" }
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), String(address)) == 1
    }

    /// Goes on with the TLS handshake; `.moved(0)` means that it is done (at once, in the clear).
    func handshake() -> Outcome {
        guard let ssl else { return .moved(0) }
        ERR_clear_error()
        let status = SSL_do_handshake(ssl)
        guard status == 1 else { return failure(status, during: "the TLS handshake") }
        if needsHTTP2, SSL_is_server(ssl) == 0, !agreedOnHTTP2 {
            return .failed(
                WireError(
                    .notHTTP2,
                    "\(peerName) did not agree to HTTP/2 by ALPN; APNs and its stand-ins speak only that"
                )
            )
        }
        return .moved(0)
    }

    /// Reads until the buffer is full or nothing more is there, so that many small records are handled together.
    ///
    /// - Parameters:
    ///   - buffer: Where to.
    ///   - count: How many bytes were read, whatever the outcome.
    /// - Returns: `.moved` when the buffer is full, else why there is no more.
    func fill(_ buffer: UnsafeMutableRawBufferPointer, _ count: inout Int) -> Outcome {
        // OpenSSL explains a failure through its list of errors, which older entries would falsify.
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

    /// Lets OpenSSL read and write through a buffer that holds several records, so that they come in and go out
    /// together: see ``flush()``.
    ///
    /// OpenSSL could read ahead by itself, but moves all that it has read ahead for each record, and an answer of APNs
    /// is a record of a hundred bytes.
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

    /// Writes what ``write(_:)`` has taken; `.moved(0)` means that all of it is out.
    func flush() -> Outcome {
        guard let ssl, let output = SSL_get_wbio(ssl) else { return .moved(0) }
        ERR_clear_error()
        if martlet_BIO_flush(output) > 0 { return .moved(0) }
        let number = errno
        if BIO_test_flags(output, BIO_FLAGS_SHOULD_RETRY) != 0 { return .mustWait(toWrite: true) }
        return .failed(WireError(.closedByPeer, "writing to \(peerName) failed: \(Socket.message(number))"))
    }

    /// Takes as much as fits, for ``flush()`` to write.
    func write(_ bytes: UnsafeRawBufferPointer) -> Outcome {
        guard let ssl else {
            let count = send(socket.value.descriptor, bytes.baseAddress, bytes.count, 0)
            return plain(count, during: "writing")
        }
        ERR_clear_error()
        let count = SSL_write(ssl, bytes.baseAddress, CInt(clamping: bytes.count))
        return count > 0 ? .moved(Int(count)) : failure(count, during: "writing")
    }

    /// Has the socket count as readable only when this many bytes are there.
    func setLowWaterMark(_ bytes: Int) {
        socket.value.setLowWaterMark(bytes)
    }

    /// What the certificate that the peer has shown says about itself; nil when it has shown none.
    var peerCertificate: CertificateFacts? {
        guard let ssl, let raw = SSL_get1_peer_certificate(ssl) else { return nil }
        // The callback of `TLSContext.server` lets untrusted certificates pass, and leaves the result as it was.
        let isIssuedByAuthority = SSL_get_verify_result(ssl) == Int(X509_V_OK)
        return CertificateFacts(Certificate(adopting: raw), isIssuedByAuthority: isIssuedByAuthority)
    }

    /// What was agreed on in the TLS handshake; nil in the clear.
    var security: TransportSecurity? {
        guard let ssl, let version = SSL_get_version(ssl) else { return nil }
        return TransportSecurity(version: String(cString: version), isHTTP2Agreed: agreedOnHTTP2)
    }

    /// Has the peer see a reset when the socket is closed.
    func resetOnClose() {
        socket.value.resetOnClose()
    }

    /// Tells the peer that no more comes.
    func sayGoodbye() {
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
        default: return .failed(WireError(.closedByPeer, "\(what) from \(peerName) failed: \(Socket.message(errno))"))
        }
    }

    private func failure(_ status: CInt, during what: String) -> Outcome {
        let number = errno
        switch SSL_get_error(ssl, status) {
        case SSL_ERROR_WANT_READ: return .mustWait(toWrite: false)
        case SSL_ERROR_WANT_WRITE: return .mustWait(toWrite: true)
        case SSL_ERROR_ZERO_RETURN: return .ended
        case SSL_ERROR_SYSCALL where ERR_peek_error() == 0:
            return .failed(
                WireError(.closedByPeer, "\(peerName) broke the connection during \(what): \(Socket.message(number))")
            )
        default: break
        }
        let verification = SSL_get_verify_result(ssl)
        if verification != Int(X509_V_OK), SSL_is_server(ssl) == 0 {
            let why = X509_verify_cert_error_string(verification).map { String(cString: $0) } ?? "unknown"
            ERR_clear_error()
            return .failed(WireError(.certificateRejected, "the certificate of \(peerName) is not trusted: \(why)"))
        }
        let code = ERR_GET_REASON(ERR_peek_error())
        if code == SSL_R_CERTIFICATE_VERIFY_FAILED {
            let why = X509_verify_cert_error_string(verification).map { String(cString: $0) } ?? "unknown"
            ERR_clear_error()
            return .failed(WireError(.certificateRejected, "the certificate of \(peerName) was refused: \(why)"))
        }
        let message = openSSLMessage()
        if code == SSL_R_UNEXPECTED_EOF_WHILE_READING {
            return .failed(WireError(.closedByPeer, "\(peerName) closed the connection during \(what)"))
        }
        if Transport.certificateAlerts.contains(code) {
            return .failed(
                WireError(.certificateRejected, "\(peerName) did not accept this side's certificate: \(message)")
            )
        }
        if code == SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL {
            return .failed(WireError(.notHTTP2, "\(peerName) does not speak HTTP/2 (\(message))"))
        }
        // What OpenSSL finds where a peer answers in the clear.
        let isClear = [SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST, SSL_R_PACKET_LENGTH_TOO_LONG].contains(code)
        let guess = isClear ? "; the server may not use TLS on this port" : ""
        return .failed(WireError(.tlsFailed, "TLS with \(peerName) failed during \(what): \(message)\(guess)"))
    }
}

/// What two sides agreed on in a TLS handshake.
package struct TransportSecurity: Sendable, Hashable {
    /// The protocol's version, as in `TLSv1.3`.
    package let version: String
    /// Whether HTTP/2 was agreed on by ALPN (RFC 7301).
    package let isHTTP2Agreed: Bool
}

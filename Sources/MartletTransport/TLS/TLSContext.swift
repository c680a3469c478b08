// SPDX-License-Identifier: Apache-2.0

internal import CMartletOpenSSL

/// The TLS settings of one side, shared by its connections: OpenSSL's `SSL_CTX`.
///
/// It is `@unchecked Sendable` because it is never changed after its creation, and OpenSSL allows connections to be
/// created from an unchanging `SSL_CTX` on any thread (openssl-threads(7)).
package final class TLSContext: @unchecked Sendable {
    /// A certificate with its private key, as PEM text.
    package struct Identity: Sendable, CustomStringConvertible, CustomReflectable {
        package var certificateChainPEM: String
        /// The private key of the first certificate.
        package var privateKeyPEM: String

        /// Creates an identity from a certificate chain and its key, both PEM.
        package init(certificateChainPEM: String, privateKeyPEM: String) {
            self.certificateChainPEM = certificateChainPEM
            self.privateKeyPEM = privateKeyPEM
        }

        /// A fixed text, because the private key must not appear in logs.
        package var description: String { "Identity(a certificate and its key)" }
        package var customMirror: Mirror { Mirror(self, children: []) }
    }

    let context: OpaquePointer
    let isServer: Bool
    /// Whether the peer has to agree on HTTP/2.
    let needsHTTP2: Bool
    /// The settings for clients that send a host name (SNI, RFC 6066 §3); nil for the same settings as for other
    /// clients.
    private var forNamedHosts: TLSContext?

    private init(isServer: Bool, needsHTTP2: Bool = true) throws(TransportError) {
        prepareOpenSSL()
        guard let context = SSL_CTX_new(isServer ? TLS_server_method() : TLS_client_method()) else {
            throw TransportError(.system, "cannot create a TLS context: \(openSSLMessage())")
        }
        self.context = context
        self.isServer = isServer
        self.needsHTTP2 = needsHTTP2
        _ = martlet_SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION)
        martlet_SSL_CTX_set_mode(context, Int(SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER))
        // A server may hold thousands of idle connections, so their buffers are freed while nothing arrives.
        if isServer { martlet_SSL_CTX_set_mode(context, Int(SSL_MODE_RELEASE_BUFFERS)) }
    }

    deinit {
        SSL_CTX_free(context)
    }

    /// Returns settings for outgoing connections that negotiate HTTP/2 with ALPN (RFC 7301).
    ///
    /// - Parameters:
    ///   - authorities: PEM certificates to trust besides the system's.
    ///   - identity: The client certificate to present when the server requests one.
    ///   - isTLS13Required: Whether TLS 1.3 is the minimum version, instead of TLS 1.2.
    /// - Returns: The settings.
    /// - Throws: ``TransportError`` of kind `.badCredentials` for text that is not the expected PEM.
    package static func client(
        authorities: String? = nil,
        identity: Identity? = nil,
        isTLS13Required: Bool = false
    ) throws(TransportError) -> TLSContext {
        let tls = try client(needsHTTP2: true, authorities: authorities)
        if isTLS13Required { _ = martlet_SSL_CTX_set_min_proto_version(tls.context, TLS1_3_VERSION) }
        let protocols: [UInt8] = [2] + Array("h2".utf8)
        SSL_CTX_set_alpn_protos(tls.context, protocols, CUnsignedInt(protocols.count))
        if let identity { try tls.use(identity) }
        return tls
    }

    /// Returns settings for outgoing connections that use HTTP/1.1.
    ///
    /// - Parameter authorities: PEM certificates to trust besides the system's; nil for none.
    /// - Returns: The settings.
    /// - Throws: ``TransportError`` of kind `.badCredentials` for text that is not the expected PEM.
    package static func http1Client(authorities: String? = nil) throws(TransportError) -> TLSContext {
        try client(needsHTTP2: false, authorities: authorities)
    }

    private static func client(needsHTTP2: Bool, authorities: String?) throws(TransportError) -> TLSContext {
        let tls = try TLSContext(isServer: false, needsHTTP2: needsHTTP2)
        SystemAuthorities.add(to: SSL_CTX_get_cert_store(tls.context))
        SSL_CTX_set_verify(tls.context, SSL_VERIFY_PEER, nil)
        if let authorities { try tls.trust(authorities) }
        return tls
    }

    /// Returns settings for incoming connections, which offer only HTTP/2.
    ///
    /// - Parameters:
    ///   - identity: The server's certificate and key.
    ///   - identityForNamedHosts: The certificate and key for clients that send a host name (SNI), unless the name is
    ///     an address; nil for `identity`.
    ///   - asksForCertificates: Whether the server requests a client certificate. The handshake succeeds without one,
    ///     and with any that is currently valid, from any issuer: the layer above decides.
    ///   - clientAuthorities: PEM certificates of the authorities for ``CertificateFacts/isIssuedByAuthority``; nil for
    ///     none.
    /// - Returns: The settings.
    /// - Throws: ``TransportError`` of kind `.badCredentials` for text that is not the expected PEM.
    package static func server(
        identity: Identity,
        identityForNamedHosts: Identity? = nil,
        asksForCertificates: Bool = false,
        clientAuthorities: String? = nil
    ) throws(TransportError) -> TLSContext {
        let tls = try TLSContext(isServer: true)
        try tls.use(identity)
        if let clientAuthorities { try tls.trust(clientAuthorities) }
        SSL_CTX_set_alpn_select_cb(
            tls.context,
            { _, selected, selectedLength, offered, offeredLength, _ in
                selectHTTP2(selected, selectedLength, offered, offeredLength)
            },
            nil
        )
        if asksForCertificates {
            SSL_CTX_set_verify(tls.context, SSL_VERIFY_PEER) { _, verification in
                switch X509_STORE_CTX_get_error(verification) {
                case X509_V_ERR_CERT_HAS_EXPIRED, X509_V_ERR_CERT_NOT_YET_VALID:
                    X509_STORE_CTX_get_error_depth(verification) == 0 ? 0 : 1
                default: 1
                }
            }
            // Without a session ID context, OpenSSL rejects resumed sessions of clients with certificates.
            let name = Array("martlet".utf8)
            SSL_CTX_set_session_id_context(tls.context, name, CUnsignedInt(name.count))
        }
        if let identityForNamedHosts {
            let named = try server(
                identity: identityForNamedHosts,
                asksForCertificates: asksForCertificates,
                clientAuthorities: clientAuthorities
            )
            tls.forNamedHosts = named
            martlet_SSL_CTX_set_servername_callback(
                tls.context,
                { ssl, _, named in
                    if namesHost(ssl), let named { SSL_set_SSL_CTX(ssl, OpaquePointer(named)) }
                    return SSL_TLSEXT_ERR_OK
                },
                UnsafeMutableRawPointer(named.context)
            )
        }
        return tls
    }

    private func trust(_ pem: String) throws(TransportError) {
        let certificates = try certificates(in: pem)
        guard let store = SSL_CTX_get_cert_store(context) else { return }
        for certificate in certificates {
            X509_STORE_add_cert(store, certificate.raw)
        }
    }

    private func use(_ identity: Identity) throws(TransportError) {
        let certificates = try certificates(in: identity.certificateChainPEM)
        do throws(CryptographyError) {
            let key = try PrivateKey(pem: identity.privateKeyPEM)
            let chain = try Certificate.chain(certificates, of: key)
            guard SSL_CTX_use_certificate(context, chain[0].raw) == 1 else {
                throw CryptographyError("the certificate cannot be used: \(openSSLMessage())")
            }
            for certificate in chain.dropFirst() {
                _ = martlet_SSL_CTX_add1_chain_cert(context, certificate.raw)
            }
            guard SSL_CTX_use_PrivateKey(context, key.raw) == 1 else {
                throw CryptographyError("the private key cannot be used: \(openSSLMessage())")
            }
        } catch {
            throw TransportError(.badCredentials, "\(error)")
        }
    }

    /// Returns every certificate in the text; throws when there is none.
    private func certificates(in pem: String) throws(TransportError) -> [Certificate] {
        let certificates = Certificate.all(in: pem)
        guard !certificates.isEmpty else {
            throw TransportError(.badCredentials, "the text contains no PEM certificate")
        }
        return certificates
    }
}

/// Returns whether the client sends a host name; some clients send an address, which RFC 6066 does not allow.
private func namesHost(_ ssl: OpaquePointer?) -> Bool {
    guard let name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name) else { return false }
    return (try? SubjectName(String(cString: name)))?.isAddress == false
}

/// Selects HTTP/2 by ALPN, or rejects the handshake when the client does not offer it.
private func selectHTTP2(
    _ selected: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ selectedLength: UnsafeMutablePointer<UInt8>?,
    _ offered: UnsafePointer<UInt8>?,
    _ offeredLength: CUnsignedInt
) -> CInt {
    guard let offered, let selected, let selectedLength else { return SSL_TLSEXT_ERR_ALERT_FATAL }
    var index = 0
    while index < Int(offeredLength) {
        let length = Int(offered[index])
        guard index + 1 + length <= Int(offeredLength) else { break }
        let name = UnsafeBufferPointer(start: offered + index + 1, count: length)
        if name.elementsEqual("h2".utf8) {
            selected.pointee = offered + index + 1
            selectedLength.pointee = UInt8(length)
            return SSL_TLSEXT_ERR_OK
        }
        index += 1 + length
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL
}

/// Initializes OpenSSL; must be called before any other use of OpenSSL, and may be called repeatedly.
///
/// By default OpenSSL frees its state when the process exits, while other threads may still use it.
func prepareOpenSSL() {
    OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
}

/// Returns OpenSSL's message for the last failure on this thread, and clears its error queue.
func openSSLMessage() -> String {
    var message = "no details"
    while true {
        let code = ERR_get_error()
        guard code != 0 else { return message }
        if let reason = ERR_reason_error_string(code) { message = String(cString: reason) }
    }
}

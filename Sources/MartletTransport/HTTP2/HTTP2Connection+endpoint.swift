extension HTTP2Connection {
    /// The server to which a client connects.
    package struct Endpoint: Sendable {
        /// A host name or an address literal.
        package var host: String
        package var port: UInt16
        /// The TLS settings; nil for HTTP/2 in cleartext with prior knowledge (RFC 9113 §3.3).
        package var tls: TLSContext?
        /// The HTTP proxy; nil for a direct connection.
        package var proxy: HTTPProxy?

        package init(host: String, port: UInt16, tls: TLSContext?, proxy: HTTPProxy? = nil) {
            self.host = host
            self.port = port
            self.tls = tls
            self.proxy = proxy
        }
    }
}

extension HTTP2Connection {
    /// Where a client connects to.
    package struct Endpoint: Sendable {
        /// A name or an address literal.
        package var host: String
        /// The port.
        package var port: UInt16
        /// The TLS settings; nil for HTTP/2 in the clear with prior knowledge (RFC 9113 §3.3).
        package var tls: TLSContext?
        /// The proxy to go through; nil for none.
        package var proxy: HTTPProxy?

        /// An endpoint from its parts.
        package init(host: String, port: UInt16, tls: TLSContext?, proxy: HTTPProxy? = nil) {
            self.host = host
            self.port = port
            self.tls = tls
            self.proxy = proxy
        }
    }
}

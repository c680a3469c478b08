// SPDX-License-Identifier: Apache-2.0

package import MartletTransport

extension PushClient {
    /// An HTTP proxy that tunnels connections with CONNECT (RFC 9110 §9.3.6).
    public struct Proxy: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
        let wire: HTTPProxy

        /// Creates a proxy from its parts.
        ///
        /// - Parameters:
        ///   - host: A host name or an address literal.
        ///   - port: The port.
        ///   - user: The user name for basic authentication (RFC 7617); nil, the default, for none.
        ///   - password: The password of the user.
        public init(host: String, port: UInt16, user: String? = nil, password: String = "") {
            wire = HTTPProxy(host: host, port: port, user: user, password: password)
        }

        /// Creates a proxy from a URL such as `http://user:password@proxy.example.com:3128`.
        ///
        /// The scheme, the user and the port, which is then 80, may be missing. User and password are percent-decoded.
        ///
        /// - Parameter url: The URL.
        /// - Throws: ``APNsError`` with the code `invalid`, whose description does not contain the URL.
        public init(url: String) throws(APNsError) {
            do throws(ProxyError) {
                wire = try HTTPProxy(url: url)
            } catch {
                throw APNsError(.invalid, description: "proxy \(error)")
            }
        }

        /// Creates a proxy of the transport.
        package init(_ proxy: HTTPProxy) {
            wire = proxy
        }

        /// Returns the proxy that environment variables select for a server, much as curl does; nil for none.
        ///
        /// `HTTPS_PROXY` has the proxy for servers with TLS, `HTTP_PROXY` that for servers without, and `ALL_PROXY`
        /// that for both if the other is not set. `NO_PROXY` has the servers that are connected to directly: host names
        /// with their subdomains, addresses and networks, or `*` for all. A name in lower case takes precedence. A
        /// server on this machine has no proxy.
        ///
        /// - Parameters:
        ///   - environment: The variables, such as those of `ProcessInfo`.
        ///   - endpoint: The server.
        /// - Returns: The proxy; nil to connect directly.
        /// - Throws: ``APNsError`` with the code `invalid`, which names the variable and does not contain its value.
        public static func from(
            environment: [String: String],
            for endpoint: APNsEndpoint
        ) throws(APNsError) -> Proxy? {
            do throws(ProxyError) {
                return try endpoint.proxy(in: HTTPProxies(environment: environment))
            } catch {
                throw APNsError(.invalid, description: "\(error)")
            }
        }

        /// The host and port, without the password.
        public var description: String { "Proxy(\(wire))" }

        /// The host and port, as in `proxy.example.com:3128`.
        package var address: String { "\(wire)" }

        /// A mirror without children, which shows only ``description``.
        public var customMirror: Mirror { Mirror(self, children: []) }
    }
}

extension APNsEndpoint {
    /// Returns the proxy for connections to the server; nil to connect directly.
    ///
    /// - Throws: `ProxyError`, which names the variable whose value is not the URL of an HTTP proxy.
    package func proxy(in proxies: HTTPProxies) throws(ProxyError) -> PushClient.Proxy? {
        guard let proxy = try proxies.proxy(for: host, port: port, isEncrypted: isEncrypted) else { return nil }
        return PushClient.Proxy(proxy)
    }
}

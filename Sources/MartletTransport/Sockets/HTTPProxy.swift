// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// An HTTP proxy for tunnels (CONNECT, RFC 9110 §9.3.6).
package struct HTTPProxy: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// A host name or an address literal.
    package var host: String
    package var port: UInt16
    /// The value of `Proxy-Authorization`; nil for none.
    package var authorization: String?

    /// The host and port, without the user and the password.
    package var description: String { "\(HostPort(host: host, port: port))" }

    /// A mirror without children, because they include the password.
    package var customMirror: Mirror { Mirror(self, children: []) }

    /// Creates a proxy from its parts.
    ///
    /// - Parameters:
    ///   - host: A host name or an address literal.
    ///   - port: The port.
    ///   - user: The user name for basic authentication (RFC 7617); nil for none.
    ///   - password: The password of the user.
    package init(host: String, port: UInt16, user: String? = nil, password: String = "") {
        self.host = host
        self.port = port
        authorization = user.map { "Basic " + Data("\($0):\(password)".utf8).base64EncodedString() }
    }
}

/// An error in the URL of a proxy, which does not contain the URL, because that may contain a password.
package struct ProxyError: Error, Hashable, CustomStringConvertible {
    package let description: String
}

extension HTTPProxy {
    /// The port of a URL without one.
    private static let defaultPort: UInt16 = 80
    /// The schemes of proxies that are not supported, which an error names.
    private static let otherSchemes: Set<String> = ["https", "socks", "socks4", "socks4a", "socks5", "socks5h"]

    /// Creates a proxy from a URL such as `http://user:password@proxy.example.com:3128`.
    ///
    /// The scheme, the user and the port, which is then 80, may be missing. User and password are percent-decoded.
    ///
    /// - Parameter url: The URL.
    /// - Throws: ``ProxyError`` with the rule, to be preceded by the name of the setting.
    package init(url: String) throws(ProxyError) {
        let rule = "must be the URL of an HTTP proxy, such as http://proxy.example.com:3128"
        let hidden = ProxyError(description: "\(rule) (the value is not shown, because it may contain a password)")
        var rest = url[...]
        if let mark = rest.firstRange(of: "://") {
            let scheme = rest[..<mark.lowerBound].lowercased()
            guard scheme == "http" else {
                guard HTTPProxy.otherSchemes.contains(scheme) else { throw hidden }
                throw ProxyError(description: "\(rule) (found \(scheme)://)")
            }
            rest = rest[mark.upperBound...]
        }
        var credentials: Substring?
        // A password may contain "@".
        if let mark = rest.lastIndex(of: "@") {
            credentials = rest[..<mark]
            rest = rest[rest.index(after: mark)...]
        }
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        guard let server = try? HostPort(rest), server.port != 0, rest.hasPrefix("[") || !server.host.contains(":")
        else {
            throw hidden
        }
        let port = server.port ?? HTTPProxy.defaultPort
        guard let credentials else {
            self.init(host: server.host, port: port)
            return
        }
        let user = credentials.prefix { $0 != ":" }
        let password = credentials[user.endIndex...].dropFirst()
        self.init(
            host: server.host,
            port: port,
            user: String(percentEncoded: user.utf8),
            password: String(percentEncoded: password.utf8)
        )
    }
}

// SPDX-License-Identifier: Apache-2.0

/// The HTTP proxies that environment variables select for servers, much as curl selects them.
///
/// `HTTPS_PROXY` has the proxy for connections with TLS, `HTTP_PROXY` that for connections without, and `ALL_PROXY`
/// that for both if the other is not set. `NO_PROXY` has the servers that are connected to directly: host names with
/// their subdomains, and addresses, each with an optional port, networks such as `10.0.0.0/8`, or `*` for all. A name
/// in lower case takes precedence. Unlike curl, it compares a port in `NO_PROXY`, reads `HTTP_PROXY` in upper case, and
/// always connects to this machine directly.
///
/// Source: https://curl.se/docs/manpage.html, "Environment".
package struct HTTPProxies: Sendable, Hashable {
    /// The proxy for connections with TLS; nil for none.
    private var encrypted: Result<HTTPProxy, ProxyError>?
    /// The proxy for connections without TLS; nil for none.
    private var cleartext: Result<HTTPProxy, ProxyError>?
    private var exemptions: [ProxyExemption] = []

    /// Connects to every server directly.
    package init() {}

    /// Reads the variables of an environment.
    ///
    /// An invalid URL is an error for the servers for which the proxy is selected, and not before.
    package init(environment: [String: String]) {
        encrypted = HTTPProxies.proxy(["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"], in: environment)
        cleartext = HTTPProxies.proxy(["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"], in: environment)
        let list = HTTPProxies.value(["no_proxy", "NO_PROXY"], in: environment)?.value ?? ""
        exemptions = list.split { $0 == "," || $0.isWhitespace }.compactMap { ProxyExemption($0) }
    }

    /// Returns the proxy for a server.
    ///
    /// - Parameters:
    ///   - host: A host name, or an address literal without brackets.
    ///   - port: The port.
    ///   - isEncrypted: Whether the connection uses TLS.
    /// - Returns: The proxy; nil to connect directly.
    /// - Throws: ``ProxyError``, which names the variable whose value is not the URL of an HTTP proxy.
    package func proxy(for host: String, port: UInt16, isEncrypted: Bool) throws(ProxyError) -> HTTPProxy? {
        guard let proxy = isEncrypted ? encrypted : cleartext else { return nil }
        var name = host.lowercased()
        if name.hasSuffix(".") { name.removeLast() }
        let address = SocketAddress(literal: name, port: port)
        guard name != "localhost", !name.hasSuffix(".localhost"), address?.isLoopback != true else { return nil }
        let bytes = address?.addressBytes
        guard !exemptions.contains(where: { $0.includes(name, bytes, port: port) }) else { return nil }
        return try proxy.get()
    }

    /// Returns the first variable that is set and not empty.
    private static func value(_ names: [String], in environment: [String: String]) -> (name: String, value: String)? {
        for name in names {
            if let value = environment[name], !value.isEmpty { return (name, value) }
        }
        return nil
    }

    private static func proxy(
        _ names: [String],
        in environment: [String: String]
    ) -> Result<HTTPProxy, ProxyError>? {
        guard let (name, url) = value(names, in: environment) else { return nil }
        do throws(ProxyError) {
            return .success(try HTTPProxy(url: url))
        } catch {
            return .failure(ProxyError(description: "\(name) \(error)"))
        }
    }
}

/// An entry of `NO_PROXY`.
private struct ProxyExemption: Sendable, Hashable {
    private enum Target: Sendable, Hashable {
        case every
        /// A host and its subdomains.
        case domain(String)
        /// The addresses that begin with the same bits.
        case network([UInt8], bits: Int)
    }

    private let target: Target
    /// The port; nil for all.
    private let port: UInt16?

    /// Parses an entry; nil for text that is none, which has no effect, as with curl.
    init?(_ entry: Substring) {
        let text = entry.lowercased()
        if text == "*" {
            target = .every
            port = nil
        } else if let slash = text.firstIndex(of: "/") {
            guard let network = SocketAddress(literal: String(text[..<slash]), port: 0)?.addressBytes,
                let bits = Int(text[slash...].dropFirst()), (0...network.count * 8).contains(bits)
            else { return nil }
            target = .network(network, bits: bits)
            port = nil
        } else if let address = SocketAddress(literal: text, port: 0)?.addressBytes {
            target = .network(address, bits: address.count * 8)
            port = nil
        } else {
            let name = text.hasPrefix("*.") ? text.dropFirst(2) : text.drop { $0 == "." }
            guard let server = try? HostPort(name.hasSuffix(".") ? name.dropLast() : name) else { return nil }
            if let address = SocketAddress(literal: server.host, port: 0)?.addressBytes {
                target = .network(address, bits: address.count * 8)
            } else {
                target = .domain(server.host)
            }
            port = server.port
        }
    }

    /// Returns whether a server is connected to directly.
    ///
    /// - Parameters:
    ///   - host: The host in lower case, without a final dot.
    ///   - address: The bytes of the host if it is an address literal; nil for a name.
    ///   - port: The port.
    /// - Returns: Whether the entry includes the server.
    func includes(_ host: String, _ address: [UInt8]?, port: UInt16) -> Bool {
        guard self.port == nil || self.port == port else { return false }
        switch target {
        case .every: return true
        case .domain(let name): return address == nil && (host == name || host.hasSuffix("." + name))
        case .network(let network, let bits):
            guard let address, address.count == network.count else { return false }
            return (0..<bits).allSatisfy { bit in
                let mask: UInt8 = 0x80 >> UInt8(bit % 8)
                return (address[bit / 8] ^ network[bit / 8]) & mask == 0
            }
        }
    }
}

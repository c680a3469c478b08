// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletTransport

/// The check that refuses requests of web pages from other origins, which a browser on this machine could send.
///
/// The host is checked for each request, because browsers send neither `Origin` nor `Sec-Fetch-Site` with some requests
/// of a page whose name resolves to this machine (DNS rebinding). Source: Fetch Metadata Request Headers (W3C), and RFC
/// 6454 for `Origin`.
enum BrowserGuard {
    /// Returns the reason to refuse a request; nil when the request is allowed.
    ///
    /// - Parameters:
    ///   - fields: The header fields of the request.
    ///   - names: The host names of this simulator besides `localhost` and IP addresses.
    /// - Returns: The problem, which says what is expected; nil for none.
    static func problem(_ fields: HTTPFields, names: [String]) -> APIProblem? {
        if let name = fields.firstDuplicate(startingWith: "origin", or: "sec-fetch-site") {
            return APIProblem(400, "\(name) was sent more than once")
        }
        let site = fields["sec-fetch-site"]
        let origin = fields["origin"]
        guard let authority = fields["host"] ?? fields[":authority"] else {
            // Browsers always send a host: a request without it and without their fields is from another program.
            return site == nil && origin == nil ? nil : APIProblem(400, "the header field Host is missing")
        }
        guard let host = name(in: authority) else {
            return APIProblem(
                400,
                "the header field Host must be a host with an optional port (found \(ShownValue(authority)))"
            )
        }
        let isSameOrigin = site.map { $0 == "same-origin" || $0 == "none" } ?? true
        guard isSameOrigin, origin.map({ isOrigin($0, of: authority) }) ?? true else {
            let found = origin.map { origin in
                " (Origin is \(ShownValue(origin)), Host is \(ShownValue(authority)); a proxy must pass on Host)"
            }
            return APIProblem(403, "requests of web pages from other origins are refused\(found ?? "")")
        }
        // The owner of a domain can point its name to this address, which makes the pages of that domain same-origin.
        let isNamed = names.contains { $0.lowercased() == host }
        guard isNamed || host == "localhost" || SocketAddress(literal: host, port: 0) != nil else {
            let shown = ShownValue(host)
            return APIProblem(403, "unknown host name \(shown): start the simulator with --name \(shown)")
        }
        return nil
    }

    /// Returns whether an origin is that of the requested host, where a proxy may add TLS (RFC 6454 §4).
    ///
    /// The host that a proxy reports in another field, such as `x-forwarded-host`, is not trusted, because any client
    /// can send the field.
    private static func isOrigin(_ origin: String, of authority: String) -> Bool {
        let (origin, authority) = (origin.lowercased(), authority.lowercased())
        return [("http://", ":80"), ("https://", ":443")].contains { scheme, port in
            origin.hasPrefix(scheme)
                && withoutPort(origin.dropFirst(scheme.count), port) == withoutPort(authority[...], port)
        }
    }

    /// Returns a host without its port when that is the default port of the scheme, or empty.
    private static func withoutPort(_ authority: Substring, _ defaultPort: String) -> Substring {
        if authority.hasSuffix(defaultPort) { return authority.dropLast(defaultPort.count) }
        return authority.hasSuffix(":") ? authority.dropLast() : authority
    }

    /// Returns the host in lower case without its port, and without the brackets of an IPv6 address; nil when the text
    /// is not a host with an optional port (RFC 3986 §3.2).
    private static func name(in authority: String) -> String? {
        let text = authority.lowercased()
        let host: Substring
        var rest: Substring
        if text.hasPrefix("[") {
            host = text.dropFirst().prefix { $0 != "]" }
            rest = text.dropFirst(host.count + 1)
            guard rest.popFirst() == "]", host.contains(":"), SocketAddress(literal: String(host), port: 0) != nil
            else {
                return nil
            }
        } else {
            host = text.prefix { $0 != ":" }
            rest = text.dropFirst(host.count)
        }
        guard !host.isEmpty, !host.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F || "@/?#[]\\".utf8.contains($0) })
        else { return nil }
        guard !rest.isEmpty else { return String(host) }
        // The port may be empty.
        let port = rest.dropFirst()
        let isPort = port.utf8.allSatisfy { (0x30...0x39).contains($0) } && (port.isEmpty || UInt16(port) != nil)
        return isPort ? String(host) : nil
    }
}

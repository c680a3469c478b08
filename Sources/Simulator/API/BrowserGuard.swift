internal import WebAPI
internal import Wire

/// Keeps web pages from elsewhere away from the HTTP interface: a browser on this machine would ask it for them.
///
/// The host is checked for each request, because browsers send neither `Origin` nor `Sec-Fetch-Site` with some requests
/// of a page whose name was pointed at this machine (DNS rebinding). Source: Fetch Metadata Request Headers (W3C), and
/// RFC 6454 for `Origin`.
enum BrowserGuard {
    /// Returns the reason to refuse a request; nil when it is answered.
    ///
    /// - Parameters:
    ///   - fields: The request's fields.
    ///   - names: Host names that this simulator goes by, besides this machine's own.
    /// - Returns: The problem, which says what would be right.
    static func problem(_ fields: HTTPFields, names: [String]) -> APIProblem? {
        let site = fields["sec-fetch-site"]
        let origin = fields["origin"]
        let authority = fields["host"] ?? fields[":authority"] ?? ""
        // Only programs that are no browsers leave the host out.
        if authority.isEmpty, site == nil, origin == nil { return nil }
        let isOwnPage = site.map { $0 == "same-origin" || $0 == "none" } ?? true
        guard isOwnPage, origin.map({ $0 == "http://" + authority }) ?? true else {
            return APIProblem(403, "web pages from elsewhere may not ask here")
        }
        // Whoever controls a name can have it point here, and their page would be from here then.
        let host = name(in: authority)
        let isNamed = names.contains { $0.lowercased() == host }
        guard isNamed || host == "localhost" || SocketAddress(literal: host, port: 0) != nil else {
            return APIProblem(403, "\(host) is no name of this simulator: start it with --name \(host)")
        }
        return nil
    }

    /// The host without its port, and without the brackets of an IPv6 address.
    private static func name(in authority: String) -> String {
        if authority.hasPrefix("[") { return String(authority.dropFirst().prefix { $0 != "]" }) }
        return String(authority.prefix { $0 != ":" }).lowercased()
    }
}

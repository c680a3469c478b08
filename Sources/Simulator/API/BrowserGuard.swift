internal import WebAPI
internal import Wire

/// Keeps web pages from elsewhere away from the HTTP interface: a browser on this machine would ask it for them.
///
/// Programs that are no browsers send none of these fields and are not concerned. Source: Fetch Metadata Request
/// Headers (W3C), and RFC 6454 for `Origin`.
enum BrowserGuard {
    /// Why a request of a browser is not answered; nil when it is.
    ///
    /// - Parameters:
    ///   - fields: The request's fields.
    ///   - names: Host names that this simulator goes by, besides this machine's own.
    /// - Returns: The problem, which says what would be right.
    static func problem(_ fields: HTTPFields, names: [String]) -> APIProblem? {
        let site = fields["sec-fetch-site"]
        let origin = fields["origin"]
        guard site != nil || origin != nil else { return nil }
        let authority = fields["host"] ?? fields[":authority"] ?? ""
        let isOwnPage = site.map { $0 == "same-origin" || $0 == "none" } ?? true
        guard isOwnPage, origin.map({ $0 == "http://" + authority }) ?? true else {
            return APIProblem(403, "web pages from elsewhere may not ask here")
        }
        // Whoever controls a name can have it point here, and their page would be from here then.
        let host = name(in: authority)
        guard host == "localhost" || names.contains(host) || SocketAddress(literal: host, port: 0) != nil else {
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

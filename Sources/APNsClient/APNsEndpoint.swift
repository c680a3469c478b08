/// Which APNs, or stand-in for it, a client talks to.
public struct APNsEndpoint: Sendable, Hashable {
    /// A host name or an address literal.
    public var host: String
    /// The port.
    public var port: UInt16
    /// Whether the connection uses TLS; only stand-ins on the same machine do without.
    public var isEncrypted: Bool

    /// An endpoint other than Apple's.
    public init(host: String, port: UInt16 = 443, isEncrypted: Bool = true) {
        self.host = host
        self.port = port
        self.isEncrypted = isEncrypted
    }

    /// Apple's production servers, for apps from the App Store, TestFlight and in-house distribution.
    ///
    /// Source: "Sending notification requests to APNs".
    public static let production = APNsEndpoint(host: "api.push.apple.com")

    /// Apple's development servers ("sandbox"), for apps run from Xcode.
    ///
    /// Source: "Sending notification requests to APNs".
    public static let development = APNsEndpoint(host: "api.sandbox.push.apple.com")

    /// Host and port as they stand in requests; port 443 is left out.
    var authority: String {
        let host = host.contains(":") ? "[\(host)]" : host
        return port == 443 ? host : "\(host):\(port)"
    }
}

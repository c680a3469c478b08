// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletTransport

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// An HTTP address, as in the URL `https://host:port/path`.
struct WebAddress: Sendable, Hashable, CustomStringConvertible {
    /// A host name, or an address literal without brackets.
    var host: String
    var port: UInt16
    /// The path with its query, percent-encoded.
    var path: String
    var isEncrypted: Bool

    /// The host and port.
    var server: String { "\(SocketAddress.bracketed(host)):\(port)" }

    /// The URL without its query, and without its path if that may be a secret.
    var description: String {
        let shown = ShownValue(String(path.prefix { $0 != "?" }))
        return "\(isEncrypted ? "https" : "http")://\(server)" + (shown.isWhole ? shown.description : "/…")
    }

    /// Creates an address from a URL; nil for text that is not an HTTP URL, and for a URL with a user.
    init?(_ url: String) {
        // Foundation encodes characters that no URL may have, such as a space after a copied address.
        guard url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        guard let parts = URLComponents(string: url), let host = parts.host, !host.isEmpty, parts.user == nil,
            parts.scheme == "https" || parts.scheme == "http"
        else { return nil }
        isEncrypted = parts.scheme == "https"
        guard let port = UInt16(exactly: parts.port ?? (isEncrypted ? 443 : 80)) else { return nil }
        self.host = host.filter { $0 != "[" && $0 != "]" }
        guard SubjectName.isHost(self.host) else { return nil }
        self.port = port
        let query = parts.percentEncodedQuery.map { "?" + $0 } ?? ""
        path = (parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath) + query
    }
}

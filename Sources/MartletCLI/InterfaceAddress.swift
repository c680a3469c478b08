// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCommands
import MartletCore

/// The address of the HTTP interface of a simulator or a relay: `host:port` or a URL.
struct InterfaceAddress: ArgumentValue, CustomStringConvertible {
    /// The server.
    let server: APNsEndpoint
    /// The path; empty for none.
    let path: String
    /// The address as a URL, for messages.
    let description: String

    /// Creates an address on this machine, without TLS.
    init(localPort port: UInt16, path: String = "") {
        server = APNsEndpoint(host: "127.0.0.1", port: port, isEncrypted: false)
        self.path = path
        description = "http://127.0.0.1:\(port)\(path)"
    }

    /// Parses an address; without a scheme it uses `http://`.
    init(argument: String) throws(UsageError) {
        let schemes = ["http://", "https://"]
        let scheme = schemes.first { argument.hasPrefix($0) }
        guard scheme != nil || !argument.contains("://") else {
            let found = ShownValue.quoted(argument)
            throw UsageError("must be host:port, or a URL that begins with http:// or https:// (found \(found))")
        }
        let rest = argument.dropFirst(scheme?.count ?? 0)
        let authority = rest.prefix { $0 != "/" }
        guard !authority.isEmpty else {
            throw UsageError("the host is missing: give host:port or a URL (found \(ShownValue.quoted(argument)))")
        }
        // The address is shown in messages, where a password would be, too.
        guard !authority.contains("@") else { throw UsageError("must not contain a user or a password") }
        let path = String(rest.dropFirst(authority.count))
        guard path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            let found = ShownValue.quoted(argument)
            throw UsageError("the path must not contain a space or a control character (found \(found))")
        }
        server = try APNsEndpoint(argument: (scheme ?? "http://") + authority)
        self.path = path.hasSuffix("/") ? String(path.dropLast()) : path
        description = "\(ShownValue((scheme ?? "http://") + rest))"
    }

    static var valueName: String { "url" }
}

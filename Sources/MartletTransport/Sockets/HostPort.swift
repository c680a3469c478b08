// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// A host with an optional port, as in `localhost:2197`, `10.0.0.5` or `[::1]:443`.
package struct HostPort: Sendable, Hashable, CustomStringConvertible {
    /// The part of a text that is not valid.
    package enum Fault: Error {
        case host
        case port
    }

    /// A host name, or an address literal without brackets.
    package let host: String
    /// The port, which may be 0; nil if it is missing.
    package let port: UInt16?

    /// Creates an address from its parts.
    package init(host: String, port: UInt16?) {
        self.host = host
        self.port = port
    }

    /// Parses a text, in which several colons outside of brackets belong to an IPv6 address.
    ///
    /// - Parameter text: The text.
    /// - Throws: ``Fault`` with the part that is not valid.
    package init(_ text: some StringProtocol) throws(Fault) {
        let text = String(text)
        var host = text[...]
        var rest: Substring = ""
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { throw Fault.host }
            host = text[..<end].dropFirst()
            rest = text[end...].dropFirst()
        } else if text.count(where: { $0 == ":" }) == 1 {
            host = text.prefix { $0 != ":" }
            rest = text[host.endIndex...]
        }
        guard SubjectName.isHost(String(host.hasSuffix(".") ? host.dropLast() : host)) else { throw Fault.host }
        self.host = String(host)
        guard !rest.isEmpty else {
            self.port = nil
            return
        }
        let digits = rest.dropFirst()
        // `UInt16` would accept a plus sign.
        guard rest.first == ":", digits.utf8.allSatisfy(\.isDigit), let port = UInt16(digits) else { throw Fault.port }
        self.port = port
    }

    /// The text for messages, without a host that may be a secret given by mistake.
    package var description: String {
        let shown = SocketAddress.bracketed("\(ShownValue(host))")
        return port.map { "\(shown):\($0)" } ?? shown
    }
}

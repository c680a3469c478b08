// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// A name in a certificate: a host name or an address.
package struct SubjectName: Sendable, Hashable {
    package let text: String
    package let isAddress: Bool

    /// Creates a name from its text.
    ///
    /// - Parameter text: A host name, whose first label may be `*`, or an address literal such as `10.0.0.5`.
    /// - Throws: ``CryptographyError`` for anything else: in OpenSSL's notation a comma would begin another name.
    package init(_ text: String) throws(CryptographyError) {
        isAddress = SocketAddress(literal: text, port: 0) != nil && !text.contains("%")
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        guard isAddress || text.utf8.count <= 253 && SubjectName.areLabels(labels) else {
            throw CryptographyError(
                "a name must be a host name, such as push.example.com, or an address (found \(ShownValue.quoted(text)))"
            )
        }
        self.text = text
    }

    /// Returns whether these are the labels of a host name; the first may be the wildcard `*`.
    private static func areLabels(_ labels: [Substring]) -> Bool {
        let named = labels.first == "*" ? labels.dropFirst() : labels[...]
        return !named.isEmpty && named.allSatisfy(\.isLabel)
    }

    /// Returns whether text is a host to connect to: a host name without a wildcard, or an address literal without
    /// brackets.
    package static func isHost(_ text: String) -> Bool {
        if SocketAddress(literal: text, port: 0) != nil { return true }
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        return text.utf8.count <= 253 && labels.allSatisfy(\.isLabel)
    }

    /// The constraint that permits the name, in OpenSSL's notation for name constraints (x509v3_config(5)).
    var constraint: String {
        guard isAddress else { return "DNS:" + (text.hasPrefix("*.") ? String(text.dropFirst(2)) : text) }
        let mask =
            text.contains(":")
            ? repeatElement("FFFF", count: 8).joined(separator: ":") : "255.255.255.255"
        return "IP:\(text)/\(mask)"
    }
}

extension Substring {
    /// Whether the text is a valid label of a host name.
    ///
    /// Underscores are accepted because host names in use contain them, although the standard does not allow them.
    fileprivate var isLabel: Bool {
        (1...63).contains(utf8.count)
            && utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}

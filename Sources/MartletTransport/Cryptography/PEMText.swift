// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Recognition of PEM text (RFC 7468) in values that may also be paths.
///
/// Keys and certificates are often stored in variables, so a value with PEM text is the key or certificate itself.
package enum PEMText {
    /// The beginning of every PEM text in base64.
    private static let encodedStart = "LS0tLS1CRUdJTi"
    /// The lengths of the base64 of private keys, of which a path has no form.
    private static let keyLengths = 64...8_192

    /// Returns the PEM text that a value contains, decoded if it is in base64, the whole base64 of a private key
    /// without its first and last line, or the base64 of a PKCS#12 file; nil for another value.
    ///
    /// - Parameter value: The value, such as that of an option or a variable.
    /// - Returns: The PEM text, which may be damaged or of any kind.
    package static func text(in value: String) -> String? {
        if value.contains("-----BEGIN") { return value }
        if keyLengths.contains(value.utf8.count), KeyText(value).repaired != nil { return value }
        if value.utf8.count >= keyLengths.lowerBound, PKCS12Contents.der(in: Array(value.utf8)) != nil { return value }
        guard value.contains(encodedStart), let text = decoded(value), text.contains("-----BEGIN") else { return nil }
        return text
    }

    /// Returns whether text is a private key without a certificate.
    package static func isPrivateKey(_ text: String) -> Bool { KeyText(text).isOnlyPrivateKey }

    /// Returns whether a cause of unusable credentials is that a password is missing.
    package static func isPasswordMissing(in cause: String) -> Bool {
        cause.contains(KeyText.missingPassword) || cause.contains(PKCS12Contents.missingPassphrase)
    }

    /// Returns text that is in base64, without regard to characters that base64 does not have; nil for another value.
    static func decoded(_ value: String) -> String? {
        guard let bytes = Data(base64Encoded: value, options: .ignoreUnknownCharacters) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}

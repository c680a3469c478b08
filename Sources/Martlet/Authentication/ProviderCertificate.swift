// SPDX-License-Identifier: Apache-2.0

public import MartletCore
internal import MartletTransport

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A provider certificate of one app, with its private key.
///
/// It is valid for the topics that it lists, and not for every push type: Live Activities and location need provider
/// tokens. Source: "Establishing a certificate-based connection to APNs".
public struct ProviderCertificate: Sendable, CustomStringConvertible, CustomReflectable {
    let identity: TLSContext.Identity

    /// The topics that the certificate lists: the bundle identifier, and those of other kinds such as `.voip`.
    public let topics: [Topic]
    /// Whether the certificate is valid for Apple's development servers.
    public let isForDevelopment: Bool
    /// Whether the certificate is valid for Apple's production servers.
    public let isForProduction: Bool
    /// The time at which the certificate expires; nil when it cannot be parsed.
    public let expiry: Date?
    /// The time from which the certificate is valid; nil when it cannot be parsed.
    package let start: Date?

    /// Creates a certificate from PEM text.
    ///
    /// - Parameters:
    ///   - pem: The certificate, with any intermediate certificates in any order.
    ///   - privateKeyPEM: Its private key.
    ///   - passphrase: The passphrase of an encrypted private key; nil, the default, for a key that is not encrypted.
    /// - Throws: ``APNsError`` with the code `badCredentials` when either text has other contents, they do not match,
    ///   or the passphrase is missing or wrong.
    public init(pem: String, privateKeyPEM: String, passphrase: String? = nil) throws(APNsError) {
        do throws(TransportError) {
            self.init(
                try ClientIdentity(certificatePEM: pem, privateKeyPEM: privateKeyPEM, passphrase: passphrase)
            )
        } catch {
            throw APNsError(error)
        }
    }

    /// Creates a certificate from the bytes of a PKCS#12 file (`.p12`), as exported from the Keychain.
    ///
    /// - Parameters:
    ///   - pkcs12: The bytes, or their base64, such as the value of a secret store.
    ///   - passphrase: The passphrase of the file; empty for none.
    /// - Throws: ``APNsError`` with the code `badCredentials` when the passphrase is wrong, or the file has other
    ///   contents.
    public init(pkcs12: some Sequence<UInt8>, passphrase: String) throws(APNsError) {
        do throws(TransportError) {
            self.init(try ClientIdentity(pkcs12: Array(pkcs12), passphrase: passphrase))
        } catch {
            throw APNsError(error)
        }
    }

    /// Creates a certificate from a PKCS#12 file (`.p12`), as exported from the Keychain.
    ///
    /// - Parameters:
    ///   - file: The path of the file.
    ///   - passphrase: The passphrase of the file; empty for none.
    /// - Throws: ``APNsError`` with the code `badCredentials` when the file cannot be read, the passphrase is wrong, or
    ///   the file has other contents.
    public init(pkcs12File file: String, passphrase: String) throws(APNsError) {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try FileContents.read(file)
        } catch {
            throw APNsError(.badCredentials, description: "the certificate file \(error)")
        }
        do throws(APNsError) {
            try self.init(pkcs12: bytes, passphrase: passphrase)
        } catch {
            throw APNsError(.badCredentials, description: "\(ShownValue(file)): \(error.description)")
        }
    }

    private init(_ identity: ClientIdentity) {
        self.identity = identity.identity
        topics = identity.facts.topics.map(Topic.init(rawValue:))
        isForDevelopment = identity.facts.isForDevelopment
        isForProduction = identity.facts.isForProduction
        start = identity.facts.start.map(Date.init(secondsSince1970:))
        expiry = identity.facts.expiry.map(Date.init(secondsSince1970:))
    }

    /// The certificate's topics, without its key.
    public var description: String { "ProviderCertificate(\(topics.map(\.rawValue).joined(separator: ", ")))" }

    /// A mirror without children, which shows only ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

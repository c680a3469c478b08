public import APNs
internal import Wire

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A provider certificate of one app with its private key.
///
/// It serves the topics that it lists, and not every push type: Live Activities and location need provider tokens.
/// Source: "Establishing a certificate-based connection to APNs".
public struct ProviderCertificate: Sendable, CustomStringConvertible, CustomReflectable {
    let identity: TLSContext.Identity

    /// The topics that the certificate lists: the bundle identifier, and those of other kinds such as `.voip`.
    public let topics: [Topic]
    /// Whether the certificate is good for Apple's development servers.
    public let isForDevelopment: Bool
    /// Whether the certificate is good for Apple's production servers.
    public let isForProduction: Bool
    /// The time from which on the certificate is not valid; nil when it cannot be read.
    public let expiry: Date?

    /// A certificate from PEM text.
    ///
    /// - Parameters:
    ///   - pem: The certificate, followed by its intermediates if any.
    ///   - privateKeyPEM: Its private key.
    /// - Throws: ``APNsError`` with the code `badCredentials` when either is something else, or they do not belong
    ///   together.
    public init(pem: String, privateKeyPEM: String) throws(APNsError) {
        do throws(WireError) {
            self.init(try ClientIdentity(certificatePEM: pem, privateKeyPEM: privateKeyPEM))
        } catch {
            throw APNsError(error)
        }
    }

    /// A certificate from the bytes of a PKCS#12 file (`.p12`), as the Keychain exports it.
    ///
    /// - Parameters:
    ///   - pkcs12: The bytes.
    ///   - passphrase: What the file was protected with; empty for nothing.
    /// - Throws: ``APNsError`` with the code `badCredentials` when the passphrase is wrong, or the file holds something
    ///   else.
    public init(pkcs12: [UInt8], passphrase: String) throws(APNsError) {
        do throws(WireError) {
            self.init(try ClientIdentity(pkcs12: pkcs12, passphrase: passphrase))
        } catch {
            throw APNsError(error)
        }
    }

    /// A certificate from a PKCS#12 file (`.p12`), as the Keychain exports it.
    ///
    /// - Parameters:
    ///   - file: The path of the file.
    ///   - passphrase: What the file was protected with; empty for nothing.
    /// - Throws: ``APNsError`` with the code `badCredentials` when the file cannot be read, the passphrase is wrong, or
    ///   it holds something else.
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
            throw APNsError(.badCredentials, description: "\(file): \(error.description)")
        }
    }

    private init(_ identity: ClientIdentity) {
        self.identity = identity.identity
        topics = identity.facts.topics.map(Topic.init(rawValue:))
        isForDevelopment = identity.facts.isForDevelopment
        isForProduction = identity.facts.isForProduction
        expiry = identity.facts.expiry.map(Date.init(secondsSince1970:))
    }

    /// The certificate's topics, never its key.
    public var description: String { "ProviderCertificate(\(topics.map(\.rawValue).joined(separator: ", ")))" }

    /// No more than ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

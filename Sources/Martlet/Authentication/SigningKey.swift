// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
package import MartletTransport

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A team's private key for signing provider tokens: the content of a `.p8` file with its two identifiers.
///
/// Source: "Establishing a token-based connection to APNs". The key itself never appears in a description.
public struct SigningKey: Sendable, CustomStringConvertible, CustomReflectable {
    /// The key's identifier in the developer account, ten characters.
    public let keyID: String
    /// The team's identifier, ten characters.
    public let teamID: String
    private let key: ES256PrivateKey

    /// Creates a key from the text of a `.p8` file.
    ///
    /// - Parameters:
    ///   - pem: The text, including the line `-----BEGIN PRIVATE KEY-----`.
    ///   - keyID: The key's identifier.
    ///   - teamID: The team's identifier.
    /// - Throws: ``APNsError`` with the code `badCredentials` when the text is not a P-256 private key, or an
    ///   identifier is not ten characters of A–Z and 0–9.
    public init(pem: String, keyID: String, teamID: String) throws(APNsError) {
        do {
            self.init(try ES256PrivateKey(pem: pem), keyID: keyID, teamID: teamID)
        } catch {
            throw APNsError(.badCredentials, description: "the signing key cannot be used: \(error)")
        }
        try SigningKey.check(keyID, "keyID", of: "the key")
        try SigningKey.check(teamID, "teamID", of: "the team")
    }

    /// Creates a key from the bytes of a `.p8` file, such as a value from a secret store.
    ///
    /// - Parameters:
    ///   - pem: The text in UTF-8, including the line `-----BEGIN PRIVATE KEY-----`.
    ///   - keyID: The key's identifier.
    ///   - teamID: The team's identifier.
    /// - Throws: ``APNsError`` with the code `badCredentials` when the text is not a P-256 private key, or an
    ///   identifier is not ten characters of A–Z and 0–9.
    public init(pem: some Sequence<UInt8>, keyID: String, teamID: String) throws(APNsError) {
        try self.init(pem: String(decoding: Array(pem), as: UTF8.self), keyID: keyID, teamID: teamID)
    }

    /// Returns whether a text can be the identifier of a key or a team: ten characters of A–Z and 0–9.
    package static func isIdentifier(_ text: String) -> Bool {
        text.utf8.count == 10
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            }
    }

    private static func check(_ text: String, _ field: String, of what: String) throws(APNsError) {
        guard !isIdentifier(text) else { return }
        // A key that was passed as an identifier by mistake must not be shown.
        let found = text.count > 20 ? "\(text.count) characters" : ShownValue.quoted(text)
        throw APNsError(
            .badCredentials,
            description:
                "\(field) must be the ten characters of A-Z and 0-9 that name \(what) in the developer account "
                + "(found \(found))"
        )
    }

    /// Creates a key from a `.p8` file.
    ///
    /// - Parameters:
    ///   - file: The path of the file. A value with the text of the file, such as that of a variable, is read as the
    ///     key itself, and an error shows no value that may be a secret.
    ///   - keyID: The key's identifier.
    ///   - teamID: The team's identifier.
    /// - Throws: ``APNsError`` with the code `badCredentials` when the file cannot be read or has no such key, or an
    ///   identifier is not ten characters of A–Z and 0–9.
    public init(file: String, keyID: String, teamID: String) throws(APNsError) {
        let pem: String
        do throws(FileError) {
            pem = try FileContents.textOrPEM(file)
        } catch {
            throw APNsError(.badCredentials, description: "the key file \(error)")
        }
        do throws(APNsError) {
            try self.init(pem: pem, keyID: keyID, teamID: teamID)
        } catch {
            throw APNsError(.badCredentials, description: "\(ShownValue(file)): \(error.description)")
        }
    }

    /// Returns the public key, which verifies the signatures.
    ///
    /// - Returns: The public key.
    /// - Throws: ``APNsError`` with the code `badCredentials` when it cannot be derived.
    package func publicKey() throws(APNsError) -> ES256PublicKey {
        do throws(CryptographyError) {
            return try ES256PublicKey(pem: key.publicKeyPEM())
        } catch {
            throw APNsError(.badCredentials, description: "the signing key cannot be used: \(error)")
        }
    }

    /// The SHA-256 of the public key as hexadecimal digits, which identifies the key itself.
    ///
    /// A key file can be replaced while the identifier of the key stays the same.
    ///
    /// - Throws: ``APNsError`` with the code `badCredentials` when it cannot be computed.
    package var fingerprint: String {
        get throws(APNsError) {
            do throws(CryptographyError) {
                let hash = try SHA256.hash(Array(try key.publicKeyPEM().utf8))
                return hash.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            } catch {
                throw APNsError(.badCredentials, description: "the signing key cannot be used: \(error)")
            }
        }
    }

    /// Returns whether another key is this one: the same team, identifier and public key.
    package func isSame(as other: SigningKey) -> Bool {
        teamID == other.teamID && keyID == other.keyID && (try? fingerprint) == (try? other.fingerprint)
    }

    private init(_ key: ES256PrivateKey, keyID: String, teamID: String) {
        self.key = key
        self.keyID = keyID
        self.teamID = teamID
    }

    /// Creates a new key that APNs does not know; a simulator accepts it for any team.
    ///
    /// - Parameters:
    ///   - keyID: The key's identifier. A simulator rejects an identifier that is not ten characters of A–Z and 0–9
    ///     unless the key is registered with it.
    ///   - teamID: The team's identifier, with the same rule.
    /// - Returns: The key.
    /// - Throws: ``APNsError`` with the code `system` when no key can be created.
    public static func ephemeral(
        keyID: String = "EPHEMERAL0",
        teamID: String = "LOCALTEAM0"
    ) throws(APNsError) -> SigningKey {
        do {
            return SigningKey(try ES256PrivateKey(), keyID: keyID, teamID: teamID)
        } catch {
            throw APNsError(.system, description: "cannot create a signing key: \(error)")
        }
    }

    /// Returns a provider token issued at this time, for an `authorization: bearer` header.
    ///
    /// A ``PushClient`` creates its own tokens; this is for tools that send to APNs in another way.
    ///
    /// - Parameter issuedAt: The time of issue, rounded down to a whole second.
    /// - Returns: The token's text.
    /// - Throws: ``APNsError`` with the code `badCredentials` when the key cannot sign.
    public func token(issuedAt: Date) throws(APNsError) -> [UInt8] {
        let token = ProviderToken(keyID: keyID, teamID: teamID, issuedAt: issuedAt)
        do {
            return token.signed(by: try key.sign(token.signingInput))
        } catch {
            throw APNsError(.badCredentials, description: "the key \(keyID) cannot sign: \(error)")
        }
    }

    /// Returns the public key, for registration with a simulator.
    ///
    /// - Returns: The PEM text.
    /// - Throws: ``APNsError`` with the code `badCredentials` when it cannot be written.
    public func publicKeyPEM() throws(APNsError) -> String {
        do {
            return try key.publicKeyPEM()
        } catch {
            throw APNsError(.badCredentials, description: "cannot derive the public key of \(keyID): \(error)")
        }
    }

    /// The identifiers of the key and the team, without the key.
    public var description: String { "SigningKey(\(keyID) of team \(teamID))" }

    /// A mirror without children, which shows only ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

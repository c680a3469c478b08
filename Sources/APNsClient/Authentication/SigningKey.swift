internal import APNs
package import Wire

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The private key of a team that signs provider tokens: the content of a `.p8` file with the two names it goes by.
///
/// Source: "Establishing a token-based connection to APNs". The key itself never appears in a description.
public struct SigningKey: Sendable, CustomStringConvertible, CustomReflectable {
    /// The ten characters that name the key in the developer account.
    public let keyID: String
    /// The ten characters that name the team.
    public let teamID: String
    private let key: ES256PrivateKey

    /// A key from the text of a `.p8` file.
    ///
    /// - Parameters:
    ///   - pem: The text, `-----BEGIN PRIVATE KEY-----` and all.
    ///   - keyID: The key's name.
    ///   - teamID: The team's name.
    /// - Throws: ``APNsError`` with the code `badCredentials` when the text is not a P-256 private key, or a name is
    ///   not ten characters of A–Z and 0–9.
    public init(pem: String, keyID: String, teamID: String) throws(APNsError) {
        do {
            self.init(try ES256PrivateKey(pem: pem), keyID: keyID, teamID: teamID)
        } catch {
            throw APNsError(.badCredentials, description: "the signing key cannot be used: \(error)")
        }
        try SigningKey.check(keyID, "keyID", of: "the key")
        try SigningKey.check(teamID, "teamID", of: "the team")
    }

    /// Whether a text can be the name of a key or a team: ten characters of A–Z and 0–9.
    package static func isIdentifier(_ text: String) -> Bool {
        text.utf8.count == 10
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            }
    }

    private static func check(_ text: String, _ field: String, of what: String) throws(APNsError) {
        guard !isIdentifier(text) else { return }
        // A key that is given in its place by mistake must not be shown.
        let found = text.count > 20 ? "\(text.count) characters" : "\"\(text)\""
        throw APNsError(
            .badCredentials,
            description:
                "\(field) must be the ten characters of A-Z and 0-9 that name \(what) in the developer account "
                + "(found \(found))"
        )
    }

    /// A key from a `.p8` file.
    ///
    /// - Parameters:
    ///   - file: The path of the file.
    ///   - keyID: The key's name.
    ///   - teamID: The team's name.
    /// - Throws: ``APNsError`` with the code `badCredentials` when the file cannot be read or holds no such key.
    public init(file: String, keyID: String, teamID: String) throws(APNsError) {
        let pem: String
        do throws(FileError) {
            pem = try FileContents.text(file)
        } catch {
            throw APNsError(.badCredentials, description: "the key file \(error)")
        }
        do throws(APNsError) {
            try self.init(pem: pem, keyID: keyID, teamID: teamID)
        } catch {
            throw APNsError(.badCredentials, description: "\(file): \(error.description)")
        }
    }

    /// The half of the key with which its signatures are checked.
    ///
    /// - Returns: The public key.
    /// - Throws: ``APNsError`` with the code `badCredentials` when there is none.
    package func publicKey() throws(APNsError) -> ES256PublicKey {
        do throws(CryptographyError) {
            return try ES256PublicKey(pem: key.publicKeyPEM())
        } catch {
            throw APNsError(.badCredentials, description: "the signing key cannot be used: \(error)")
        }
    }

    private init(_ key: ES256PrivateKey, keyID: String, teamID: String) {
        self.key = key
        self.keyID = keyID
        self.teamID = teamID
    }

    /// A fresh key that APNs does not know: a simulator takes it for any team.
    ///
    /// - Parameters:
    ///   - keyID: A name for the key. A simulator refuses a name that is not ten characters of A–Z and 0–9 unless the
    ///     key is registered with it.
    ///   - teamID: The team's name, with the same rule.
    /// - Returns: The key.
    /// - Throws: ``APNsError`` with the code `system` when no key can be made.
    public static func ephemeral(
        keyID: String = "EPHEMERAL0",
        teamID: String = "LOCALTEAM0"
    ) throws(APNsError) -> SigningKey {
        do {
            return SigningKey(try ES256PrivateKey(), keyID: keyID, teamID: teamID)
        } catch {
            throw APNsError(.system, description: "no signing key can be made: \(error)")
        }
    }

    /// A provider token issued at this time, ready for an `authorization: bearer` header.
    ///
    /// A ``PushClient`` makes its own; this is for tools that speak to APNs by other means.
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

    /// The public half, for a simulator that is to know the key.
    ///
    /// - Returns: PEM text.
    /// - Throws: ``APNsError`` with the code `badCredentials` when it cannot be written.
    public func publicKeyPEM() throws(APNsError) -> String {
        do {
            return try key.publicKeyPEM()
        } catch {
            throw APNsError(.badCredentials, description: "the key \(keyID) has no public half: \(error)")
        }
    }

    /// The key's name, never its material.
    public var description: String { "SigningKey(\(keyID) of team \(teamID))" }

    /// No more than ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

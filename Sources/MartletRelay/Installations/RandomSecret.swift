// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletTransport

/// A random text that proves what its holder may do: a ticket, or the secret of an installation.
///
/// Only its hash is stored.
struct RandomSecret: Sendable {
    /// The number of random characters, of five bits each.
    private static let length = 52
    private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

    /// The prefix, and 52 characters of base32 (RFC 4648 §6).
    let text: String

    /// Creates a secret from the system's source of random numbers.
    init(_ kind: SecretPrefix) {
        var generator = SystemRandomNumberGenerator()
        let characters = (0..<RandomSecret.length).map { _ in
            RandomSecret.alphabet[Int(truncatingIfNeeded: generator.next() as UInt64) & 31]
        }
        text = kind.rawValue + String(decoding: characters, as: UTF8.self)
    }

    /// Parses a secret; nil for text that cannot be one, so that it is neither hashed nor looked up.
    init?(_ text: some StringProtocol, _ kind: SecretPrefix) {
        guard text.utf8.count == kind.rawValue.utf8.count + RandomSecret.length, text.hasPrefix(kind.rawValue),
            text.utf8.dropFirst(kind.rawValue.utf8.count).allSatisfy(RandomSecret.alphabet.contains)
        else { return nil }
        self.text = String(text)
    }

    /// Parses the secret of an `authorization` field; nil for another credential.
    init?(authorization: String?, _ kind: SecretPrefix) {
        guard let authorization, let space = authorization.firstIndex(of: " "),
            authorization[..<space].lowercased() == "bearer"
        else { return nil }
        self.init(authorization[authorization.index(after: space)...], kind)
    }

    /// The SHA-256 of the text.
    var hash: [UInt8] {
        get throws(InstallationError) {
            do throws(CryptographyError) {
                return try SHA256.hash(Array(text.utf8))
            } catch {
                throw InstallationError(.unavailable, "the credential cannot be hashed: \(error)", retryAfter: 5)
            }
        }
    }
}

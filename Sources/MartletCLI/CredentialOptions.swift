// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCommands
import MartletCore
import MartletTransport

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The options that name a signing key.
struct KeyOptions: Sendable {
    private var file: InputFile?
    private var keyID: AccountIdentifier?
    private var teamID: AccountIdentifier?

    static let declared = Group(
        Option<InputFile?>("--key", "Signing key, .p8, or its text"),
        Option<AccountIdentifier?>(
            "--key-id",
            "Identifier of the key, ten characters; by default that of AuthKey_<id>.p8"
        ),
        Option<AccountIdentifier?>("--team-id", "Identifier of the team, ten characters")
    ) { KeyOptions(file: $0, keyID: $1, teamID: $2) }

    /// Whether a file was given.
    var hasFile: Bool { file != nil }

    /// Whether no option was given.
    var isEmpty: Bool { file == nil && keyID == nil && teamID == nil }

    /// Returns the key that the options specify.
    ///
    /// - Parameter isRequired: Whether a key must be given; otherwise a missing key is replaced by a generated one.
    /// - Returns: The key.
    /// - Throws: ``CredentialError`` if an option is missing or the file cannot be used.
    func signingKey(isRequired: Bool) throws(CredentialError) -> SigningKey {
        guard let file else {
            guard !isRequired else {
                throw .missing("--key is missing: Apple accepts only pushes from your team, signed with its .p8 key")
            }
            do throws(APNsError) {
                return try .ephemeral(keyID: keyID?.text ?? "EPHEMERAL0", teamID: teamID?.text ?? "LOCALTEAM0")
            } catch {
                throw CredentialError("\(error)", advice: "Try again.")
            }
        }
        let pem = try KeyOptions.text(of: file)
        guard let keyID = keyID ?? KeyOptions.keyID(inNameOf: file.path) else {
            throw .missing("--key-id is missing: the name of \(file.shownPath) does not contain it")
        }
        guard let teamID else {
            throw .missing("--team-id is missing: it is shown at the top right of your developer account")
        }
        return try SigningKey(pem: pem, of: file, keyID: keyID.text, teamID: teamID.text)
    }

    /// Returns the key that a provider token must be signed with; its identifiers default to those of the token.
    ///
    /// - Parameter claims: The claims of the token.
    /// - Returns: The key; nil if no option was given.
    /// - Throws: ``CredentialError`` if `--key` is missing or the file cannot be used.
    func verificationKey(for claims: ProviderToken) throws(CredentialError) -> SigningKey? {
        guard !isEmpty else { return nil }
        guard let file else { throw .missing("--key is missing: verifying the signature requires the key") }
        let keyID = keyID ?? KeyOptions.keyID(inNameOf: file.path)
        return try SigningKey(
            pem: KeyOptions.text(of: file),
            of: file,
            keyID: keyID?.text ?? claims.keyID,
            teamID: teamID?.text ?? claims.teamID
        )
    }

    private static func text(of file: InputFile) throws(CredentialError) -> String {
        do throws(UsageError) {
            let bytes = try file.bytes()
            guard PKCS12Contents.der(in: bytes) == nil else {
                throw UsageError("\(file.label): this is a PKCS#12 file with a certificate: give it to --certificate")
            }
            return try file.text(of: bytes)
        } catch {
            throw CredentialError("\(error)", advice: CredentialError.keyAdvice)
        }
    }

    /// Returns the identifier in the file name that Apple gives a key; nil for another name.
    private static func keyID(inNameOf file: String) -> AccountIdentifier? {
        let name = file.split(separator: "/").last ?? ""
        guard name.hasPrefix("AuthKey_"), name.hasSuffix(".p8") else { return nil }
        return try? AccountIdentifier(argument: String(name.dropFirst("AuthKey_".count).dropLast(".p8".count)))
    }
}

/// The ten-character identifier of a key or a team in the developer account.
struct AccountIdentifier: ArgumentValue {
    let text: String

    /// Parses an identifier.
    init(argument: String) throws(UsageError) {
        guard SigningKey.isIdentifier(argument) else {
            // The value may be a key given by mistake, which must not be shown.
            let found = argument.count > 20 ? "\(argument.count) characters" : ShownValue.quoted(argument)
            throw UsageError("must be ten characters of A-Z and 0-9, as in the developer account (found \(found))")
        }
        text = argument
    }

    static var valueName: String { "id" }
}

extension SigningKey {
    /// Creates a key from the content of a file; an error names the file.
    fileprivate init(pem: String, of file: InputFile, keyID: String, teamID: String) throws(CredentialError) {
        do throws(APNsError) {
            try self.init(pem: pem, keyID: keyID, teamID: teamID)
        } catch {
            throw CredentialError("\(file.label): \(error)", advice: CredentialError.keyAdvice)
        }
    }
}

/// The options for a client certificate.
struct CertificateOptions: Sendable {
    /// The first byte of DER, the encoding of PKCS#12 files.
    private static let derSequence: UInt8 = 0x30

    private var file: InputFile?
    private var password: String?
    private var passwordFile: InputFile?

    static let declared = Group(
        Option<InputFile?>("--certificate", "Client certificate and its key in place of --key, PEM or PKCS#12"),
        Option<String?>("--certificate-password", "Password of a PKCS#12 file or of an encrypted key"),
        Option<InputFile?>("--certificate-password-file", "File whose first line is the password")
    ) { CertificateOptions(file: $0, password: $1, passwordFile: $2) }

    /// Whether a certificate was given.
    var isGiven: Bool { file != nil }

    /// Returns the certificate that the options specify; nil without one.
    func certificate() throws(CredentialError) -> ProviderCertificate? {
        do throws(UsageError) {
            return try readCertificate()
        } catch {
            throw CredentialError("\(error)", advice: "Give --certificate a PEM or PKCS#12 file with the private key.")
        }
    }

    private func readCertificate() throws(UsageError) -> ProviderCertificate? {
        guard let file else {
            guard password == nil, passwordFile == nil else {
                throw UsageError("--certificate-password requires --certificate")
            }
            return nil
        }
        guard password == nil || passwordFile == nil else {
            throw UsageError("--certificate-password and --certificate-password-file exclude each other")
        }
        let bytes = try file.bytes()
        let line = try passwordFile?.hidingPath().firstLine()
        let isBinary = bytes.first == CertificateOptions.derSequence || PKCS12Contents.der(in: bytes) != nil
        let pem = isBinary ? nil : try file.text(of: bytes)
        if let pem, PEMText.isPrivateKey(pem) {
            throw UsageError("\(file.label): this is a private key without a certificate: give a .p8 key to --key")
        }
        do throws(APNsError) {
            // An empty variable is no password, as when a secret of a CI system is not set.
            let passphrase = (line ?? password).flatMap { $0.isEmpty ? nil : $0 }
            if let pem { return try ProviderCertificate(pem: pem, privateKeyPEM: pem, passphrase: passphrase) }
            return try ProviderCertificate(pkcs12: bytes, passphrase: passphrase ?? "")
        } catch {
            let hint =
                PEMText.isPasswordMissing(in: error.description)
                ? "; give the password with --certificate-password or MARTLET_CERTIFICATE_PASSWORD" : ""
            throw UsageError("\(file.label): \(error)\(hint)")
        }
    }
}

extension ProviderCertificate {
    /// The topics for messages; nil for a certificate without any, such as one for a relay.
    var topicList: String? { topics.isEmpty ? nil : topics.map(\.rawValue).joined(separator: ", ") }

    /// The environments for messages; nil for a certificate without any.
    var environmentList: String? {
        let names = [isForDevelopment ? "development" : nil, isForProduction ? "production" : nil].compactMap(\.self)
        return names.isEmpty ? nil : names.joined(separator: " and ")
    }

    /// Returns the error for a certificate that is not valid at a time; nil if it is valid.
    func validityError(at now: Date) -> CredentialError? {
        if let expiry, expiry <= now {
            return CredentialError(
                "expired on \(expiry.formatted(.iso8601))",
                advice: "Create a new certificate in the developer account, and give --certificate its file."
            )
        }
        guard let start, start > now else { return nil }
        return CredentialError(
            "not valid before \(start.formatted(.iso8601))",
            advice: "Check this machine's clock, which shows \(now.formatted(.iso8601))."
        )
    }
}

/// A key or certificate that is missing or cannot be used.
struct CredentialError: Error, CustomStringConvertible {
    fileprivate static let keyAdvice = "Give --key the unchanged .p8 file from the developer account."

    let description: String
    /// The advice of `martlet doctor`, a sentence.
    let advice: String

    init(_ description: String, advice: String) {
        self.description = description
        self.advice = advice
    }

    /// Returns an error for an option that was not given.
    static func missing(_ description: String) -> CredentialError {
        CredentialError(description, advice: "Add this option.")
    }
}

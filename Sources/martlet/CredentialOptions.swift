import APNsClient
import Commands

/// The options that name a signing key.
struct KeyOptions: Sendable {
    private var file: InputFile?
    private var keyID: AccountIdentifier?
    private var teamID: AccountIdentifier?

    static let declared = Group(
        Option<InputFile?>("--key", "Signing key, .p8"),
        Option<AccountIdentifier?>(
            "--key-id",
            "Identifier of the key, ten characters; by default that of AuthKey_<id>.p8"
        ),
        Option<AccountIdentifier?>("--team-id", "Identifier of the team, ten characters")
    ) { KeyOptions(file: $0, keyID: $1, teamID: $2) }

    /// Whether no option was given.
    var isEmpty: Bool { file == nil && keyID == nil && teamID == nil }

    /// The key that the options name.
    ///
    /// - Parameter isRequired: Whether a key must be given; otherwise a missing one is replaced by a fresh key.
    /// - Returns: The key.
    /// - Throws: ``UsageError`` when an option is missing or the file cannot be used.
    func signingKey(isRequired: Bool) throws -> SigningKey {
        guard let file else {
            guard !isRequired else {
                throw UsageError("--key is missing: Apple accepts only pushes that are signed with your team's .p8 key")
            }
            return try .ephemeral(keyID: keyID?.text ?? "EPHEMERAL0", teamID: teamID?.text ?? "LOCALTEAM0")
        }
        guard let keyID = keyID ?? KeyOptions.keyID(inNameOf: file.path) else {
            throw UsageError("--key-id is missing: the name of \(file.path) does not contain it")
        }
        guard let teamID else {
            throw UsageError("--team-id is missing: it is shown at the top right of your developer account")
        }
        return try SigningKey(pem: file.text(), of: file, keyID: keyID.text, teamID: teamID.text)
    }

    /// The identifier in the name that Apple gives the file of a key; nil for another name.
    private static func keyID(inNameOf file: String) -> AccountIdentifier? {
        let name = file.split(separator: "/").last ?? ""
        guard name.hasPrefix("AuthKey_"), name.hasSuffix(".p8") else { return nil }
        return try? AccountIdentifier(argument: String(name.dropFirst("AuthKey_".count).dropLast(".p8".count)))
    }
}

/// The ten characters that name a key or a team in the developer account.
struct AccountIdentifier: ArgumentValue {
    let text: String

    /// An identifier from text.
    init(argument: String) throws(UsageError) {
        guard SigningKey.isIdentifier(argument) else {
            // A key that is given in its place by mistake must not be shown.
            let found = argument.count > 20 ? "\(argument.count) characters" : "\"\(argument)\""
            throw UsageError("must be ten characters of A-Z and 0-9, as in the developer account (found \(found))")
        }
        text = argument
    }

    /// Part of `ArgumentValue`.
    static var valueName: String { "id" }
}

extension SigningKey {
    /// A key from a file that has been read; an error names the file.
    fileprivate init(pem: String, of file: InputFile, keyID: String, teamID: String) throws(UsageError) {
        do throws(APNsError) {
            try self.init(pem: pem, keyID: keyID, teamID: teamID)
        } catch {
            throw UsageError("\(file.label): \(error)")
        }
    }
}

/// The options that name a client certificate.
struct CertificateOptions: Sendable {
    /// The first byte of DER, in which PKCS#12 files are written.
    private static let derSequence: UInt8 = 0x30

    private var file: InputFile?
    private var password: String?
    private var passwordFile: InputFile?

    static let declared = Group(
        Option<InputFile?>("--certificate", "Client certificate and its key in place of --key, PEM or PKCS#12"),
        Option<String?>("--certificate-password", "Password of a PKCS#12 file"),
        Option<InputFile?>("--certificate-password-file", "File whose first line is that password")
    ) { CertificateOptions(file: $0, password: $1, passwordFile: $2) }

    /// The certificate that the options name; nil without one.
    func certificate() throws(UsageError) -> ProviderCertificate? {
        guard let file else {
            guard password == nil, passwordFile == nil else {
                throw UsageError("--certificate-password needs --certificate")
            }
            return nil
        }
        guard password == nil || passwordFile == nil else {
            throw UsageError("--certificate-password and --certificate-password-file exclude each other")
        }
        let bytes = try file.bytes()
        let line = try passwordFile?.firstLine()
        let pem = bytes.first == CertificateOptions.derSequence ? nil : try file.text(of: bytes)
        do throws(APNsError) {
            if let pem { return try ProviderCertificate(pem: pem, privateKeyPEM: pem) }
            return try ProviderCertificate(pkcs12: bytes, passphrase: line ?? password ?? "")
        } catch {
            throw UsageError("\(file.label): \(error)")
        }
    }
}

import APNsClient
import Commands

/// The options that say which server to talk to and who does.
struct ServerOptions: Sendable {
    /// Apple's two environments.
    enum Environment: String, CaseIterable, ArgumentValue {
        case production
        case development
    }

    private var environment: Environment
    private var host: APNsEndpoint?
    private var authorities: InputFile?
    private var key: KeyOptions

    static let declared = Group(
        Option("--environment", "Which of Apple's environments", default: Environment.development),
        Option<APNsEndpoint?>("--host", "Another server than Apple's; http:// in front for none of TLS"),
        Option<InputFile?>("--ca", "Certificates to trust besides the system's, PEM"),
        KeyOptions.declared
    ) { ServerOptions(environment: $0, host: $1, authorities: $2, key: $3) }

    /// A client for the server.
    func client(checksBeforeSending: Bool) throws -> PushClient {
        let apple: APNsEndpoint = environment == .production ? .production : .development
        var configuration = PushClient.Configuration(checksBeforeSending: checksBeforeSending)
        configuration.additionalAuthorities = try authorities?.text()
        return try PushClient(
            host ?? apple,
            authentication: .token(key.signingKey(isForApple: host == nil)),
            configuration: configuration
        )
    }
}

/// The options that name a signing key.
struct KeyOptions: Sendable {
    private var file: InputFile?
    private var keyID: String?
    private var teamID: String?

    static let declared = Group(
        Option<InputFile?>("--key", "The signing key, .p8"),
        Option<String?>("--key-id", "The ten characters that name the key; taken from a file AuthKey_<id>.p8"),
        Option<String?>("--team-id", "The ten characters that name the team")
    ) { KeyOptions(file: $0, keyID: $1, teamID: $2) }

    /// Whether nothing was given.
    var isEmpty: Bool { file == nil && keyID == nil && teamID == nil }

    /// The key that was named; for servers that are not Apple's a fresh one when none was.
    func signingKey(isForApple: Bool) throws -> SigningKey {
        guard let file else {
            guard !isForApple else {
                throw UsageError("--key is missing: Apple answers only to pushes signed with your team's .p8 key")
            }
            return try .ephemeral(keyID: keyID ?? "EPHEMERAL0", teamID: teamID ?? "LOCALTEAM0")
        }
        guard let keyID = keyID ?? KeyOptions.keyID(inNameOf: file.path) else {
            throw UsageError("--key-id is missing: it cannot be told from the name of \(file.path)")
        }
        guard let teamID else {
            throw UsageError("--team-id is missing: it stands at the top right of your developer account")
        }
        return try SigningKey(file: file.path, keyID: keyID, teamID: teamID)
    }

    /// Apple names the files of keys after them.
    private static func keyID(inNameOf file: String) -> String? {
        let name = file.split(separator: "/").last ?? ""
        guard name.hasPrefix("AuthKey_"), name.hasSuffix(".p8") else { return nil }
        return String(name.dropFirst("AuthKey_".count).dropLast(".p8".count))
    }
}

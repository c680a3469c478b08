// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCommands
import MartletTransport

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The options that select the server, and the credentials for it.
struct ServerOptions: Sendable {
    /// Apple's two environments.
    enum Environment: String, CaseIterable, ArgumentValue {
        case production
        case development
    }

    private var environment: Environment
    private var host: APNsEndpoint?
    private var authorities: InputFile?
    private var givenProxy: PushClient.Proxy?
    private var isWithoutRetries: Bool
    private var key: KeyOptions
    private var certificate: CertificateOptions
    /// The variables of the process, which may select a proxy.
    private var variables: [String: String]

    static let declared = Group(
        Option("--environment", "Apple's environment", default: Environment.development),
        Option<APNsEndpoint?>("--host", "Server other than Apple's; http://host:port for HTTP/2 without TLS"),
        Option<InputFile?>("--ca", "Certificates to trust in addition to the system's, PEM"),
        Option<PushClient.Proxy?>("--proxy", "HTTP proxy; by default that of HTTPS_PROXY, with NO_PROXY"),
        Flag("--no-retry", "Do not retry"),
        KeyOptions.declared,
        CertificateOptions.declared
    ) {
        ServerOptions(
            environment: $0,
            host: $1,
            authorities: $2,
            givenProxy: $3,
            isWithoutRetries: $4,
            key: $5,
            certificate: $6,
            variables: ProcessInfo.processInfo.environment
        )
    }

    /// The server.
    var endpoint: APNsEndpoint { host ?? (environment == .production ? .production : .development) }

    /// The host and the port of the server, for messages.
    var address: HostPort { HostPort(host: endpoint.host, port: endpoint.port) }

    /// Whether `--proxy` or its variable has the proxy, and not the variables that other programs share.
    var hasProxyOption: Bool { givenProxy != nil }

    /// Whether the server is Apple's.
    var isApple: Bool { host == nil }

    /// The options for each host that Apple's pages name for broadcasts; empty for a server other than Apple's.
    ///
    /// Source: "Sending broadcast push notification requests to APNs", whose text and examples differ.
    var broadcastServers: [ServerOptions] {
        guard isApple else { return [] }
        var other = self
        let name = environment == .production ? "api-broadcast" : "api-broadcast.sandbox"
        other.host = APNsEndpoint(host: "\(name).push.apple.com")
        return [self, other]
    }

    /// Whether connections use TLS.
    var isEncrypted: Bool { host?.isEncrypted ?? true }

    /// Whether a client certificate authenticates the client in place of provider tokens.
    var hasCertificate: Bool { certificate.isGiven }

    /// Returns the client certificate; nil without one.
    func clientCertificate() throws(CredentialError) -> ProviderCertificate? { try certificate.certificate() }

    /// Whether provider tokens are signed with a generated key, which only a simulator accepts.
    var hasGeneratedKey: Bool { !hasCertificate && !key.hasFile }

    /// Creates a client for the server.
    ///
    /// - Parameters:
    ///   - checksBeforeSending: Whether pushes that APNs would refuse are not sent.
    ///   - isSending: Whether pushes will be sent; describing pushes needs no key.
    /// - Returns: The client.
    /// - Throws: ``UsageError``, ``CredentialError`` or ``APNsError`` if the credentials are missing or cannot be used.
    func client(checksBeforeSending: Bool = true, isSending: Bool = true) throws -> PushClient {
        var configuration = PushClient.Configuration(checksBeforeSending: checksBeforeSending)
        configuration.additionalAuthorities = try additionalAuthorities()
        if isSending { configuration.proxy = try proxy() }
        if isWithoutRetries { configuration.allowsRetries = false }
        return try PushClient(
            endpoint,
            authentication: authentication(isSending: isSending),
            configuration: configuration
        )
    }

    /// Reads the certificates of `--ca`.
    func additionalAuthorities() throws(UsageError) -> String? {
        try authorities?.certificates()
    }

    /// Returns the proxy for the server; nil to connect directly.
    ///
    /// - Throws: ``UsageError`` if a variable does not have the URL of an HTTP proxy.
    func proxy() throws(UsageError) -> PushClient.Proxy? {
        if let givenProxy { return givenProxy }
        return try endpoint.proxy(in: variables)
    }

    /// Returns the credentials that the options specify.
    ///
    /// - Parameter isSending: Whether pushes will be sent; describing pushes needs no key.
    /// - Returns: The credentials.
    /// - Throws: ``CredentialError`` if the credentials are missing or cannot be used.
    func authentication(isSending: Bool = true) throws(CredentialError) -> PushClient.Authentication {
        if let certificate = try clientCertificate() {
            guard key.isEmpty else {
                throw CredentialError(
                    "--certificate and --key exclude each other: give one of them",
                    advice: "Remove one of them."
                )
            }
            return .certificate(certificate)
        }
        guard !isApple || !isSending || key.hasFile else {
            throw .missing(
                "--key or --certificate is missing: Apple accepts only pushes with a provider token or a client "
                    + "certificate of your team"
            )
        }
        return .token(try key.signingKey(isRequired: false))
    }

    /// Calls `body` with a client, and closes the client.
    ///
    /// - Parameters:
    ///   - checksBeforeSending: Whether pushes that APNs would refuse are not sent.
    ///   - body: Sends the pushes.
    /// - Returns: The result of `body`.
    /// - Throws: The error of `body`, with a hint if the options are the likely cause.
    func withClient<Result>(
        checksBeforeSending: Bool = true,
        _ body: (PushClient) async throws -> Result
    ) async throws -> Result {
        let client = try client(checksBeforeSending: checksBeforeSending)
        do {
            let result = try await body(client)
            await client.close()
            return result
        } catch {
            await client.close()
            if let error = error as? APNsError, let hint = hint(for: error) {
                throw ServerError(cause: error, hint: hint)
            }
            throw error
        }
    }

    /// Returns advice for an error that other options may prevent; nil for other errors.
    func hint(for error: APNsError) -> String? {
        if error.reason == .topicDisallowed, let topics = (try? clientCertificate())?.topicList {
            return "the certificate is for \(topics)"
        }
        guard let host else { return nil }
        switch error.code {
        case .certificateRejected where host.isLoopback && authorities == nil:
            return #"to trust a simulator on this machine, give --ca "$(martlet ca path)""#
        case .connectionFailed where error.isTLSFailure,
            .connectionLost where host.isEncrypted && error.outcome == .neverSent:
            return "if the server does not use TLS, give --host http://\(address)"
        case .connectionLost where !host.isEncrypted:
            return "if the server uses TLS, give --host \(address) without http://"
        default: return nil
        }
    }
}

/// A failure to send, with advice about the options.
struct ServerError: Error, CustomStringConvertible {
    let cause: APNsError
    let hint: String

    var description: String { "\(cause); \(hint)" }
}

extension APNsEndpoint {
    /// Whether the host is a loopback address.
    var isLoopback: Bool { host == "localhost" || SocketAddress(literal: host, port: 0)?.isLoopback == true }
}

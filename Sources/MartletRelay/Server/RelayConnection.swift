// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletServer
internal import MartletTransport

/// A connection of a client, with the caller that it was identified as; used only on the event loop.
final class RelayConnection {
    let client: ClientConnection
    /// The certificate of the client; nil without one, or when the client must reconnect to show it again.
    private(set) var certificate: CertificateFacts?
    /// The credentials of the last request, with the caller that they identify: clients send the same for an hour.
    private var lookup: (authorization: String?, caller: Callers.Caller?)?
    /// Whether the unusual form of the provider token was logged, which is done once for each connection.
    private var hasUnusualToken = false

    init(_ client: ClientConnection) {
        self.client = client
        certificate = client.certificate
    }

    var peer: String { client.peer }

    /// Returns the caller of a request, and whether the credentials are others than those of the last request.
    ///
    /// With a valid certificate APNs ignores `authorization` ("Sending notification requests to APNs").
    func caller(_ authorization: String?, among callers: Callers) -> (caller: Callers.Caller?, isNew: Bool) {
        if let lookup, lookup.authorization == authorization { return (lookup.caller, false) }
        let caller = certificate.flatMap { callers.caller($0) } ?? callers.caller(authorization)
        lookup = (authorization, caller)
        return (caller, true)
    }

    /// Returns whether an unusual form of a provider token is the first one on this connection.
    func isFirstUnusualToken() -> Bool {
        defer { hasUnusualToken = true }
        return !hasUnusualToken
    }

    /// Returns the reason to reject a request that identifies no caller.
    func rejection(of authorization: String?) -> APNsReason {
        if let authorization, APNsRequest.hasCredential(authorization) { return .invalidProviderToken }
        return client.certificate == nil ? .missingProviderToken : .badCertificate
    }

    /// Forgets the caller, because the configuration has changed.
    ///
    /// A client with a certificate has to connect again if other authorities issue certificates now, because a
    /// certificate is verified in the handshake.
    func forgetCaller(haveAuthoritiesChanged: Bool) {
        lookup = nil
        guard haveAuthoritiesChanged, certificate != nil else { return }
        certificate = nil
        client.shutDown(debugData: [])
    }
}

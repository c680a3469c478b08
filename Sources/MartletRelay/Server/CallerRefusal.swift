// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The reason why a caller is refused, for the log and for the response.
///
/// It contains no secret part of a credential. The key identifier and the team are those of the request, unverified.
struct CallerRefusal: Error, Equatable {
    /// The causes, each with its own limit for log lines.
    enum Cause: String, CaseIterable {
        case noCredentials = "no credentials"
        case unknownAPIKey = "unknown API key"
        case unknownCertificate = "unknown certificate"
        case malformedProviderToken = "malformed provider token"
        case unknownKeyID = "unknown key identifier"
        case wrongTeam = "wrong team"
        case wrongSignature = "wrong signature"
        case expired = "expired"
        case tooFarAhead = "issued too far ahead"
        case topicOfAnotherApp = "topic of another app"
    }

    var cause: Cause
    /// The error in a malformed provider token.
    var error: ProviderTokenError?
    /// The key identifier of the provider token.
    var keyID: String?
    /// The team of the provider token.
    var teamID: String?
    /// The name of the caller, for credentials that identify one.
    var caller: String?
    /// The time at which the caller's key expired, in seconds since 1970.
    var expiredAt: Int64?
    /// The bundle identifier that the caller may not send to.
    var bundle: String?

    /// The message to the client of the JSON API.
    var message: String {
        guard let caller else { return "authorization must be bearer and a key that this relay knows" }
        guard let expiredAt else { return "the provider token of \(caller) has expired, or was issued in the future" }
        let (time, overflows) = expiredAt.multipliedReportingOverflow(by: 1_000)
        let since = overflows ? "" : " at \(Timestamp.text(time))"
        return "the key of the caller \(caller) expired\(since): use another key"
    }
}

extension Callers {
    /// Returns why a value of `authorization` identifies no caller.
    func refusal(of authorization: String?) -> CallerRefusal {
        guard let authorization, let space = authorization.firstIndex(of: " ") else {
            return CallerRefusal(cause: .noCredentials)
        }
        let credential = authorization[authorization.index(after: space)...]
        guard !credential.isEmpty else { return CallerRefusal(cause: .noCredentials) }
        let token: ParsedProviderToken
        do throws(ProviderTokenError) {
            token = try ParsedProviderToken(credential.utf8)
        } catch {
            guard credential.contains(".") else { return CallerRefusal(cause: .unknownAPIKey) }
            return CallerRefusal(cause: .malformedProviderToken, error: error)
        }
        let teams = teams(ofKey: token.claims.keyID)
        let cause: CallerRefusal.Cause =
            teams.isEmpty ? .unknownKeyID : teams.contains(token.claims.teamID) ? .wrongSignature : .wrongTeam
        return CallerRefusal(cause: cause, keyID: token.claims.keyID, teamID: token.claims.teamID)
    }
}

extension Callers.Caller {
    /// Returns the refusal of the caller for an invalid time of its credentials.
    func refusal(for reason: APNsReason) -> CallerRefusal {
        CallerRefusal(
            cause: reason == .expiredProviderToken ? .expired : .tooFarAhead,
            caller: name,
            expiredAt: expiresAt
        )
    }
}

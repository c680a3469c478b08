// SPDX-License-Identifier: Apache-2.0

/// The reasons why an audience's installation gets no push.
package enum LeftOutReason: String, Sendable, Hashable, CaseIterable {
    /// A user has no installation, or the installation does not exist.
    case noInstallation = "no-installation"
    case noToken = "no-token"
    /// The user of the phone does not permit such pushes.
    case notAllowed = "not-allowed"
    /// The relay's configuration no longer has the environment or the bundle identifier.
    case notConfigured = "not-configured"
    /// The user has no value for a placeholder of the payload; only in a job.
    case noValues = "no-values"
    /// The push expires before the end of the quiet hours of the phone.
    case quietHours = "quiet-hours"
    /// The user gets as many alerts on the day of the push as the app permits, as in ``Acceptance/limited``.
    case alertLimit = "alert-limit"
    /// Apple has reported the token as unregistered for this topic.
    case unregistered
    /// The token has left the user since the installation was read, as in ``Acceptance/formerUser``; only in a job.
    case moved
    /// A push with the identifier was stored earlier, for a deleted job with the same identifier; only in a job.
    case duplicate
}

extension Acceptance {
    /// The reason why a push of a job was not stored; nil for a push that was.
    package var leftOutReason: LeftOutReason? {
        switch self {
        case .accepted, .superseding: nil
        case .suppressed: .unregistered
        case .formerUser: .moved
        case .limited: .alertLimit
        case .duplicate, .conflict, .vanished, .contested, .full: .duplicate
        }
    }
}

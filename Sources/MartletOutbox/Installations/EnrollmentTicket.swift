// SPDX-License-Identifier: Apache-2.0

/// A permission of a back end for an app to enroll as a user, for a short time.
///
/// The ticket itself is a random text that only the back end and the app have. The relay stores its hash.
package struct EnrollmentTicket: Sendable, Hashable {
    /// The SHA-256 of the ticket.
    package var hash: [UInt8]
    package var app: String
    package var user: String
    /// The tags of installations that enroll with the ticket.
    package var tags: Set<String>
    /// Whether the ticket is void after one enrollment.
    package var isSingleUse: Bool
    /// The time from which on the ticket is void, in milliseconds since 1970.
    package var expiresAt: Int64

    /// Creates a ticket.
    package init(hash: [UInt8], app: String, user: String, tags: Set<String>, isSingleUse: Bool, expiresAt: Int64) {
        self.hash = hash
        self.app = app
        self.user = user
        self.tags = tags
        self.isSingleUse = isSingleUse
        self.expiresAt = expiresAt
    }
}

/// The enrollment of an app with a ticket.
package struct Enrollment: Sendable, Hashable {
    /// The SHA-256 of the ticket.
    package var ticketHash: [UInt8]
    package var installation: Installation
    /// The SHA-256 of the secret of the installation.
    package var secretHash: [UInt8]
    /// The SHA-256 of the secret of an earlier installation of the same app, which the enrollment removes; nil for
    /// none.
    package var replacedSecretHash: [UInt8]?

    /// Creates an enrollment.
    package init(
        ticketHash: [UInt8],
        installation: Installation,
        secretHash: [UInt8],
        replacedSecretHash: [UInt8]? = nil
    ) {
        self.ticketHash = ticketHash
        self.installation = installation
        self.secretHash = secretHash
        self.replacedSecretHash = replacedSecretHash
    }
}

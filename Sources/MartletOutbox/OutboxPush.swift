// SPDX-License-Identifier: Apache-2.0

package import MartletCore

/// A push as it is stored: the caller's headers, and the bytes of the payload unchanged.
package struct OutboxPush: Sendable, Hashable {
    package var lane: Lane
    /// The identifier, unique in its app; it stays the same for all attempts.
    package var id: APNsID
    /// Whether the caller chose the identifier, and may therefore have submitted the push before.
    package var hasCallersID: Bool
    package var destination: PushDestination
    /// The headers as they are sent to Apple, except for the identifier, which is ``id``.
    package var headers: PushHeaders
    /// The payload, unchanged.
    package var payload: [UInt8]
    /// The request that ``headers`` and ``payload`` were built from; nil when the caller sent them itself.
    ///
    /// A push built from a request contains the time, so the same request sent again gives other bytes. Two pushes with
    /// one identifier are therefore compared by their requests. It is not stored.
    package var sourceRequest: [UInt8]?
    /// The earliest time to send the push, in milliseconds since 1970; nil for immediately.
    package var notBefore: Int64?
    /// The time when the push expires, in milliseconds since 1970; nil for never.
    package var expiresAt: Int64?
    /// The key of pushes that are sent in the order of acceptance; nil for a push that may be reordered.
    package var orderKey: String?
    /// Whether the push replaces those with its ``orderKey`` that were accepted before and are not claimed.
    ///
    /// It takes effect when the push is stored, also for a scheduled one, and only with an order key. It is not stored.
    package var supersedes = false
    /// The W3C trace context of the caller's request.
    package var traceParent: String?
    /// The user that the push was sent to; nil for a push to a token or a channel.
    ///
    /// Such a push is sent only while an installation of the user has the token.
    package var user: String?
    /// The number of the job that the push belongs to; nil for a push that was sent singly.
    package var job: Int64?
    /// The ``StoredInstallation/number`` of the installation that a push of a job or a session is for; nil for a push
    /// that a caller sent singly, and for one that was read from the store.
    ///
    /// It orders the pushes of the job: ``JobStore/pushes(of:in:after:limit:)`` returns them by it.
    package var installation: Int64?
    /// The number of the ``StoredSession`` that the push belongs to; nil for a push that a caller sent.
    package var session: Int64?
    /// The limit that the push to a user counts towards, which is not stored; nil for a push that is not counted.
    package var alertLimit: AlertLimit?

    /// Creates a push, by default without optional values.
    package init(
        lane: Lane,
        id: APNsID,
        hasCallersID: Bool = false,
        destination: PushDestination,
        headers: PushHeaders,
        payload: [UInt8],
        sourceRequest: [UInt8]? = nil,
        notBefore: Int64? = nil,
        expiresAt: Int64? = nil,
        orderKey: String? = nil,
        traceParent: String? = nil,
        user: String? = nil,
        job: Int64? = nil,
        session: Int64? = nil
    ) {
        self.lane = lane
        self.id = id
        self.hasCallersID = hasCallersID
        self.destination = destination
        self.headers = headers
        self.payload = payload
        self.sourceRequest = sourceRequest
        self.notBefore = notBefore
        self.expiresAt = expiresAt
        self.orderKey = orderKey
        self.traceParent = traceParent
        self.user = user
        self.job = job
        self.session = session
    }

    package var urgency: Urgency { job == nil ? Urgency(priority: headers.priority) : .job }

    /// Returns whether the push has expired at a time.
    package func expires(by time: Int64) -> Bool { expiresAt.map { $0 <= time } ?? false }
}

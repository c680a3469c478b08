// SPDX-License-Identifier: Apache-2.0

extension ActivitySession {
    /// The state that a surface shall show.
    struct Desired: Sendable, Hashable {
        /// The number of the state, which rises with each change of the surface.
        var generation: Int
        /// Whether the change matters to the user now, rather than when the phone next has time.
        var isUrgent: Bool
    }

    /// A report of the app.
    enum Report: Sendable, Hashable {
        /// The token that starts activities.
        case startToken(String)
        /// Whether the user allows Live Activities of the app.
        case allowed(Bool)
        /// The system has ended all activities of the app, as it does when the user changes a setting of them.
        case allGone
        /// An activity of the surface.
        case card(ActivityBelief.CardReport)
        /// All activities of the surface on the phone.
        case cards([ActivityBelief.CardReport])
        /// An activity with this identifier has ended.
        case gone(String, ActivityBelief.EndCause)
    }

    /// The reason no card of a desired surface is on the phone.
    enum Absence: Sendable, Hashable {
        /// The user does not allow Live Activities of the app.
        case notAllowed
        /// The user has removed the card.
        case declined
        /// The app has not reported a push-to-start token, or the token was unregistered.
        case noStartToken
        /// The installation has had as many starts as the system allows for now.
        case startBudgetSpent
        /// APNs refused to start the activity with this content.
        case refused
        /// APNs accepted a start with this content, and the app never reported its card.
        case neverConfirmed
    }

    /// A start that is not repeated with the same content.
    struct HeldStart: Sendable, Hashable {
        let generation: Int
        let reason: Absence
    }

    /// A push to send, with the number of its request for ``settled(_:_:at:)``, and its token.
    enum Action: Sendable, Hashable {
        /// Starts a card. Starts of a surface share one collapse identifier, so that a stored one is replaced.
        case start(Int, String, generation: Int, timestamp: Int64)
        /// Updates the card.
        case update(Int, String, Update)
        /// Ends the card with the content that it has, and removes it from the screen.
        case end(Int, String, timestamp: Int64)
        /// Sends an alert with the content, in place of the Live Activity.
        case alert(Int, generation: Int)
        /// Cancels the start with this request if it has not been sent; its settlement follows in any case.
        case cancel(Int)
    }

    /// An update of a card.
    struct Update: Sendable, Hashable {
        var generation: Int
        /// The value of `timestamp`, in seconds since 1970.
        var timestamp: Int64
        /// The value of `apns-priority`: 10 counts toward the budget of the app, 5 does not.
        var priority: Int
        /// The value of `stale-date`, in seconds since 1970.
        var staleDate: Int64
    }
}

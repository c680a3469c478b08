// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// The result of a push of a surface, after which the outbox makes no further attempt.
enum SurfacePushResult: Sendable, Hashable {
    /// APNs accepted the push.
    case accepted
    /// APNs answered that the token is unregistered.
    case unregistered
    /// APNs refused the push for another reason.
    case refused
    /// The push expired, or was cancelled or replaced before it was sent.
    case notSent

    init(_ result: SessionResult) {
        self =
            switch result.state {
            case .delivered: .accepted
            case .refused, .dead: result.status == 410 ? .unregistered : .refused
            case .expired, .cancelled, .superseded: .notSent
            }
    }
}

extension ActivitySession {
    /// The state that a surface shall show.
    struct Desired: Sendable, Hashable {
        /// The number of the state: the revision with which the surface got what the card shows.
        var generation: Int
        /// Whether the change matters to the user now, rather than when the phone next has time.
        var isUrgent: Bool
        /// The time of the change, in seconds since 1970.
        var changedAt: Int64 = 0
        /// The channel that a card joins with its start; nil for a card with an update token.
        var channel: SurfaceChannel?
        /// The text of what a card has from its start to its end; nil if it is not known.
        var attributes: String?
        /// The number of the notification in place of the card; nil for that of the state.
        var notification: Int?

        /// The number of the alert in place of the card, which is sent once.
        var alertGeneration: Int { notification ?? generation }
    }

    /// A broadcast, which updates or ends all cards of the surface on a channel.
    ///
    /// The session of each card on the channel decides on the same broadcast by itself, and the relay sends the first.
    struct Broadcast: Sendable, Hashable {
        var channel: SurfaceChannel
        /// The age of the state at which the broadcast is due, in seconds; no other one of the generation has the same.
        var age: Int64
        /// Whether it ends the cards, because the surface was withdrawn with the generation.
        var isEnd: Bool
        var update: Update
        var sentAt: Int64
        /// The number of its request while its result is not known.
        var request: Int?
    }

    /// The reason a desired surface is not shown on the phone as it shall be; the raw values are those in JSON.
    enum Absence: String, Sendable, Hashable, CaseIterable {
        /// The user does not allow Live Activities of the app.
        case notAllowed = "live-activities-not-allowed"
        /// The user has removed the card.
        case declined = "removed-by-user"
        /// APNs reported the token of the card as unregistered, and the app has not reported why the card is gone.
        case endedWithoutReport = "ended-without-report"
        /// The app has not reported a push-to-start token, or the token was unregistered.
        case noStartToken = "no-start-token"
        /// The installation has had as many starts as the system allows for now.
        case startBudgetSpent = "start-budget-spent"
        /// The card shows the desired content with the attributes of its start, which no push changes.
        case attributesFixed = "attributes-fixed-at-start"
        /// APNs refused to show this content.
        case refused
        /// APNs accepted a start with this content, and the app never reported its card.
        case neverConfirmed = "never-confirmed"
        /// The user does not allow notifications of the app.
        case alertsNotAllowed = "alerts-not-allowed"
        /// The app has not reported a device token, or the token was unregistered.
        case noDeviceToken = "no-device-token"
        /// The notification exceeded the limit of alerts, or was cancelled.
        case notSent = "not-sent"
        /// The content is not urgent, so that no notification is sent in place of the Live Activity.
        case notUrgent = "not-urgent"
    }

    /// A start that is not repeated with the same content.
    struct HeldStart: Sendable, Hashable {
        let generation: Int
        let reason: Absence
    }

    /// A push to send, with the number of its request for ``record(_:of:at:)``, and its token.
    enum Action: Sendable, Hashable {
        /// Starts a card. Starts of a surface share one collapse identifier, so that a stored one is replaced.
        case start(Int, DeviceToken, generation: Int, timestamp: Int64, channel: SurfaceChannel? = nil)
        /// Updates the card.
        case update(Int, DeviceToken, Update)
        /// Ends the card with the content that it has, and removes it from the screen.
        case end(Int, DeviceToken, timestamp: Int64)
        /// Updates or ends all cards on a channel, unless another session has sent the broadcast.
        case broadcast(Int, Broadcast)
        /// Sends an alert with the content, in place of the Live Activity.
        case alert(generation: Int)
        /// Cancels the start, the update or the broadcast with this request if it has not been sent; its result follows
        /// in any case.
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

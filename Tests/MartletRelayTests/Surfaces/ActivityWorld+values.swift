// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox

@testable import MartletRelay

extension ActivityWorld {
    struct Violation: Error, CustomStringConvertible {
        var description: String
    }

    /// A push on its way to the phone.
    struct Push {
        enum Kind { case start, update, end }
        /// The identifier; nil for one whose result is ignored.
        var id: APNsID?
        var kind: Kind
        var token: String
        var generation: Int
        var timestamp: Int64
        var priority = 10
        var sentAt: Int64
        /// Whether it is a broadcast, or starts a card on the channel.
        var isForChannel = false
        /// Whether APNs stores it for a phone that is offline.
        var isStored = true

        /// The time after which the outbox gives up the push.
        var life: Int64 { kind != .start && isForChannel ? 7_200 : 600 }

        /// The time for which APNs stores the push.
        var storageTime: Int64 { kind == .start ? 600 : isForChannel ? 8 * 3_600 : .max / 2 }

        /// The place in which APNs keeps the push for a phone that is offline.
        var slot: String { kind == .start ? "start" : token }
    }

    /// A card, as the app reports it.
    struct CardReport {
        var id: String
        var token: String?
        var startedAt: Int64
        var isStartedByPush: Bool
    }

    /// A report of the app.
    enum Report {
        case startToken(String)
        case allowed(Bool)
        /// The system has ended all activities.
        case allGone
        /// All activities on the phone.
        case cards([CardReport])
        case gone(String, Installation.Activity.End.Cause)
    }

    /// A fault in the session's work, which the world must notice.
    enum PlantedFault: CaseIterable {
        case repeatsTimestamps, startsTwice, ignoresNewTokens, forgetsEnds, alwaysUrgent, ignoresUnregistered
        case forgetsBroadcasts, repeatsContent, takesUnregisteredForEnd, ignoresLateRemovals
    }

    enum Event {
        case desire(isUrgent: Bool)
        /// The surface changes, and what it shows does not.
        case touch(isUrgent: Bool)
        case withdraw
        case user(Int)
        case setOnline(Bool)
        case apple(isUp: Bool)
        case send(Push)
        case settle(APNsID, PushResult)
        /// The app sends its reports.
        case report
        case tick
    }

    enum PushResult {
        case accepted, expired, cancelled
        case unregistered(since: Int64)
    }
}

extension ActivitySession.Absence {
    /// Returns whether a phone without a card in the world's quiet has none for this reason.
    func isTrue(of phone: PhoneModel) -> Bool {
        switch self {
        case .notAllowed: !phone.isAllowed
        case .declined, .startBudgetSpent, .neverConfirmed: !phone.cards.contains(where: \.isActive)
        case .endedWithoutReport, .noStartToken, .attributesFixed, .refused, .alertsNotAllowed, .noDeviceToken,
            .notSent, .notUrgent:
            false
        }
    }
}

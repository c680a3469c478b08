// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox

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
    }

    enum Event {
        case desire(isUrgent: Bool)
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

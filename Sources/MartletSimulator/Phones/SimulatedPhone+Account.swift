// SPDX-License-Identifier: Apache-2.0

extension SimulatedPhone {
    /// The reason a phone drops a push that APNs accepted.
    public enum DropCause: Sendable, Hashable, CaseIterable {
        /// The payload lacks a value or has one of the wrong type, or the app cannot decode it.
        case malformed
        /// The event of the push does not fit the kind of its token.
        case wrongToken
        /// The token ended while APNs stored the push or the phone delayed it.
        case tokenEnded
        /// The timestamp is too far ahead, or that of an update is not after that of the newest content (Apple forum
        /// 776165).
        case timestamp
        /// The budget of starts, of updates with priority 10, of reloads or of background pushes is empty.
        case budget
        /// The app has the maximum number of activities.
        case activityLimit
        /// The user does not allow Live Activities or notifications.
        case notAllowed
        /// The system did not wake the app for a background push.
        case notWoken
    }

    /// The result of all pushes to a phone, and of the content that it has shown.
    ///
    /// ``pushes`` is the sum of ``refused``, ``toInvalidTokens``, ``effective``, ``lost``, ``wasted`` and ``waiting``.
    /// ``cardsStarted`` less ``cardsRemoved`` is the number of cards on the screen. Durations include the current
    /// state, as of the phone's time.
    public struct Account: Sendable, Hashable {
        /// The number of pushes.
        public internal(set) var pushes = 0
        /// The number of pushes that APNs refused with status 400.
        public internal(set) var refused = 0
        /// The number of pushes to tokens that are no longer valid, which APNs answers with 410 or with 200.
        public internal(set) var toInvalidTokens = 0
        /// The number of pushes that had an effect on the phone.
        public internal(set) var effective = 0
        /// The number of pushes that never reached the phone: they expired, were replaced while they were stored, or
        /// were not stored.
        public internal(set) var lost = 0
        /// The number of pushes that APNs stores, or that the phone delays.
        public internal(set) var waiting = 0
        /// The number of pushes that the phone dropped, by cause.
        public internal(set) var dropped: [DropCause: Int] = [:]
        /// The number of pushes that the phone dropped.
        public var wasted: Int { dropped.values.reduce(0, +) }

        /// The number of cards that appeared.
        public internal(set) var cardsStarted = 0
        /// The number of cards that disappeared.
        public internal(set) var cardsRemoved = 0
        /// The number of times that a surface got another card while it had an active one, which the app did not end
        /// at once.
        public internal(set) var duplicates = 0
        /// The longest time for which a surface had several active cards.
        public internal(set) var longestDuplication = Duration.zero
        /// The number of surfaces that do not show the content that is expected.
        public internal(set) var staleSurfaces = 0
        /// The longest time for which the phone did not show the content that was expected, from the oldest expected
        /// content that is newer than the one on the screen, or from the disappearance of the card.
        public internal(set) var longestStaleness = Duration.zero
        /// The longest part of such a time in which the phone was online, had the app, and allowed Live Activities.
        public internal(set) var longestReachableStaleness = Duration.zero
        /// The number of active cards of surfaces that are expected to have ended.
        public internal(set) var strandedCards = 0
        /// The longest time for which a surface had an active card after its expected end.
        public internal(set) var longestStranding = Duration.zero
        /// The number of times that a push reloaded all widgets.
        public internal(set) var widgetReloads = 0
        /// The number of times that a push reloaded a control.
        public internal(set) var controlReloads = 0

        /// Counts a push by the answer of APNs; an accepted push to a valid token waits.
        mutating func count(_ answer: Answer, isTokenValid: Bool) {
            pushes += 1
            switch answer {
            case .refused: refused += 1
            case .unregistered: toInvalidTokens += 1
            case .accepted where isTokenValid: waiting += 1
            case .accepted: toInvalidTokens += 1
            }
        }

        /// Counts a push that waited, by the cause for which the phone dropped it; nil when it had an effect.
        mutating func settle(_ cause: DropCause?) {
            waiting -= 1
            if let cause { dropped[cause, default: 0] += 1 } else { effective += 1 }
        }

        /// Counts a push that waited and never reached the phone.
        mutating func lose() {
            waiting -= 1
            lost += 1
        }

        /// Adds the account of another phone: numbers are summed, and the longer durations stay.
        mutating func add(_ other: Account) {
            pushes += other.pushes
            refused += other.refused
            toInvalidTokens += other.toInvalidTokens
            effective += other.effective
            lost += other.lost
            waiting += other.waiting
            dropped.merge(other.dropped, uniquingKeysWith: +)
            cardsStarted += other.cardsStarted
            cardsRemoved += other.cardsRemoved
            duplicates += other.duplicates
            longestDuplication = max(longestDuplication, other.longestDuplication)
            staleSurfaces += other.staleSurfaces
            longestStaleness = max(longestStaleness, other.longestStaleness)
            longestReachableStaleness = max(longestReachableStaleness, other.longestReachableStaleness)
            strandedCards += other.strandedCards
            longestStranding = max(longestStranding, other.longestStranding)
            widgetReloads += other.widgetReloads
            controlReloads += other.controlReloads
        }
    }
}

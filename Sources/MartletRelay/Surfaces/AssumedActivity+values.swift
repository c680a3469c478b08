// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

extension AssumedActivity {
    /// The report of an app about a surface, derived from its installation in each step.
    struct Report: Sendable, Hashable {
        /// The token that starts activities of the surface's attributes type; nil for none.
        var startToken: ReportedToken?
        /// Whether the user allows Live Activities of the app.
        var isAllowed = true
        /// The activities that run, in the order of their starts.
        var running: [RunningCard] = []
        /// The activities that have ended.
        var ended: [EndedReport] = []
        /// The time of the app's last report, in seconds since 1970.
        var seenAt: Int64
    }

    /// A token that the app has reported.
    struct ReportedToken: Sendable, Hashable {
        var token: DeviceToken
        /// The time of the report in seconds since 1970.
        var reportedAt: Int64

        /// Returns whether APNs has reported the token as unregistered since.
        func isUnregistered(_ unregistered: ReportedToken?) -> Bool {
            unregistered.map { $0.token == token && reportedAt <= $0.reportedAt } ?? false
        }
    }

    /// An activity of the surface that runs, as the app reports it.
    struct RunningCard: Sendable, Hashable {
        /// The identifier of the activity on the phone.
        var id: String
        /// The update token; nil while the system has issued none, as before the user allows the activity.
        var token: ReportedToken?
        /// The phone's time of the start, in seconds since 1970; nil if it is not known.
        var startedAt: Int64?
        /// Whether a push started the activity, rather than the app; nil if it is not known.
        var isStartedByPush: Bool?

        /// Returns the time of the start, limited to the last seconds, because the clock of the phone may be wrong by
        /// years.
        func startedAt(within seconds: Int64, of now: Int64) -> Int64 { min(max(startedAt ?? now, now - seconds), now) }
    }

    /// An activity of the surface that has ended, as the app reports it.
    struct EndedReport: Sendable, Hashable {
        /// The identifier of the activity on the phone.
        var id: String
        /// Whether the user removed the card, rather than the app, a push or the system.
        var isByUser: Bool
        /// Whether a push may have started the activity.
        var mayBeStartedByPush: Bool
    }

    /// A start of a card.
    struct Start: Sendable, Hashable {
        /// The generation that the card shows; 0 for one that was not started by the session.
        let generation: Int
        /// The token; nil for a card that was not started by the session.
        let token: DeviceToken?
        /// The channel that the card joins; nil for a card with an update token.
        var channel: SurfaceChannel?
        /// The text of the attributes of the card; nil if they are not known.
        let attributes: String?
        /// The time of the start, and then of its acceptance, in seconds since 1970.
        private(set) var at: Int64
        /// The time of the acceptance in milliseconds since 1970.
        private(set) var acceptedAt: Int64?
        /// Whether the start was asked to be cancelled before it is sent.
        var isCancelled = false
        /// The identifier of the activity, once the app has reported it without an update token.
        var card: String?

        /// The time of the acceptance in milliseconds since 1970; if it is not known, the end of the second of the
        /// start, which is not before the change that the start shows.
        var milliseconds: Int64 { acceptedAt ?? at * 1_000 + 999 }

        /// Returns the start as APNs accepted it at a time in milliseconds since 1970.
        func accepted(at now: Int64) -> Start {
            var start = self
            start.at = now / 1_000
            start.acceptedAt = now
            return start
        }

        /// Returns the time of the next look for a report of the app after the start has expired.
        func lookTime(after now: Int64) -> Int64 {
            // The token of a card that the app has reported is a change.
            guard card == nil else { return .max }
            return AssumedActivity.lookTime(after: now, since: at)
        }
    }

    /// The start of the card that shall replace a card before the system ends it.
    struct Successor: Sendable, Hashable {
        var start: Start
        let request: Int
        private(set) var isAccepted = false

        /// Returns the successor as APNs accepted its start at a time in milliseconds since 1970.
        func accepted(at now: Int64) -> Successor { Successor(accepted: start.accepted(at: now)) }
    }

    /// A card that is no longer on the phone, as long as the app lists its activity.
    struct EndedCard: Sendable, Hashable {
        let id: String
        /// The last token of the card; nil if it had none.
        let token: DeviceToken?
        /// The time of the report, or of the push that ended it, in seconds since 1970.
        let time: Int64
        /// Whether the app has reported the end.
        let isReported: Bool
        /// Whether APNs refused the push that should end it.
        let isRefused: Bool
        /// The time of the app's last report before the card was gone for a reason that the app has not reported, in
        /// seconds since 1970; nil if the reason is known.
        var lostAfter: Int64?
    }

    /// An activity on the phone whose token is known.
    struct Card: Sendable, Hashable {
        let id: String
        private(set) var token: DeviceToken
        private(set) var startedAt: Int64
        /// The text of the attributes with which the card was started; nil if they are not known.
        private(set) var attributes: String?
        /// The generation that the card is assumed to show; 0 when it is not known.
        private(set) var shown = 0
        /// The time since which it does, in milliseconds since 1970.
        private(set) var shownAt: Int64
        /// The generation of the last update that APNs refused.
        private(set) var refused = 0
        /// The time of the last update, in seconds since 1970.
        private(set) var sentAt: Int64
        /// The push to the card that is being sent, with its generation and its token.
        private(set) var request: Int?
        private(set) var sending = 0
        private(set) var sentTo: DeviceToken
        /// Whether the push was asked to be cancelled before it is sent.
        var isCancelled = false
        var successor: Successor?

        /// Whether the card shows older content than the desired.
        func lacks(_ desired: ActivitySession.Desired) -> Bool { desired.generation > max(shown, refused) }

        /// Whether the desired content is being sent to the token, so that its acceptance leads to no other push.
        func isSending(_ desired: ActivitySession.Desired) -> Bool {
            request != nil && sending == desired.generation && sentTo == token
        }

        mutating func send(_ generation: Int, as request: Int, at now: Int64) {
            self.request = request
            isCancelled = false
            sending = generation
            sentTo = token
            sentAt = now
        }

        /// Records that the card is that of a start, before which it was not started, whatever the clock of the phone
        /// says.
        mutating func show(_ start: Start) {
            startedAt = max(startedAt, start.at)
            sentAt = max(sentAt, start.at)
            attributes = start.attributes
            show(start.generation, since: start.milliseconds)
        }

        private mutating func show(_ generation: Int, since time: Int64) {
            shown = generation
            shownAt = time
        }

        /// Records the result of the push that is being sent, which ended at a time in milliseconds since 1970.
        mutating func settle(_ result: SurfacePushResult, at time: Int64) {
            request = nil
            switch result {
            // APNs accepts pushes to a token that was replaced without delivering them.
            case .accepted: if sentTo == token { show(sending, since: time) }
            case .refused: refused = sending
            // The next update need not keep an interval from one that was not sent.
            case .notSent: sentAt = startedAt
            case .unregistered: break
            }
        }

        /// Marks the start of the successor as cancelled, and returns its request; nil if there is none to cancel.
        mutating func cancelSuccessor() -> Int? {
            guard let successor, !successor.isAccepted, !successor.start.isCancelled else { return nil }
            self.successor?.start.isCancelled = true
            return successor.request
        }

        /// Replaces the token by a reported one; with another token, the content of the card is not known any more.
        mutating func replaceToken(_ reported: DeviceToken) {
            if reported != token { shown = 0 }
            token = reported
        }

        /// The card without a push that is being sent, and without a successor.
        var withoutRequests: Card {
            var card = self
            card.request = nil
            card.successor = nil
            return card
        }
    }
}

extension AssumedActivity {
    /// Returns the start that a request makes; nil for another request.
    func start(of request: Int) -> Start? {
        switch phase {
        case .starting(let start, request): start
        case .live(let card), .ending(let card, _):
            card.successor.flatMap { $0.request == request ? $0.start : nil }
        case .none, .starting, .unconfirmed: nil
        }
    }

    /// Returns the time of the next look for a report of the app since a time.
    ///
    /// A report without a change makes no step due, so the session looks for one, after intervals that double.
    static func lookTime(after now: Int64, since time: Int64) -> Int64 {
        var age = policy.startExpiration + policy.reportDelay
        while time + age <= now { age *= 2 }
        return time + age
    }
}

extension AssumedActivity {
    /// Replaces times in the future by the current one, in seconds since 1970: a clock that was set back must not delay
    /// pushes.
    mutating func correctTimes(at now: Int64) {
        switch phase {
        case .none: break
        case .starting(var start, let request):
            start.correctTime(at: now)
            phase = .starting(start, request)
        case .unconfirmed(var start):
            start.correctTime(at: now)
            phase = .unconfirmed(start)
        case .live(var card):
            card.correctTimes(at: now)
            phase = .live(card)
        case .ending(var card, let request):
            card.correctTimes(at: now)
            phase = .ending(card, request)
        }
    }
}

extension AssumedActivity.Start {
    /// Creates the start of a card with the desired state.
    init(
        of desired: ActivitySession.Desired,
        with token: DeviceToken,
        on channel: SurfaceChannel? = nil,
        at now: Int64
    ) {
        self.init(
            generation: desired.generation,
            token: token,
            channel: channel,
            attributes: desired.attributes,
            at: now
        )
    }

    /// Creates the start of a card that the app has reported, and whose update token is not known; one that a push has
    /// started may be on a channel.
    init(of running: AssumedActivity.RunningCard, on channel: SurfaceChannel?, at now: Int64) {
        self.init(
            generation: 0,
            token: nil,
            channel: running.isStartedByPush == false ? nil : channel,
            attributes: nil,
            at: running.startedAt(within: AssumedActivity.policy.longestLife, of: now),
            card: running.id
        )
    }

    fileprivate mutating func correctTime(at now: Int64) {
        guard at > now else { return }
        at = now
        acceptedAt = nil
    }
}

extension AssumedActivity.Successor {
    /// Creates a successor whose start APNs has accepted.
    init(accepted start: AssumedActivity.Start) { self.init(start: start, request: 0, isAccepted: true) }
}

extension AssumedActivity.Card {
    /// Creates a card from a report that arrived at a time.
    ///
    /// It counts as started during the last eight hours, after which the system ends it.
    init(_ running: AssumedActivity.RunningCard, _ token: DeviceToken, at now: Int64) {
        let startedAt = running.startedAt(within: 8 * 3600, of: now)
        self.init(
            id: running.id,
            token: token,
            startedAt: startedAt,
            shownAt: startedAt * 1_000,
            sentAt: startedAt,
            sentTo: token
        )
    }

    fileprivate mutating func correctTimes(at now: Int64) {
        startedAt = min(startedAt, now)
        sentAt = min(sentAt, now)
        successor?.start.correctTime(at: now)
    }
}

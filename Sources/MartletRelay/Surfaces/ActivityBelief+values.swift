// SPDX-License-Identifier: Apache-2.0

extension ActivityBelief {
    /// A token that the app has reported.
    struct ReportedToken: Sendable, Hashable {
        var token: String
        /// The time of the report in seconds since 1970.
        var reportedAt: Int64
    }

    /// The report of an app about an activity.
    struct CardReport: Sendable, Hashable {
        /// The identifier of the activity on the phone.
        var id: String
        /// The update token; nil while the system has issued none, as before the user allows the activity.
        var token: String?
        /// The time at which the activity started, in seconds since 1970.
        var startedAt: Int64
        /// Whether a push started the activity, rather than the app.
        var isStartedByPush: Bool
    }

    /// A start of a card.
    struct Start: Sendable, Hashable {
        let generation: Int
        let token: String
        /// The time of the start, and then of its acceptance, in seconds since 1970.
        private(set) var at: Int64
        /// Whether the start was asked to be cancelled before it is sent.
        private(set) var isCancelled = false

        init(generation: Int, token: String, at now: Int64) {
            self.generation = generation
            self.token = token
            at = now
        }

        /// Returns the start as APNs accepted it at a time.
        func accepted(at now: Int64) -> Start { Start(generation: generation, token: token, at: now) }

        var cancelled: Start {
            var start = self
            start.isCancelled = true
            return start
        }
    }

    /// The start of the card that shall replace a card before the system ends it.
    struct Successor: Sendable, Hashable {
        private(set) var start: Start
        let request: Int
        private(set) var isAccepted = false

        init(start: Start, request: Int) {
            self.start = start
            self.request = request
        }

        /// Returns the successor as APNs accepted its start at a time.
        func accepted(at now: Int64) -> Successor {
            var successor = self
            successor.start = start.accepted(at: now)
            successor.isAccepted = true
            return successor
        }
    }

    /// A card that is no longer on the phone.
    struct EndedCard: Sendable, Hashable {
        let id: String
        /// The time of the report, or of the push that ended it, in seconds since 1970.
        let time: Int64
    }

    /// The cause of the end of an activity, as the app reports it.
    enum EndCause: Sendable, Hashable {
        /// The user removed the card.
        case user
        /// The app ended the activity.
        case app
        /// The system ended the activity, such as after eight hours.
        case system
    }

    /// The result of a push, after which the outbox makes no further attempt.
    enum Settlement: Sendable, Hashable {
        /// APNs accepted the push.
        case accepted
        /// APNs answered that the token is unregistered since a time in seconds since 1970.
        case unregistered(since: Int64)
        /// APNs refused the push for another reason.
        case refused
        /// The push expired or was cancelled before it was sent.
        case notSent

        /// Returns the token to remove from the registry; nil for another result.
        func unregistered(_ token: String) -> UnregisteredToken? {
            if case .unregistered(let since) = self { UnregisteredToken(token: token, since: since) } else { nil }
        }
    }

    /// A token that APNs reported as unregistered; the registry removes it unless it was reported again since.
    struct UnregisteredToken: Sendable, Hashable {
        var token: String
        /// The time of the report in seconds since 1970.
        var since: Int64
    }

    /// An activity on the phone whose token is known.
    struct Card: Sendable, Hashable {
        let id: String
        private(set) var token: ReportedToken
        let startedAt: Int64
        /// The generation that the card is believed to show; 0 when it is not known.
        var shown = 0
        /// The generation of the last update that APNs refused.
        var refused = 0
        /// The time of the last update, in seconds since 1970.
        private(set) var sentAt: Int64
        /// The push to the card that is being sent, with its generation and its token.
        var request: Int?
        private(set) var sending = 0
        private(set) var sentTo = ""
        var successor: Successor?

        /// Creates a card from a report that arrived at a time.
        ///
        /// The clock of the phone may be wrong by years, so a card counts as started during the last eight hours.
        init(_ report: CardReport, _ token: ReportedToken, at now: Int64) {
            id = report.id
            self.token = token
            startedAt = min(max(report.startedAt, now - 8 * 3600), now)
            sentAt = startedAt
        }

        /// Whether the card shows older content than the desired.
        func lacks(_ desired: ActivitySession.Desired) -> Bool { desired.generation > max(shown, refused) }

        mutating func send(_ generation: Int, as request: Int, at now: Int64) {
            self.request = request
            sending = generation
            sentTo = token.token
            sentAt = now
        }

        /// Replaces the token by a reported one, unless the known one was reported later.
        ///
        /// APNs may have accepted the last updates to the old token without delivering them, so the content of the
        /// card is not known any more.
        mutating func replaceToken(_ reported: ReportedToken) {
            guard reported.reportedAt >= token.reportedAt else { return }
            if reported.token != token.token { shown = 0 }
            token = reported
        }

        /// The card without the push that is being sent.
        var withoutRequest: Card {
            var card = self
            card.request = nil
            return card
        }

        /// The card without the pushes that are being sent, and without a successor.
        var withoutRequests: Card {
            var card = withoutRequest
            card.successor = nil
            return card
        }
    }
}

extension ActivityBelief {
    /// Returns the start that a request makes; nil for another request.
    func start(of request: Int) -> Start? {
        switch phase {
        case .starting(let start, request): start
        case .live(let card), .ending(let card, _):
            card.successor.flatMap { $0.request == request ? $0.start : nil }
        case .none, .starting, .unconfirmed: nil
        }
    }
}

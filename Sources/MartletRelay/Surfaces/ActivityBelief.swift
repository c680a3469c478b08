// SPDX-License-Identifier: Apache-2.0

/// The belief about the Live Activity of a surface on one phone, from the reports of its app and the results of pushes.
///
/// An accepted start is not a card: the belief stays ``Phase/unconfirmed(_:)`` until the app reports one. Reports
/// arrive late, twice and out of order, so each has the time at which it was made.
struct ActivityBelief: Sendable, Hashable {
    /// The card of the surface.
    enum Phase: Sendable, Hashable {
        /// No card is on the phone.
        case none
        /// A start is being sent, with the number of its request. Its acceptance leads to ``unconfirmed(_:)``.
        case starting(Start, Int)
        /// APNs accepted a start. The phone may show the card, which cannot be updated until its token arrives.
        case unconfirmed(Start)
        /// The card is on the phone and its token is known.
        case live(Card)
        /// The end of the card is being sent, with the number of its request.
        case ending(Card, Int)
    }

    let policy: ActivityPolicy
    var phase = Phase.none
    /// The token that starts activities of the surface's attributes type.
    private(set) var startToken: ReportedToken?
    /// Whether the user allows Live Activities of the app.
    private(set) var isAllowed = true
    private var allowanceReportedAt = Int64.min
    /// Whether the user has removed the last card.
    var isRemovedByUser = false
    /// The cards that another card has replaced, until APNs has accepted their end.
    var superseded: [Card] = []
    /// The newest cards that have ended: an earlier report about one was delayed on its way.
    private var endedCards: [EndedCard] = []

    init(policy: ActivityPolicy) {
        self.policy = policy
    }

    // MARK: Reports of the app

    /// Records the push-to-start token; an earlier report than the known one changes nothing.
    mutating func report(startToken token: ReportedToken) {
        guard token.reportedAt >= startToken?.reportedAt ?? .min else { return }
        startToken = token
    }

    /// Records whether the user allows Live Activities; an earlier report than the known one changes nothing.
    mutating func report(isAllowed: Bool, madeAt time: Int64) {
        guard time >= allowanceReportedAt else { return }
        allowanceReportedAt = time
        self.isAllowed = isAllowed
    }

    /// Records that the system has ended all activities, as it does when the user changes a setting of them.
    mutating func reportAllGone(madeAt time: Int64) {
        reportMissing(from: [], madeAt: time)
        if case .unconfirmed(let start) = phase, start.at < time { phase = .none }
    }

    /// Records the complete list of the surface's activities on the phone: a known card that is missing has ended, and
    /// a start that could have arrived by then made no card.
    mutating func report(all reports: [CardReport], madeAt time: Int64, at now: Int64) {
        for each in reports { report(each, madeAt: time, at: now) }
        // The list tells nothing of starts while it has a card without a token, which may be theirs.
        if !reports.contains(where: { $0.token == nil }) { dropUnconfirmed(before: time) }
        reportMissing(from: Set(reports.map(\.id)), madeAt: time)
    }

    /// Records an activity: one that a push started, one that the app started, or a new token of a known one.
    mutating func report(_ report: CardReport, madeAt time: Int64, at now: Int64) {
        let isOutdated = endedCards.contains { $0.id == report.id && time <= $0.time }
        guard !isOutdated, let text = report.token else { return }
        let token = ReportedToken(token: text, reportedAt: time)
        if let index = superseded.firstIndex(where: { $0.id == report.id }) {
            superseded[index].replaceToken(token)
            return
        }
        switch phase {
        case .live(var card) where card.id == report.id:
            card.replaceToken(token)
            phase = .live(card)
        case .ending(var card, let request) where card.id == report.id:
            card.replaceToken(token)
            phase = .ending(card, request)
        case .none, .starting, .unconfirmed, .live, .ending:
            adopt(Card(report, token, at: now), isStartedByPush: report.isStartedByPush)
        }
    }

    /// Records that an activity is no longer on the phone.
    mutating func reportGone(_ id: String, by cause: EndCause, madeAt time: Int64) {
        forget(id, at: time)
        superseded.removeAll { $0.id == id }
        switch phase {
        case .live(let card) where card.id == id:
            isRemovedByUser = cause == .user
            phase = phase(without: card)
        case .ending(let card, _) where card.id == id: phase = phase(without: card)
        case .none, .starting, .unconfirmed, .live, .ending: break
        }
    }

    private mutating func reportMissing(from ids: Set<String>, madeAt time: Int64) {
        let known: [Card] =
            switch phase {
            case .live(let card), .ending(let card, _): superseded + [card]
            case .none, .starting, .unconfirmed: superseded
            }
        for card in known where !ids.contains(card.id) && card.token.reportedAt < time {
            reportGone(card.id, by: .system, madeAt: time)
        }
    }

    /// Forgets an accepted start that had expired before a time, when the phone had no card of it.
    private mutating func dropUnconfirmed(before time: Int64) {
        switch phase {
        case .unconfirmed(let start): if time > start.at + policy.startExpiration { phase = .none }
        case .live(var card):
            guard let successor = card.successor, successor.isAccepted,
                time > successor.start.at + policy.startExpiration
            else { return }
            card.successor = nil
            phase = .live(card)
        case .none, .starting, .ending: break
        }
    }

    // MARK: Cards

    /// Makes a card the one of the surface.
    ///
    /// A start that is on its way then is that of its successor, unless it made the card.
    private mutating func adopt(_ new: Card, isStartedByPush: Bool) {
        var card = new
        let pending: Successor? =
            switch phase {
            case .starting(let start, let request): Successor(start: start, request: request)
            case .unconfirmed(let start): Successor(start: start, request: 0).accepted(at: start.at)
            case .live(let other), .ending(let other, _): other.successor
            case .none: nil
            }
        switch phase {
        case .live(let other), .ending(let other, _):
            // The app shows the newest of its cards, so the older is ended.
            guard card.startedAt >= other.startedAt else {
                supersede(card)
                return
            }
            supersede(other)
        case .none, .starting, .unconfirmed: break
        }
        if isStartedByPush { card.shown = pending?.start.generation ?? 0 } else { card.successor = pending }
        isRemovedByUser = false
        phase = .live(card)
    }

    private mutating func supersede(_ card: Card) {
        superseded.append(card.withoutRequests)
        if superseded.count > policy.rememberedCards { superseded.removeFirst() }
    }

    private mutating func forget(_ id: String, at time: Int64) {
        endedCards.removeAll { $0.id == id }
        endedCards.append(EndedCard(id: id, time: time))
        if endedCards.count > policy.rememberedCards { endedCards.removeFirst() }
    }

    /// Returns the phase after a card has ended: its successor may be on the phone.
    private func phase(without card: Card) -> Phase {
        guard let successor = card.successor else { return .none }
        return successor.isAccepted ? .unconfirmed(successor.start) : .starting(successor.start, successor.request)
    }

    // MARK: Results of pushes

    /// Records the result of a push; returns the token to remove from the registry if APNs reported it as unregistered.
    mutating func settled(_ request: Int, _ result: Settlement, at now: Int64) -> UnregisteredToken? {
        if let index = superseded.firstIndex(where: { $0.request == request }) {
            let card = superseded[index]
            if isEndOver(of: card, result) {
                superseded.remove(at: index)
                forget(card.id, at: now)
            } else {
                superseded[index].request = nil
            }
            return result.unregistered(card.sentTo)
        }
        switch phase {
        case .starting(let start, request):
            if case .unregistered(let since) = result { forgetStartToken(start.token, since: since) }
            phase = result == .accepted ? .unconfirmed(start.accepted(at: now)) : .none
            return result.unregistered(start.token)
        case .live(let card): return settled(card, request, result, at: now)
        case .ending(let card, let end): return settledEnd(of: card, end, request, result, at: now)
        case .none, .starting, .unconfirmed: return nil
        }
    }

    private mutating func settled(
        _ known: Card,
        _ request: Int,
        _ result: Settlement,
        at now: Int64
    ) -> UnregisteredToken? {
        if let successor = known.successor, successor.request == request {
            phase = .live(settledSuccessor(successor, of: known, result, at: now))
            return result.unregistered(successor.start.token)
        }
        var card = known
        guard let sent = card.request, sent == request else { return nil }
        card.request = nil
        switch result {
        case .accepted: card.shown = card.sending
        case .refused: card.refused = card.sending
        case .notSent: break
        // A token that was reported meanwhile is a newer one.
        case .unregistered where card.token.token != card.sentTo: break
        case .unregistered:
            forget(card.id, at: now)
            phase = phase(without: card)
            return result.unregistered(card.sentTo)
        }
        phase = .live(card)
        return result.unregistered(card.sentTo)
    }

    private mutating func settledEnd(
        of card: Card,
        _ end: Int,
        _ request: Int,
        _ result: Settlement,
        at now: Int64
    ) -> UnregisteredToken? {
        if let successor = card.successor, successor.request == request {
            phase = .ending(settledSuccessor(successor, of: card, result, at: now), end)
            return result.unregistered(successor.start.token)
        }
        guard request == end else { return nil }
        if isEndOver(of: card, result) {
            forget(card.id, at: now)
            phase = phase(without: card)
        } else {
            phase = .live(card.withoutRequest)
        }
        return result.unregistered(card.sentTo)
    }

    /// Returns a card after the result of its successor's start: without one that APNs accepted, it stays as it is.
    private mutating func settledSuccessor(
        _ successor: Successor,
        of known: Card,
        _ result: Settlement,
        at now: Int64
    ) -> Card {
        var card = known
        card.successor = result == .accepted ? successor.accepted(at: now) : nil
        if case .unregistered(let since) = result { forgetStartToken(successor.start.token, since: since) }
        return card
    }

    /// Returns whether an end needs no repetition.
    ///
    /// It does when it was not sent, or was sent to a token that the app has replaced meanwhile.
    private func isEndOver(of card: Card, _ result: Settlement) -> Bool {
        switch result {
        case .accepted, .refused: true
        case .unregistered: card.token.token == card.sentTo
        case .notSent: false
        }
    }

    private mutating func forgetStartToken(_ token: String, since: Int64) {
        if let known = startToken, known.token == token, known.reportedAt <= since { startToken = nil }
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The assumed state of the Live Activity of a surface on one phone, from what its app has reported and the results of
/// pushes.
///
/// An accepted start is not a card: the phase stays ``Phase/unconfirmed(_:)`` until the app reports the token of one.
struct AssumedActivity: Sendable, Hashable {
    /// The card of the surface.
    enum Phase: Sendable, Hashable {
        /// No card is on the phone.
        case none
        /// A start is being sent, with the number of its request. Its acceptance leads to ``unconfirmed(_:)``.
        case starting(Start, Int)
        /// The phone may show the card, which only a broadcast can update until its token arrives: APNs accepted its
        /// start, or the app has reported it without a token.
        case unconfirmed(Start)
        /// The card is on the phone and its token is known.
        case live(Card)
        /// The end of the card is being sent, with the number of its request.
        case ending(Card, Int)
    }

    static let policy = ActivityPolicy()

    var phase = Phase.none
    /// The token that starts activities of the surface's attributes type.
    private(set) var startToken: ReportedToken?
    /// The start token that APNs reported as unregistered last, and the time of that.
    private(set) var unregisteredStart: ReportedToken?
    /// The channel of the last card that was forgotten.
    private(set) var lastChannel: SurfaceChannel?
    /// The time until which a card on that channel may be on the phone that the app has not reported, in seconds since
    /// 1970.
    private(set) var lastChannelEnd: Int64 = 0
    /// The channel of the last start that made no card, as when the channel does not exist.
    private(set) var unusableChannel: SurfaceChannel?
    /// Whether the user allows Live Activities of the app.
    private(set) var isAllowed = true
    /// Whether the user has removed a card since the surface was desired.
    private(set) var isRemovedByUser = false
    /// The time of the app's last report, in seconds since 1970.
    private(set) var seenAt: Int64 = 0
    /// The cards that another card has replaced, until APNs has accepted their end.
    var superseded: [Card] = []
    /// The cards that have ended and that the app still lists.
    ///
    /// Only another token, or a later report of the same one, brings a card back.
    private(set) var endedCards: [EndedCard] = []

    /// Corrects the storage policy of the channel that a card has joined or joins.
    mutating func correctChannel(_ channel: SurfaceChannel?) {
        switch phase {
        case .starting(var start, let request) where start.channel?.id == channel?.id:
            start.channel = channel
            phase = .starting(start, request)
        case .unconfirmed(var start) where start.channel?.id == channel?.id:
            start.channel = channel
            phase = .unconfirmed(start)
        case .none, .starting, .unconfirmed, .live, .ending: break
        }
    }

    // MARK: Reports of the app

    /// Records everything that the app has reported.
    ///
    /// A known card that does not run with a token any more has ended.
    mutating func record(_ report: Report, at now: Int64) {
        startToken = report.startToken.flatMap { $0.isUnregistered(unregisteredStart) ? nil : $0 }
        isAllowed = report.isAllowed
        seenAt = report.seenAt
        let listed = Set(report.running.map(\.id) + report.ended.map(\.id))
        endedCards.removeAll { !listed.contains($0.id) }
        // The system ends all activities when the user no longer allows them.
        if !isAllowed {
            for card in report.running where !isOver(card) { forget(card.id, card.token?.token, at: now) }
        }
        let ends = recordEnds(report.ended, at: now)
        let reachable = Set(report.running.filter { $0.token != nil && !isOver($0) }.map(\.id))
        for card in cards where !reachable.contains(card.id) {
            if isAllowed, case .live(card) = phase, report.running.contains(where: { $0.id == card.id }) {
                lose(card, at: now)
            } else {
                remove(card, isByUser: false, at: now)
            }
        }
        let newest = report.running.last { $0.isStartedByPush == true && $0.token != nil && !isOver($0) }?.id
        for card in report.running where !isOver(card) {
            if let token = card.token?.token { record(card, token, isNewest: card.id == newest, at: now) }
        }
        recordStart(report.running.last { $0.token == nil && !isOver($0) }, ends, at: now)
    }

    /// The cards whose tokens are known.
    private var cards: [Card] {
        switch phase {
        case .live(let card), .ending(let card, _): superseded + [card]
        case .none, .starting, .unconfirmed: superseded
        }
    }

    /// Records ends, and returns those of cards that were not known.
    private mutating func recordEnds(_ reports: [EndedReport], at now: Int64) -> [EndedReport] {
        var unknown: [EndedReport] = []
        for end in reports {
            let earlier = endedCards.first { $0.id == end.id }
            if earlier?.isReported == true { continue }
            if let card = cards.first(where: { $0.id == end.id }) {
                remove(card, isByUser: end.isByUser, at: now)
            } else if let earlier {
                // Another card may have been started before this report.
                isRemovedByUser = isRemovedByUser || end.isByUser && earlier.lostAfter != nil
            } else {
                unknown.append(end)
            }
            forget(end.id, nil, at: now, isReported: true)
        }
        return unknown
    }

    /// Records a card that runs; of the cards that pushes have started, only the newest may be that of a start on its
    /// way.
    private mutating func record(_ running: RunningCard, _ token: DeviceToken, isNewest: Bool, at now: Int64) {
        endedCards.removeAll { $0.id == running.id }
        if let index = superseded.firstIndex(where: { $0.id == running.id }) {
            superseded[index].replaceToken(token)
            return
        }
        switch phase {
        case .live(var card) where card.id == running.id:
            card.replaceToken(token)
            phase = .live(card)
        case .ending(var card, let request) where card.id == running.id:
            card.replaceToken(token)
            phase = .ending(card, request)
        case .none, .starting, .unconfirmed, .live, .ending:
            adopt(Card(running, token, at: now), isStartedByPush: running.isStartedByPush, isNewest: isNewest)
        }
    }

    /// Compares a start with the card that runs without a token, and with the ends of cards that were not known.
    private mutating func recordStart(_ waiting: RunningCard?, _ ends: [EndedReport], at now: Int64) {
        let isRemoved = waiting == nil && ends.contains { $0.isByUser && $0.mayBeStartedByPush }
        switch phase {
        case .none:
            if let waiting { phase = .unconfirmed(Start(of: waiting, on: lastChannel, at: now)) }
        case .starting: isRemovedByUser = isRemovedByUser || isRemoved
        case .unconfirmed(var start):
            if let waiting {
                start.card = waiting.id
                phase = .unconfirmed(start)
            } else if let card = start.card {
                isRemovedByUser = isRemovedByUser || ends.contains { $0.id == card && $0.isByUser }
                phase = .none
            } else {
                isRemovedByUser = isRemovedByUser || isRemoved
                guard isAllowed else {
                    phase = .none
                    return
                }
                guard hasMadeNoCard(start, at: now) else { return }
                if !isRemovedByUser, let channel = start.channel { unusableChannel = channel }
                abandon(start, at: now)
            }
        case .live(var card):
            guard let successor = card.successor, successor.isAccepted else { return }
            isRemovedByUser = isRemovedByUser || isRemoved
            if let waiting {
                adopt(waiting, of: successor.start, insteadOf: card)
            } else if isRemoved || hasMadeNoCard(successor.start, at: now) {
                card.successor = nil
                phase = .live(card)
            }
        case .ending: break
        }
    }

    /// Returns whether the app has reported no card although it was running after the start had expired.
    private func hasMadeNoCard(_ start: Start, at now: Int64) -> Bool {
        absenceTime(of: start).map { now >= $0 } ?? false
    }

    /// The time from which a start has made no card, unless the app reports one; nil if the app has reported its card,
    /// or nothing since the start expired.
    func absenceTime(of start: Start) -> Int64? {
        let isOver = start.card == nil && seenAt > start.at + Self.policy.startExpiration
        return isOver ? seenAt + Self.policy.reportDelay : nil
    }

    /// Forgets a start whose card has ended by now, or never was on the phone.
    mutating func abandon(_ start: Start, at now: Int64) {
        if let card = start.card { forget(card, nil, at: now) }
        if let channel = start.channel {
            lastChannel = channel
            if start.card == nil { lastChannelEnd = start.at + Self.policy.longestLife }
        }
        phase = .none
    }

    // MARK: Cards

    /// Makes a card on a channel, which has no token, the one of the surface in place of an older one.
    private mutating func adopt(_ running: RunningCard, of started: Start, insteadOf card: Card) {
        guard started.channel != nil, running.isStartedByPush != false, running.startedAt ?? 0 >= card.startedAt else {
            return
        }
        superseded.append(card.withoutRequests)
        var start = started
        start.card = running.id
        phase = .unconfirmed(start)
    }

    /// Makes a card the one of the surface.
    ///
    /// A start that is on its way then is that of its successor, unless it made the card.
    private mutating func adopt(_ new: Card, isStartedByPush: Bool?, isNewest: Bool) {
        var card = new
        let pending: Successor? =
            switch phase {
            case .starting(let start, let request): Successor(start: start, request: request)
            case .unconfirmed(let start): Successor(accepted: start)
            case .live(let other), .ending(let other, _): other.successor
            case .none: nil
            }
        if let pending, isStartedByPush == true && isNewest || pending.start.card == card.id {
            card.show(pending.start)
        } else if isStartedByPush != nil {
            card.successor = pending
        }
        switch phase {
        case .live(let other), .ending(let other, _):
            // The app shows the newest of its cards, so the older is ended.
            guard card.startedAt >= other.startedAt else {
                superseded.append(card.withoutRequests)
                return
            }
            superseded.append(other.withoutRequests)
        case .none, .starting, .unconfirmed: break
        }
        // Only a card that the app has started is there because the user wants it after a removal.
        isRemovedByUser = isRemovedByUser && isStartedByPush ?? (pending != nil)
        phase = .live(card)
    }

    /// Records that a card is no longer on the phone.
    private mutating func remove(_ known: Card, isByUser: Bool, at time: Int64) {
        forget(known.id, known.token, at: time)
        superseded.removeAll { $0.id == known.id }
        switch phase {
        case .live(let card) where card.id == known.id:
            isRemovedByUser = isRemovedByUser || isByUser
            phase = phase(without: card)
        case .ending(let card, _) where card.id == known.id: phase = phase(without: card)
        case .none, .starting, .unconfirmed, .live, .ending: break
        }
    }

    /// Records that the token of the card is unregistered: the card is gone, and the app has not reported why.
    private mutating func lose(_ card: Card, at time: Int64) {
        forget(card.id, card.token, at: time)
        endedCards[endedCards.count - 1].lostAfter = seenAt
        phase = phase(without: card)
    }

    private mutating func forget(
        _ id: String,
        _ token: DeviceToken?,
        at time: Int64,
        isReported: Bool = false,
        isRefused: Bool = false
    ) {
        endedCards.removeAll { $0.id == id }
        endedCards.append(EndedCard(id: id, token: token, time: time, isReported: isReported, isRefused: isRefused))
    }

    /// The next time at which the app may have reported why a card is gone; nil if no card is, or if the app has
    /// reported something since without a removal by the user.
    func lossTime(after now: Int64) -> Int64? {
        guard let lost = endedCards.last(where: { $0.lostAfter != nil }), let lostAfter = lost.lostAfter else {
            return nil
        }
        // The report after a clock was set back has an earlier time.
        guard seenAt != lostAfter else { return Self.lookTime(after: now, since: lost.time) }
        let time = seenAt + Self.policy.reportDelay
        return now < time ? time : nil
    }

    /// Forgets the removals of cards, because the surface is desired anew.
    mutating func forgetRemovals() {
        isRemovedByUser = false
        for index in endedCards.indices { endedCards[index].lostAfter = nil }
    }

    /// Returns whether a running activity is that of an ended card: its token is the same, and was not reported since.
    private func isOver(_ running: RunningCard) -> Bool {
        guard let card = endedCards.first(where: { $0.id == running.id }) else { return false }
        guard let token = running.token else { return true }
        return token.token == card.token && token.reportedAt <= card.time
    }

    /// Returns the phase after a card has ended: its successor may be on the phone.
    private func phase(without card: Card) -> Phase {
        guard let successor = card.successor else { return .none }
        return successor.isAccepted ? .unconfirmed(successor.start) : .starting(successor.start, successor.request)
    }

    /// The time from which nothing of the surface is on the phone, in seconds since 1970; nil while a card may be.
    ///
    /// An ended card that the app still lists is remembered for as long as the phone could show it, so that it is not
    /// taken for one that runs.
    var goneAt: Int64? {
        guard phase == .none, superseded.isEmpty else { return nil }
        let ends = endedCards.filter { !$0.isReported }.map { $0.time + Self.policy.longestLife }
        return max(ends.max() ?? .min, lastChannelEnd)
    }

    // MARK: Results of pushes

    /// Records the result of a push, which ended at a time in milliseconds since 1970.
    mutating func record(_ result: SurfacePushResult, of request: Int, at milliseconds: Int64) {
        let time = milliseconds / 1_000
        if let index = superseded.firstIndex(where: { $0.request == request }) {
            let card = superseded[index]
            if isEndOver(of: card, result) {
                superseded.remove(at: index)
                forget(card.id, card.token, at: time, isRefused: result == .refused)
            } else {
                superseded[index].settle(.notSent, at: milliseconds)
            }
            return
        }
        switch phase {
        case .starting(let start, request):
            forgetToken(of: start, result, at: time)
            phase = result == .accepted ? .unconfirmed(start.accepted(at: milliseconds)) : .none
        case .live(var card):
            if let successor = card.successor, successor.request == request {
                forgetToken(of: successor.start, result, at: time)
                card.successor = result == .accepted ? successor.accepted(at: milliseconds) : nil
                phase = .live(card)
            } else if card.request == request {
                record(result, ofUpdateOf: card, at: milliseconds)
            }
        case .ending(var card, let end):
            if let successor = card.successor, successor.request == request {
                forgetToken(of: successor.start, result, at: time)
                card.successor = result == .accepted ? successor.accepted(at: milliseconds) : nil
                phase = .ending(card, end)
            } else if request == end {
                record(result, ofEndOf: card, at: milliseconds)
            }
        case .none, .starting, .unconfirmed: break
        }
    }

    private mutating func record(_ result: SurfacePushResult, ofUpdateOf known: Card, at milliseconds: Int64) {
        var card = known
        // A token that was reported meanwhile is a newer one.
        if result == .unregistered, card.token == card.sentTo {
            lose(card, at: milliseconds / 1_000)
        } else {
            card.settle(result, at: milliseconds)
            phase = .live(card)
        }
    }

    private mutating func record(_ result: SurfacePushResult, ofEndOf known: Card, at milliseconds: Int64) {
        var card = known
        if isEndOver(of: card, result) {
            forget(card.id, card.token, at: milliseconds / 1_000, isRefused: result == .refused)
            phase = phase(without: card)
        } else {
            card.settle(.notSent, at: milliseconds)
            phase = .live(card)
        }
    }

    /// Returns whether an end needs no repetition.
    ///
    /// It does when it was not sent, or was sent to a token that the app has replaced meanwhile.
    private func isEndOver(of card: Card, _ result: SurfacePushResult) -> Bool {
        switch result {
        case .accepted, .unregistered: card.token == card.sentTo
        case .refused: true
        case .notSent: false
        }
    }

    private mutating func forgetToken(of start: Start, _ result: SurfacePushResult, at time: Int64) {
        guard result == .unregistered, let token = start.token else { return }
        let unregistered = ReportedToken(token: token, reportedAt: time)
        unregisteredStart = unregistered
        if let known = startToken, known.isUnregistered(unregistered) { startToken = nil }
    }
}

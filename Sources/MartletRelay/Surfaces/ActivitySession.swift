// SPDX-License-Identifier: Apache-2.0

/// The decisions that keep the Live Activity of one surface on one installation in the desired state, without I/O or a
/// clock.
///
/// Events change the desired state and the belief about the phone; ``actions(at:within:)`` then compares both, and
/// returns the pushes to send.
///
/// A start is never repeated because time has passed. It follows a change of the desired state, a report of the app, or
/// the result of an earlier push; the one exception replaces a card, known to be updatable, before the system ends it.
struct ActivitySession: Sendable, Hashable {
    /// The state that the surface shall show; nil when it shall not be on the phone.
    private(set) var desired: Desired?
    /// The belief about the phone.
    private(set) var belief: ActivityBelief
    /// The reason no card is on the phone, although the surface is desired; nil otherwise.
    private(set) var absence: Absence?
    /// The timestamp of the newest start, update or end, in seconds since 1970.
    ///
    /// The next one is higher, whichever card it is for.
    private(set) var lastTimestamp: Int64
    /// The highest generation for which an alert was sent in place of the Live Activity.
    private var alertedGeneration = 0
    /// The start that is not repeated with the same content.
    private var heldStart: HeldStart?
    private var lastRequest = 0

    private var policy: ActivityPolicy { belief.policy }

    /// Creates the session of a surface that is not desired yet.
    ///
    /// - Parameters:
    ///   - policy: The limits and intervals.
    ///   - lastTimestamp: The timestamp of the newest push to an earlier session of the surface on this installation.
    init(policy: ActivityPolicy = ActivityPolicy(), lastTimestamp: Int64 = 0) {
        belief = ActivityBelief(policy: policy)
        self.lastTimestamp = lastTimestamp
    }

    // MARK: Events

    /// Changes the desired state; a generation that is not newer is ignored.
    mutating func desire(_ new: Desired) {
        guard new.generation > desired?.generation ?? 0 else { return }
        if desired == nil { belief.isRemovedByUser = false }
        desired = new
    }

    /// Records that the surface shall no longer be on the phone.
    mutating func withdraw() {
        desired = nil
        absence = nil
        alertedGeneration = 0
        heldStart = nil
    }

    /// Records a report of the app.
    ///
    /// - Parameters:
    ///   - report: The report.
    ///   - time: The time at which it was made, in seconds since 1970.
    ///   - now: The time of its arrival, in seconds since 1970.
    mutating func record(_ report: Report, madeAt time: Int64, at now: Int64) {
        switch report {
        case .startToken(let token):
            belief.report(startToken: ActivityBelief.ReportedToken(token: token, reportedAt: time))
        case .allowed(let isAllowed): belief.report(isAllowed: isAllowed, madeAt: time)
        case .allGone: belief.reportAllGone(madeAt: time)
        case .card(let card): belief.report(card, madeAt: time, at: now)
        case .cards(let cards): belief.report(all: cards, madeAt: time, at: now)
        case .gone(let id, let cause): belief.reportGone(id, by: cause, madeAt: time)
        }
        // The content with which the app started a card has a timestamp of that time.
        if case .live(let card) = belief.phase { lastTimestamp = max(lastTimestamp, card.startedAt) }
    }

    /// Records the result of a push; returns the token to remove from the registry if APNs reported it as unregistered.
    mutating func settled(_ request: Int, _ result: ActivityBelief.Settlement, at now: Int64) -> ActivityBelief
        .UnregisteredToken?
    {
        if result == .refused, let start = belief.start(of: request) {
            heldStart = HeldStart(generation: start.generation, reason: .refused)
        }
        return belief.settled(request, result, at: now)
    }

    // MARK: Actions

    /// Returns the pushes that bring the phone closer to the desired state.
    ///
    /// - Parameters:
    ///   - now: The time in seconds since 1970.
    ///   - budget: The starts and urgent updates that the installation may still have.
    /// - Returns: The pushes, each with the number of its request.
    mutating func actions(at now: Int64, within budget: inout ActivityBudget) -> [Action] {
        var actions = endSuperseded(at: now)
        if case .unconfirmed(let start) = belief.phase, now >= start.at + policy.longestLife {
            if desired != nil { heldStart = HeldStart(generation: start.generation, reason: .neverConfirmed) }
            belief.phase = .none
        }
        absence = nil
        switch belief.phase {
        case .none: actions += start(at: now, within: &budget)
        case .starting(let start, let request): actions += cancel(start, request)
        case .unconfirmed(let start): actions += alertUnconfirmed(start, at: now)
        case .live(let card): actions += maintain(card, at: now, within: &budget)
        case .ending: break
        }
        return actions
    }

    private mutating func endSuperseded(at now: Int64) -> [Action] {
        belief.superseded.indices.filter { belief.superseded[$0].request == nil }.map { index in
            let request = nextRequest()
            belief.superseded[index].send(0, as: request, at: now)
            return .end(request, belief.superseded[index].sentTo, timestamp: nextTimestamp(at: now))
        }
    }

    private mutating func start(at now: Int64, within budget: inout ActivityBudget) -> [Action] {
        guard let desired else { return [] }
        guard !belief.isRemovedByUser else {
            absence = .declined
            return []
        }
        guard belief.isAllowed else { return alert(desired, because: .notAllowed) }
        guard let token = belief.startToken?.token else { return alert(desired, because: .noStartToken) }
        if let heldStart, heldStart.generation >= desired.generation {
            return alert(desired, because: heldStart.reason)
        }
        guard budget.takeStart(at: now) else { return alert(desired, because: .startBudgetSpent) }
        let request = nextRequest()
        let start = ActivityBelief.Start(generation: desired.generation, token: token, at: now)
        belief.phase = .starting(start, request)
        return [.start(request, token, generation: start.generation, timestamp: nextTimestamp(at: now))]
    }

    private mutating func cancel(_ start: ActivityBelief.Start, _ request: Int) -> [Action] {
        guard desired == nil, !start.isCancelled else { return [] }
        belief.phase = .starting(start.cancelled, request)
        return [.cancel(request)]
    }

    private mutating func alertUnconfirmed(_ start: ActivityBelief.Start, at now: Int64) -> [Action] {
        guard let desired, desired.generation > start.generation, now >= start.at + policy.tokenWait else { return [] }
        return alert(desired)
    }

    private mutating func alert(_ desired: Desired, because reason: Absence) -> [Action] {
        absence = reason
        return alert(desired)
    }

    /// Sends an urgent change as an alert, once for each generation; a later alert replaces it on the phone.
    private mutating func alert(_ desired: Desired) -> [Action] {
        guard desired.isUrgent, desired.generation > alertedGeneration else { return [] }
        alertedGeneration = desired.generation
        return [.alert(nextRequest(), generation: desired.generation)]
    }

    /// Ends a card that is no longer desired, updates one with older content, and replaces one that the system will
    /// end.
    private mutating func maintain(_ card: ActivityBelief.Card, at now: Int64, within budget: inout ActivityBudget)
        -> [Action]
    {
        guard card.request == nil else { return [] }
        guard let desired else { return end(card, at: now) }
        var card = card
        var actions: [Action] = []
        if now >= updateTime(of: card, desired) {
            let isImportant = desired.isUrgent && card.lacks(desired) && budget.takeUpdate(at: now)
            let request = nextRequest()
            card.send(desired.generation, as: request, at: now)
            let update = Update(
                generation: desired.generation,
                timestamp: nextTimestamp(at: now),
                priority: isImportant ? 10 : 5,
                staleDate: now + policy.staleAfter
            )
            actions.append(.update(request, card.sentTo, update))
        }
        if let token = belief.startToken?.token, now >= restartTime(of: card), belief.isAllowed,
            desired.generation > heldStart?.generation ?? 0, budget.takeStart(at: now)
        {
            let start = ActivityBelief.Start(generation: desired.generation, token: token, at: now)
            let request = nextRequest()
            card.successor = ActivityBelief.Successor(start: start, request: request)
            actions.append(.start(request, token, generation: start.generation, timestamp: nextTimestamp(at: now)))
        }
        belief.phase = .live(card)
        return actions
    }

    private mutating func end(_ known: ActivityBelief.Card, at now: Int64) -> [Action] {
        var card = known
        let request = nextRequest()
        card.send(card.shown, as: request, at: now)
        belief.phase = .ending(card, request)
        return [.end(request, card.sentTo, timestamp: nextTimestamp(at: now))]
    }

    /// The time of the next update: of new content at once when it is urgent and otherwise after the interval, and of
    /// unchanged content before it is marked as outdated.
    private func updateTime(of card: ActivityBelief.Card, _ desired: Desired) -> Int64 {
        guard card.lacks(desired) else { return card.sentAt + policy.staleAfter - policy.refreshLead }
        return desired.isUrgent ? card.sentAt : card.sentAt + policy.updateInterval
    }

    private func restartTime(of card: ActivityBelief.Card) -> Int64 {
        card.successor == nil ? card.startedAt + policy.restartAfter : .max
    }

    /// The time at which to ask for actions again, in seconds since 1970, unless an event comes first; nil for none.
    var nextTime: Int64? {
        switch belief.phase {
        case .live(let card):
            guard card.request == nil, let desired else { return nil }
            let canRestart = belief.startToken != nil && belief.isAllowed
            return min(updateTime(of: card, desired), canRestart ? restartTime(of: card) : .max)
        case .unconfirmed(let start):
            let end = start.at + policy.longestLife
            guard let desired, desired.isUrgent, desired.generation > max(start.generation, alertedGeneration) else {
                return end
            }
            return min(start.at + policy.tokenWait, end)
        case .none, .starting, .ending: return nil
        }
    }

    private mutating func nextRequest() -> Int {
        lastRequest += 1
        return lastRequest
    }

    private mutating func nextTimestamp(at now: Int64) -> Int64 {
        lastTimestamp = max(now, lastTimestamp + 1)
        return lastTimestamp
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The decisions that keep the Live Activity of one surface on one installation in the desired state, without I/O or a
/// clock.
///
/// Events change the desired state and the assumed state of the phone; ``actions(at:within:)`` then compares both, and
/// returns the pushes to send.
///
/// A start is never repeated because time has passed. It follows a change of the desired state, a report of the app, or
/// the result of an earlier push; the one exception replaces a card, known to be updatable, before the system ends it.
struct ActivitySession: Sendable, Hashable {
    /// The state that the surface shall show; nil when it shall not be on the phone.
    private(set) var desired: Desired?
    /// The state with which the surface was withdrawn from all phones; nil while other phones may show it.
    private(set) var withdrawal: Desired?
    /// The assumed state of the phone.
    private(set) var assumed = AssumedActivity()
    /// The reason no card is on the phone, although the surface is desired; nil otherwise.
    private(set) var absence: Absence?
    /// The timestamp of the newest start, update or end, in seconds since 1970.
    ///
    /// The next one is higher, whichever card it is for; cards that end at once have the same.
    private(set) var lastTimestamp: Int64 = 0
    /// The newest broadcast to the channel of the card, by this session or another one; nil for none.
    private(set) var broadcast: Broadcast?
    /// The highest number of an alert that was sent in place of the Live Activity.
    private(set) var alertedGeneration = 0
    /// The start that is not repeated with the same content.
    private(set) var heldStart: HeldStart?
    private(set) var lastRequest = 0

    var policy: ActivityPolicy { AssumedActivity.policy }

    /// The desired state of a card; nil also after the user has removed one.
    var wanted: Desired? { assumed.isRemovedByUser ? nil : desired }

    // MARK: Events

    /// Changes the desired state; an older generation is ignored.
    mutating func desire(_ new: Desired) {
        guard new.generation >= desired?.generation ?? 0 else { return }
        if desired == nil { assumed.forgetRemovals() }
        // A start with other attributes, or on another channel, may succeed.
        if new.attributes != desired?.attributes || new.channel != desired?.channel { heldStart = nil }
        desired = new
        assumed.correctChannel(new.channel)
    }

    /// Records that the surface shall no longer be on the phone.
    ///
    /// - Parameter state: The state with which the surface was withdrawn from all phones, so that a broadcast ends the
    ///   cards on a channel; nil if only this phone has left the audience.
    mutating func withdraw(_ state: Desired? = nil) {
        desired = nil
        withdrawal = state
        absence = nil
        alertedGeneration = 0
        heldStart = nil
    }

    /// Records what the app has reported.
    ///
    /// - Parameters:
    ///   - report: The report.
    ///   - now: The time in seconds since 1970.
    mutating func record(_ report: AssumedActivity.Report, at now: Int64) {
        // A clock that was set back must not delay pushes.
        assumed.correctTimes(at: now)
        if let sentAt = broadcast?.sentAt { broadcast?.sentAt = min(sentAt, now) }
        assumed.record(report, at: now)
        // The content with which the app started a card has a timestamp of that time.
        if case .live(let card) = assumed.phase { lastTimestamp = max(lastTimestamp, card.startedAt) }
    }

    /// Records the result of a push, which ended at a time in milliseconds since 1970.
    ///
    /// The report of the app is recorded first, so that the result of a push to a token that the app has replaced is
    /// recognized.
    mutating func record(_ result: SurfacePushResult, of request: Int, at time: Int64) {
        if broadcast?.request == request {
            // One that was not sent is made up for by the next.
            broadcast?.request = nil
            return
        }
        if result == .refused, let start = assumed.start(of: request), start.attributes == desired?.attributes {
            heldStart = HeldStart(generation: start.generation, reason: .refused)
        }
        assumed.record(result, of: request, at: time)
    }

    // MARK: Actions

    /// Returns the pushes that bring the phone closer to the desired state.
    ///
    /// - Parameters:
    ///   - now: The time in seconds since 1970.
    ///   - budget: The starts, urgent updates and ends that the installation may still have.
    ///   - sent: The known broadcasts of the surface: the timestamp of a new one is greater.
    /// - Returns: The pushes, each with the number of its request.
    mutating func actions(
        at now: Int64,
        within budget: inout ActivityBudget,
        after sent: SentBroadcasts = SentBroadcasts()
    ) -> [Action] {
        var actions = endSuperseded(at: now, within: &budget)
        if case .unconfirmed(let start) = assumed.phase, now >= start.at + policy.longestLife {
            if let desired, start.token == nil || start.attributes == desired.attributes {
                let generation = start.token == nil ? desired.generation : start.generation
                heldStart = HeldStart(generation: generation, reason: .neverConfirmed)
            }
            assumed.abandon(start, at: now)
        }
        actions += forgetUnreachable(at: now, without: sent.missingChannel)
        absence = nil
        switch assumed.phase {
        case .none: actions += start(at: now, within: &budget)
        case .starting(let start, let request): actions += cancel(start, request)
        case .unconfirmed(let start):
            if let channel = start.channel {
                actions += sendBroadcast(on: channel, of: start, at: now, within: &budget, above: sent.timestamp)
                actions += restart(start, at: now, within: &budget)
            } else {
                actions += alertUnconfirmed(start, at: now)
            }
        case .live(let card): actions += maintain(card, at: now, within: &budget)
        case .ending: break
        }
        return actions + cancelSuccessor(at: now)
    }

    /// Cancels the start of a card that is not needed, because the surface is no longer desired, or because the app has
    /// started a card meanwhile.
    private mutating func cancelSuccessor(at now: Int64) -> [Action] {
        switch assumed.phase {
        case .live(var card):
            let isWanted = wanted != nil && now >= card.startedAt + policy.restartAfter
            guard !isWanted, let request = card.cancelSuccessor() else { return [] }
            assumed.phase = .live(card)
            return [.cancel(request)]
        case .ending(var card, let end):
            guard wanted == nil, let request = card.cancelSuccessor() else { return [] }
            assumed.phase = .ending(card, end)
            return [.cancel(request)]
        case .none, .starting, .unconfirmed: return []
        }
    }

    private mutating func endSuperseded(at now: Int64, within budget: inout ActivityBudget) -> [Action] {
        let running = assumed.superseded.indices.filter { assumed.superseded[$0].request == nil }
        let ended = running.prefix { _ in budget.takeEnd(at: now) }
        guard !ended.isEmpty else { return [] }
        // Timestamps rise for each card, so that one is enough for several.
        let timestamp = nextTimestamp(at: now)
        return ended.map { index in
            let request = nextRequest()
            assumed.superseded[index].send(0, as: request, at: now)
            return .end(request, assumed.superseded[index].sentTo, timestamp: timestamp)
        }
    }

    private mutating func start(at now: Int64, within budget: inout ActivityBudget) -> [Action] {
        guard let desired else { return [] }
        guard !assumed.isRemovedByUser else {
            absence = .declined
            return []
        }
        guard assumed.isAllowed else { return alert(desired, because: .notAllowed) }
        guard assumed.lossTime(after: now) == nil else { return alert(desired, because: .endedWithoutReport) }
        guard let token = assumed.startToken?.token else { return alert(desired, because: .noStartToken) }
        if let heldStart, heldStart.generation >= desired.generation {
            return alert(desired, because: heldStart.reason)
        }
        guard budget.takeStart(at: now) else { return alert(desired, because: .startBudgetSpent) }
        return [sendStart(desired, to: token, at: now)]
    }

    /// Sends a start, with the channel unless the phone has shown no card of a start with it.
    private mutating func sendStart(_ desired: Desired, to token: DeviceToken, at now: Int64) -> Action {
        let channel = desired.channel == assumed.unusableChannel ? nil : desired.channel
        let start = AssumedActivity.Start(of: desired, with: token, on: channel, at: now)
        let request = nextRequest()
        assumed.phase = .starting(start, request)
        let timestamp = nextTimestamp(at: now)
        return .start(request, token, generation: start.generation, timestamp: timestamp, channel: channel)
    }

    private mutating func cancel(_ start: AssumedActivity.Start, _ request: Int) -> [Action] {
        guard wanted == nil || !assumed.isAllowed, !start.isCancelled else { return [] }
        var cancelled = start
        cancelled.isCancelled = true
        assumed.phase = .starting(cancelled, request)
        return [.cancel(request)]
    }

    private mutating func alertUnconfirmed(_ start: AssumedActivity.Start, at now: Int64) -> [Action] {
        guard let desired, desired.generation > start.generation, now >= start.at + policy.tokenWait else { return [] }
        guard !assumed.isRemovedByUser else {
            absence = .declined
            return []
        }
        return alert(desired)
    }

    private mutating func alert(_ desired: Desired, because reason: Absence) -> [Action] {
        absence = reason
        return alert(desired)
    }

    /// Sends an urgent change as an alert, once for each notification; a later alert replaces it on the phone.
    private mutating func alert(_ desired: Desired) -> [Action] {
        guard desired.isUrgent, desired.alertGeneration > alertedGeneration else { return [] }
        alertedGeneration = desired.alertGeneration
        return [.alert(generation: desired.generation)]
    }

    /// Ends a card that is no longer wanted, updates one with older content, and replaces one that the system will end.
    private mutating func maintain(_ card: AssumedActivity.Card, at now: Int64, within budget: inout ActivityBudget)
        -> [Action]
    {
        if let request = card.request { return cancelUpdate(of: card, request) }
        guard let desired = wanted else { return end(card, at: now, within: &budget) }
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
        if let token = assumed.startToken?.token, card.successor == nil,
            let time = restartTime(ofCardFrom: card.startedAt, desired), now >= time,
            budget.takeStart(at: now)
        {
            // With an update token, as the card that it replaces.
            let start = AssumedActivity.Start(of: desired, with: token, at: now)
            let request = nextRequest()
            card.successor = AssumedActivity.Successor(start: start, request: request)
            actions.append(.start(request, token, generation: start.generation, timestamp: nextTimestamp(at: now)))
        }
        assumed.phase = .live(card)
        return actions
    }

    /// Cancels an update of which the content is no longer wanted.
    private mutating func cancelUpdate(of known: AssumedActivity.Card, _ request: Int) -> [Action] {
        guard known.sending != wanted?.generation, !known.isCancelled else { return [] }
        var card = known
        card.isCancelled = true
        assumed.phase = .live(card)
        return [.cancel(request)]
    }

    private mutating func end(_ known: AssumedActivity.Card, at now: Int64, within budget: inout ActivityBudget)
        -> [Action]
    {
        guard budget.takeEnd(at: now) else { return [] }
        var card = known
        let request = nextRequest()
        card.send(card.shown, as: request, at: now)
        assumed.phase = .ending(card, request)
        return [.end(request, card.sentTo, timestamp: nextTimestamp(at: now))]
    }

    // MARK: Channels

    /// Sends the broadcast that is due: each generation once, again for phones whose starts were late, and then before
    /// the content is marked as outdated.
    private mutating func sendBroadcast(
        on channel: SurfaceChannel,
        of start: AssumedActivity.Start,
        at now: Int64,
        within budget: inout ActivityBudget,
        above channelTimestamp: Int64
    ) -> [Action] {
        guard let state = desired ?? withdrawal, let time = broadcastTime(on: channel, of: start), now >= time else {
            return []
        }
        var actions: [Action] = []
        let isNew = lastAge(of: state, on: channel, start) == nil
        if isNew, let request = broadcast?.request { actions.append(.cancel(request)) }
        let isImportant = isNew && desired != nil && state.isUrgent && budget.takeUpdate(at: now)
        lastTimestamp = max(lastTimestamp, channelTimestamp)
        let request = nextRequest()
        let new = Broadcast(
            channel: channel,
            age: state.broadcastAge(at: now, to: start),
            isEnd: desired == nil,
            update: Update(
                generation: state.generation,
                timestamp: nextTimestamp(at: now),
                priority: isImportant ? 10 : 5,
                staleDate: now + policy.staleAfter
            ),
            sentAt: now,
            request: request
        )
        broadcast = new
        return actions + [.broadcast(request, new)]
    }

    /// Forgets a card of a desired surface that a broadcast has ended, or whose channel does not exist any more while
    /// the surface has another one.
    ///
    /// The end is forgotten also if its card is forgotten already: it would seem to end the next one, and would do so
    /// if it is not sent yet.
    private mutating func forgetUnreachable(at now: Int64, without missing: ChannelID?) -> [Action] {
        guard let desired else { return [] }
        let ended = broadcast.flatMap { $0.isEnd ? $0.channel.id : nil }
        if case .unconfirmed(let start) = assumed.phase, let channel = start.channel?.id,
            channel == ended || channel == missing && channel != desired.channel?.id
        {
            assumed.abandon(start, at: now)
        } else if ended == nil {
            return []
        }
        let request = broadcast?.request
        broadcast = nil
        return request.map { [.cancel($0)] } ?? []
    }

    /// Replaces a card on a channel before the system ends it; the app, or the system, ends the old one, which has no
    /// token.
    private mutating func restart(
        _ start: AssumedActivity.Start,
        at now: Int64,
        within budget: inout ActivityBudget
    ) -> [Action] {
        guard let wanted, let token = assumed.startToken?.token, let time = restartTime(of: start), now >= time,
            budget.takeStart(at: now)
        else { return [] }
        assumed.abandon(start, at: now)
        return [sendStart(wanted, to: token, at: now)]
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

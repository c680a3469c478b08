// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox

@testable import MartletRelay

/// A phone with an app that shows one surface, as ActivityKit, its budgets and its users are known to behave.
struct PhoneModel {
    /// A card on the Lock Screen.
    struct Card {
        var id: String
        var token: String
        var generation: Int
        var timestamp: Int64
        var startedAt: Int64
        /// Whether the system still updates the card; eight hours after its start it does not.
        var isActive = true
        var isStartedByPush: Bool
        /// Whether the system has issued the token, which it does after a tap of the user for some cards.
        var hasToken = true
        /// Whether broadcasts update the card, which has no token then.
        var usesChannel = false
    }

    /// The probabilities and limits of the phone.
    struct Habits {
        /// The probability that a push start wakes the app, so that it can report the card's token.
        var wake = 0.8
        /// The probability that a start needs a tap of the user before the system issues a token.
        var needsTap = 0.2
    }

    private(set) var cards: [Card] = []
    private(set) var isOnline = true
    private(set) var isAllowed = true
    private(set) var startToken = "start-1"
    /// The tokens that no longer exist, with the time at which each was invalidated.
    private(set) var deadTokens: [String: Int64] = [:]
    /// The names of the tokens that cards on a channel would have.
    private(set) var channelTokens: Set<String> = []
    /// The number of ends of cards on a channel that the phone has missed since the app ran last.
    private(set) var missedEnds = 0
    /// The newest push that APNs stores for the phone, by token and collapse identifier.
    private var stored: [String: ActivityWorld.Push] = [:]
    /// The starts that the system still accepts: ten, and one more every 2.4 hours.
    private var startsLeft = 10.0
    private var startsSince: Int64 = 0
    private var tokenCount = 1
    private let habits = Habits()
    /// The seconds by which the clock of the phone is behind.
    var clockLag: Int64 = 0

    // MARK: Pushes

    /// Delivers a push; returns what the app reports when the push wakes it.
    mutating func receive(
        _ push: ActivityWorld.Push,
        at now: Int64,
        using generator: inout SplitMix64
    ) -> [ActivityWorld.Report] {
        guard isOnline else {
            // APNs stores one broadcast at most.
            let isReplaced = push.isStored && push.isForChannel && stored[push.slot]?.kind == .end
            if isReplaced || push.kind == .end && !push.isStored { missedEnds += 1 }
            if push.isStored { stored[push.slot] = push }
            return []
        }
        return apply(push, at: now, using: &generator)
    }

    private mutating func apply(
        _ push: ActivityWorld.Push,
        at now: Int64,
        using generator: inout SplitMix64
    ) -> [ActivityWorld.Report] {
        switch push.kind {
        case .start: return start(push, at: now, using: &generator)
        case .update, .end:
            // Developers report that an end with any timestamp ends the card (Apple forum 776165).
            for card in cards where card.isActive && card.isReached(by: push) {
                guard push.kind == .end || push.timestamp > card.timestamp else { continue }
                guard push.kind == .update, let index = cards.firstIndex(where: { $0.id == card.id }) else {
                    remove(card.id, at: now)
                    continue
                }
                cards[index].generation = push.generation
                cards[index].timestamp = push.timestamp
            }
            return []
        }
    }

    private mutating func start(
        _ push: ActivityWorld.Push,
        at now: Int64,
        using generator: inout SplitMix64
    ) -> [ActivityWorld.Report] {
        startsLeft = min(10, startsLeft + Double(now - startsSince) / 8_640)
        startsSince = now
        guard isAllowed, push.token == startToken, startsLeft >= 1, cards.count < 5 else { return [] }
        startsLeft -= 1
        add(generation: push.generation, timestamp: push.timestamp, isStartedByPush: true, at: now)
        let isWoken = Double.random(in: 0..<1, using: &generator) < habits.wake
        cards[cards.count - 1].usesChannel = push.isForChannel
        if push.isForChannel { channelTokens.insert(cards[cards.count - 1].token) }
        let hasToken = Double.random(in: 0..<1, using: &generator) >= habits.needsTap
        cards[cards.count - 1].hasToken = hasToken && !push.isForChannel
        return isWoken ? wake(at: now) : []
    }

    private mutating func add(generation: Int, timestamp: Int64, isStartedByPush: Bool, at now: Int64) {
        tokenCount += 1
        let name = "card-\(tokenCount)"
        cards.append(
            Card(
                id: name,
                token: "update-\(tokenCount)",
                generation: generation,
                timestamp: timestamp,
                startedAt: now,
                isStartedByPush: isStartedByPush
            )
        )
    }

    private mutating func remove(_ id: String, at now: Int64) {
        for card in cards where card.id == id { deadTokens[card.token] = now }
        cards.removeAll { $0.id == id }
    }

    // MARK: The user, the system and the app

    /// Runs the app: it keeps the newest of its cards, ends the others, and reports all it knows.
    mutating func wake(at now: Int64) -> [ActivityWorld.Report] {
        missedEnds = 0
        var reports: [ActivityWorld.Report] = [.startToken(startToken), .allowed(isAllowed)]
        for card in cards.dropLast() {
            remove(card.id, at: now)
            reports.append(.gone(card.id, .app))
        }
        for card in cards where !card.isActive { reports.append(.gone(card.id, .system)) }
        reports.append(
            .cards(
                cards.filter(\.isActive).map { card in
                    ActivityWorld.CardReport(
                        id: card.id,
                        token: card.hasToken ? card.token : nil,
                        startedAt: card.startedAt - clockLag,
                        isStartedByPush: card.isStartedByPush
                    )
                }
            )
        )
        return reports
    }

    /// Starts a card from the app, as it does in the foreground.
    mutating func startFromApp(at now: Int64) -> [ActivityWorld.Report] {
        guard isAllowed, cards.isEmpty else { return wake(at: now) }
        add(generation: 0, timestamp: now, isStartedByPush: false, at: now)
        return wake(at: now)
    }

    /// Opens the app, and allows the card if the system has asked for that.
    mutating func open(at now: Int64) -> [ActivityWorld.Report] {
        for index in cards.indices { cards[index].hasToken = !cards[index].usesChannel }
        return wake(at: now)
    }

    /// Removes the card as the user does with a swipe.
    mutating func swipe(at now: Int64) -> [ActivityWorld.Report] {
        guard let card = cards.last else { return [] }
        remove(card.id, at: now)
        return [.gone(card.id, .user)]
    }

    mutating func setOnline(
        _ isOnline: Bool,
        at now: Int64,
        using generator: inout SplitMix64
    ) -> [ActivityWorld.Report] {
        self.isOnline = isOnline
        guard isOnline else { return [] }
        let waiting = stored.values.sorted { $0.timestamp < $1.timestamp }
        stored = [:]
        var reports: [ActivityWorld.Report] = []
        for push in waiting where now <= push.sentAt + push.storageTime {
            reports += apply(push, at: now, using: &generator)
        }
        return reports
    }

    /// Allows or forbids Live Activities in Settings; the system ends all cards.
    mutating func allow(_ isAllowed: Bool, at now: Int64) -> [ActivityWorld.Report] {
        self.isAllowed = isAllowed
        for card in cards { remove(card.id, at: now) }
        return [.allowed(isAllowed), .allGone]
    }

    /// Replaces the token of the card, as the system does from time to time.
    mutating func rotateToken(at now: Int64) -> [ActivityWorld.Report] {
        guard let card = cards.last, card.isActive, !card.usesChannel else { return [] }
        deadTokens[card.token] = now
        tokenCount += 1
        cards[cards.count - 1].token = "update-\(tokenCount)"
        return wake(at: now)
    }

    mutating func replaceStartToken(at now: Int64) -> [ActivityWorld.Report] {
        deadTokens[startToken] = now
        tokenCount += 1
        startToken = "start-\(tokenCount)"
        return wake(at: now)
    }

    /// Ends the cards that are eight hours old, and removes those of twelve.
    mutating func age(at now: Int64) -> [ActivityWorld.Report] {
        var reports: [ActivityWorld.Report] = []
        for index in cards.indices where cards[index].isActive && now >= cards[index].startedAt + 8 * 3600 {
            cards[index].isActive = false
            deadTokens[cards[index].token] = now
            reports.append(.gone(cards[index].id, .system))
        }
        for card in cards where now >= card.startedAt + 12 * 3600 { remove(card.id, at: now) }
        return reports
    }
}

extension PhoneModel.Card {
    /// Returns whether an update or an end is for the card.
    fileprivate func isReached(by push: ActivityWorld.Push) -> Bool {
        usesChannel ? push.isForChannel : hasToken && token == push.token
    }
}

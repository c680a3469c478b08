// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox

@testable import MartletRelay

/// The user of the phone, and the reports of the app.
extension ActivityWorld {
    /// A removal of the card by the user.
    struct Removal {
        /// The identifier of the card.
        let id: String
        /// The last token of the card.
        let token: String
        /// Whether APNs has reported the token as unregistered, and the app has reported nothing since.
        var isUnregistered = false
        /// Whether the app has reported the removal.
        var isReported = false

        /// Whether the relay must not start a card.
        var isKnown: Bool { isUnregistered || isReported }
    }

    mutating func act(_ choice: Int) {
        note("user \(choice)")
        // With the switch in Settings, or in the app, the user wants a card again.
        if [1, 2, 3, 6].contains(choice) { removal = nil }
        switch choice {
        case 0: swipe()
        case 1: deliver(phone.allow(false, at: now))
        case 2, 3: deliver(phone.allow(true, at: now))
        case 4: deliver(phone.rotateToken(at: now))
        case 5: deliver(phone.replaceStartToken(at: now))
        case 6: deliver(phone.startFromApp(at: now))
        default: deliver(choice == 9 ? phone.open(at: now) : phone.wake(at: now))
        }
    }

    /// Removes the newest card, as the user does.
    private mutating func swipe() {
        if content != nil, let card = phone.cards.last, card.isActive,
            case .live(let known) = state.activity.assumed.phase, known.id == card.id
        {
            removal = Removal(id: card.id, token: card.token)
            if chance(0.5) { holdReports() }
        }
        deliver(phone.swipe(at: now))
    }

    /// Lets the app report the removal only after the relay has learned that the token is unregistered, and may have
    /// started another card.
    private mutating func holdReports() {
        heldUntil = now + Int64.random(in: 60...600, using: &generator)
        schedule(.desire(isUrgent: true), at: now + 10)
        schedule(.report, at: now + Int64.random(in: 20...60, using: &generator))
        schedule(.desire(isUrgent: true), at: now + 150)
        schedule(.report, at: heldUntil)
    }

    /// Lets the app send what it reports: soon, and in the quiet always; otherwise when it runs again.
    mutating func deliver(_ new: [Report]) {
        guard !new.isEmpty else { return }
        reports += new
        if !isQuiet, chance(0.15) {
            if chance(0.6) { schedule(.user(8), at: now + Int64.random(in: 1...7_200, using: &generator)) }
        } else {
            schedule(.report, at: now + (isQuiet ? 1 : Int64.random(in: 0...5, using: &generator)))
        }
    }

    /// Sends the reports in their order, and the state that the app finds then.
    mutating func sendReports() throws(Violation) {
        var sent: [Report] = [.startToken(phone.startToken), .allowed(phone.isAllowed)]
        if now >= heldUntil {
            sent = reports + phone.wake(at: now)
            reports = []
        }
        note("reports \(sent)")
        removal?.isUnregistered = false
        for report in sent {
            switch report {
            case .startToken(let token): knownDead.remove(token)
            case .cards(let cards): for card in cards { knownDead.remove(card.token ?? "") }
            case .gone(let id, .user): if removal?.id == id { removal?.isReported = true }
            case .gone, .allowed, .allGone: break
            }
        }
        var knownID: String?
        if case .live(let card) = state.activity.assumed.phase { knownID = card.id }
        if fault == .ignoresLateRemovals { sent = sent.map { $0.withoutRemoval(except: knownID) } }
        if fault == .ignoresNewTokens { ignoredCard = knownID ?? ignoredCard }
        if try stored.apply(sent, ignoringTokensOf: ignoredCard, at: now) { isDue = true }
    }
}

extension ActivityWorld.Report {
    /// Returns the report, without the cause if the user has removed another card than one.
    fileprivate func withoutRemoval(except id: String?) -> ActivityWorld.Report {
        guard case .gone(let removed, .user) = self, removed != id else { return self }
        return .gone(removed, .system)
    }
}

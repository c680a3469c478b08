// SPDX-License-Identifier: Apache-2.0

/// The times at which something is due.
extension ActivitySession {
    /// Returns the time after `now` at which to ask for actions again, unless an event comes first; nil for none.
    ///
    /// Times are in seconds since 1970. The time has passed if actions were not possible.
    func nextTime(after now: Int64) -> Int64? {
        let time = timeWithoutEnds(after: now)
        guard exceedsBudget else { return time }
        return min(time ?? .max, now + policy.endInterval)
    }

    /// Whether a card is not ended although nobody wants it, because its end exceeds the budget.
    private var exceedsBudget: Bool {
        if case .live(let card) = assumed.phase, wanted == nil, card.request == nil { return true }
        return assumed.superseded.contains { $0.request == nil }
    }

    private func timeWithoutEnds(after now: Int64) -> Int64? {
        switch assumed.phase {
        case .live(let card):
            guard let desired = wanted, card.request == nil || card.isSending(desired) else { return nil }
            let restart = card.successor == nil ? restartTime(ofCardFrom: card.startedAt, desired) : nil
            return min(updateTime(of: card, desired), restart ?? .max)
        case .unconfirmed(let start):
            let absence = assumed.absenceTime(of: start) ?? start.lookTime(after: now)
            let end = min(start.at + policy.longestLife, absence)
            if let channel = start.channel {
                // If only this phone has left the audience, the surface may be withdrawn meanwhile.
                let broadcast = broadcastTime(on: channel, of: start) ?? now + policy.staleAfter - policy.refreshLead
                return min(end, broadcast, restartTime(of: start) ?? .max)
            }
            guard let desired, desired.isUrgent, !assumed.isRemovedByUser, desired.generation > start.generation,
                desired.alertGeneration > alertedGeneration
            else { return end }
            return min(start.at + policy.tokenWait, end)
        case .none: return wanted == nil ? nil : assumed.lossTime(after: now)
        case .starting, .ending: return nil
        }
    }

    /// Returns whether a request sends the desired content to the card: nothing depends on its acceptance until
    /// ``nextTime(after:)``.
    func isUpdate(_ request: Int) -> Bool {
        guard case .live(let card) = assumed.phase, let desired = wanted else { return false }
        return card.request == request && card.isSending(desired)
    }

    /// The time from which nothing of the surface is on the phone, and a later session has higher timestamps, in
    /// seconds since 1970; nil while a card may be there.
    var goneAt: Int64? { assumed.goneAt.map { max($0, lastTimestamp + 1) } }

    /// The time of the next update: of new content after the interval, and of content that is shown or being sent
    /// before it is marked as outdated.
    func updateTime(of card: AssumedActivity.Card, _ desired: Desired) -> Int64 {
        guard card.lacks(desired), card.request == nil else {
            return card.sentAt + policy.staleAfter - policy.refreshLead
        }
        return card.sentAt + (desired.isUrgent ? policy.urgentInterval : policy.updateInterval)
    }

    /// The time at which a card is replaced, because the system will end it; nil if it cannot be.
    func restartTime(ofCardFrom startedAt: Int64, _ desired: Desired) -> Int64? {
        guard assumed.startToken != nil, assumed.isAllowed, desired.generation > heldStart?.generation ?? 0 else {
            return nil
        }
        return startedAt + policy.restartAfter
    }
}

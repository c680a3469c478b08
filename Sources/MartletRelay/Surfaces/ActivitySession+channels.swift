// SPDX-License-Identifier: Apache-2.0

extension ActivitySession {
    /// The time of the next broadcast; nil for none, as when only this phone has left the audience.
    func broadcastTime(on channel: SurfaceChannel, of start: AssumedActivity.Start) -> Int64? {
        guard let state = desired ?? withdrawal else { return nil }
        if let last = lastAge(of: state, on: channel, start) { return state.broadcastTime(after: last, to: start) }
        guard desired != nil, let broadcast, broadcast.channel == channel else { return 0 }
        return broadcast.sentAt + (state.isUrgent ? policy.urgentInterval : policy.updateInterval)
    }

    /// The age of a state at which it was broadcast last, as which the start of a card with the state counts, too; nil
    /// for none.
    func lastAge(of state: Desired, on channel: SurfaceChannel, _ start: AssumedActivity.Start) -> Int64? {
        if let broadcast, broadcast.channel == channel, broadcast.update.generation == state.generation {
            return broadcast.age
        }
        return start.generation == state.generation ? state.broadcastAge(at: start.at) : nil
    }

    /// The time at which a card on a channel is replaced; nil for a start of which no card was reported.
    func restartTime(of start: AssumedActivity.Start) -> Int64? {
        guard start.card != nil, let wanted else { return nil }
        return restartTime(ofCardFrom: start.at, wanted)
    }
}

/// The ages of a state at which it is broadcast, in seconds.
///
/// They follow from the change of the surface, so that the sessions of all cards on the channel agree on them.
extension ActivitySession.Desired {
    /// Returns the age of the newest broadcast to all cards on the channel at a time.
    func broadcastAge(at time: Int64) -> Int64 {
        let (policy, age) = (AssumedActivity.policy, time - changedAt)
        guard age >= policy.lateStart else { return 0 }
        return age - (age - policy.lateStart) % (policy.staleAfter - policy.refreshLead)
    }

    /// Returns the age of the newest broadcast that a card needs at a time.
    func broadcastAge(at time: Int64, to start: AssumedActivity.Start) -> Int64 {
        let late = lateAge(of: start).flatMap { changedAt + $0 <= time ? $0 : nil }
        return max(broadcastAge(at: time), late ?? 0)
    }

    /// Returns the time of the next broadcast that a card needs after the one of an age.
    func broadcastTime(after last: Int64, to start: AssumedActivity.Start) -> Int64 {
        let policy = AssumedActivity.policy
        let refresh = broadcastAge(at: changedAt + last) + policy.staleAfter - policy.refreshLead
        let next = last < policy.lateStart ? policy.lateStart : refresh
        guard let late = lateAge(of: start), late > last else { return changedAt + next }
        return changedAt + min(late, next)
    }

    /// The age at which a card that was started with an earlier state has joined the channel, and may have missed the
    /// broadcasts before; nil if it joined before the change.
    ///
    /// It is a multiple of an interval, so that one broadcast is for many cards.
    private func lateAge(of start: AssumedActivity.Start) -> Int64? {
        let policy = AssumedActivity.policy
        let (age, interval) = (start.at + policy.joinTime - changedAt, policy.updateInterval)
        guard start.generation < generation, age > 0 else { return nil }
        return (age + interval - 1) / interval * interval
    }
}

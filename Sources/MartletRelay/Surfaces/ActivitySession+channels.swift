// SPDX-License-Identifier: Apache-2.0

/// The times of the broadcasts that a card on a channel needs, which are the same for all cards of the surface on it.
extension ActivitySession {
    /// The time of the next broadcast; nil for none, as when only this phone has left the audience.
    func broadcastTime(on channel: SurfaceChannel, of start: AssumedActivity.Start) -> Int64? {
        guard let state = desired ?? withdrawal else { return nil }
        if let last = lastBroadcast(of: state, on: channel, start) {
            return state.changedAt + policy.lateStart + last * (policy.staleAfter - policy.refreshLead)
        }
        guard !state.isUrgent, desired != nil, let broadcast, broadcast.channel == channel else { return 0 }
        return broadcast.sentAt + policy.updateInterval
    }

    /// The number of the last broadcast of a state, with which a start counts that shows the state; nil for none.
    func lastBroadcast(of state: Desired, on channel: SurfaceChannel, _ start: AssumedActivity.Start) -> Int64? {
        if let broadcast, broadcast.channel == channel, broadcast.update.generation == state.generation {
            return broadcast.number
        }
        guard start.generation == state.generation else { return nil }
        return ActivitySession.broadcastNumber(of: state.changedAt, at: start.at)
    }

    /// Returns the number of the broadcast that is due at a time, of a state that was changed at another one.
    static func broadcastNumber(of changedAt: Int64, at time: Int64) -> Int64 {
        let (policy, age) = (AssumedActivity.policy, time - changedAt)
        return age < policy.lateStart ? 0 : 1 + (age - policy.lateStart) / (policy.staleAfter - policy.refreshLead)
    }

    /// The time at which a card on a channel is replaced; nil for a start of which no card was reported.
    func restartTime(of start: AssumedActivity.Start) -> Int64? {
        guard start.card != nil, let desired else { return nil }
        return restartTime(ofCardFrom: start.at, desired)
    }
}

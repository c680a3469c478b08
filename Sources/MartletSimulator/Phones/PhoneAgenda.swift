// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The actions that a phone will take by itself, in the order of their times, without I/O or a clock.
struct PhoneAgenda: Sendable {
    /// An action; one whose subject no longer exists has no effect.
    enum Action: Sendable {
        /// The phone takes a push that it delayed.
        case take(DeliveredPush)
        /// The system issues the update token of an activity.
        case issueToken(Int)
        /// The screen shows the newest content of an activity.
        case render(Int)
        /// The system ends an activity because of its age.
        case expire(Int)
        /// The card of an ended activity disappears.
        case remove(Int)
        /// The system may replace a token.
        case rotate(PhoneTokens.Purpose, DeviceToken)
    }

    /// The actions, the next one last.
    private var entries: [(time: Int64, action: Action)] = []

    /// The time of the next action in milliseconds since 1970; nil for none.
    var nextTime: Int64? { entries.last?.time }

    /// Adds an action after those of the same time.
    mutating func schedule(_ action: Action, at time: Int64) {
        let later = entries.firstIndex { $0.time <= time } ?? entries.endIndex
        entries.insert((time, action), at: later)
    }

    /// Removes and returns the next action that is due at a time; nil for none.
    mutating func next(by time: Int64) -> (time: Int64, action: Action)? {
        guard let next = entries.last, next.time <= time else { return nil }
        return entries.removeLast()
    }
}

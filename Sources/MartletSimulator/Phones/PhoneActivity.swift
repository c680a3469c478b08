// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// An activity on a phone with its card; times are in milliseconds since 1970.
struct PhoneActivity: Sendable {
    /// The number of the activity, unique on the phone.
    let number: Int
    let surface: String
    let startedAt: Int64
    let isStartedByPush: Bool
    /// Whether the system issues an update token, rather than a channel updating the activity.
    let usesToken: Bool
    /// The channel on which the activity listens; nil for none.
    let channel: ChannelID?
    /// Whether the system issues no token until the user allows Live Activities.
    var waitsForAllow: Bool
    /// Whether the app has run since the start, or since the user allowed the token, so that it observes the token.
    var isObserved = false
    /// Whether the activity has ended and its card is still visible.
    var hasEnded = false
    /// The state as the pushes determine it.
    private(set) var state: SimulatedDevice.Activity
    /// The value of `relevance-score`; the card with the highest one is first.
    private var relevance: Double
    /// The content on the screen.
    private(set) var shown: JSONValue
    private var renderedAt: Int64

    init(
        _ number: Int,
        _ state: SimulatedDevice.Activity,
        of surface: String,
        by push: DeliveredPush?,
        waitsForAllow: Bool,
        at now: Int64
    ) {
        self.number = number
        self.surface = surface
        self.state = state
        self.waitsForAllow = waitsForAllow
        startedAt = now
        isStartedByPush = push != nil
        usesToken = push?.startsWithToken ?? true
        channel = push?.startChannel
        relevance = push.map(PhoneActivity.score) ?? 0
        shown = state.content ?? .null
        renderedAt = now
    }

    /// The identifier of the activity.
    var id: String { "activity-\(number)" }

    /// Returns the card at a time by the phone's clock.
    func card(at phoneTime: Int64) -> SimulatedPhone.Card {
        let isStale = state.staleTime.map { Int64(millisecondsOf: $0) <= phoneTime } ?? false
        return SimulatedPhone.Card(
            id: id,
            surface: surface,
            state: hasEnded ? .ended : isStale ? .stale : .active,
            content: shown,
            startedAt: Date(millisecondsSince1970: startedAt),
            isStartedByPush: isStartedByPush
        )
    }

    /// Returns the report of the activity with its token, by a clock that is ahead by an offset.
    func report(token: DeviceToken?, clockOffset: Int64) -> SimulatedPhone.Report.Activity {
        SimulatedPhone.Report.Activity(
            id: id,
            surface: surface,
            startedAt: Date(millisecondsSince1970: startedAt + clockOffset),
            isStartedByPush: isStartedByPush,
            token: token
        )
    }

    /// Returns whether the activity is before another one on the screen: by relevance, then by age.
    func precedes(_ other: PhoneActivity) -> Bool {
        guard relevance == other.relevance else { return relevance > other.relevance }
        return number < other.number
    }

    /// Takes the state after a push, at a time by the phone's clock.
    mutating func apply(_ change: ActivityChange, of push: DeliveredPush, at phoneTime: Int64) {
        state = SimulatedDevice.Activity(change, of: push, after: state, at: phoneTime)
        relevance = PhoneActivity.score(of: push)
    }

    /// Puts the newest content on the screen, unless the last one has been there for less than an interval.
    ///
    /// - Returns: The time to render again; nil when the screen shows the newest content.
    mutating func render(after interval: Int64, at now: Int64) -> Int64? {
        let content = state.content ?? .null
        // Each update schedules a rendering, of which the first one shows the newest content.
        guard shown != content else { return nil }
        let due = renderedAt + interval
        guard hasEnded || now >= due else { return due }
        shown = content
        renderedAt = now
        return nil
    }

    private static func score(of push: DeliveredPush) -> Double {
        guard case .number(let score)? = push.payload?["aps"]?["relevance-score"] else { return 0 }
        return score.doubleValue
    }
}

extension [PhoneActivity] {
    /// Returns the numbers of the active activities that listen on a channel.
    func listeners(on channel: ChannelID) -> [Int] {
        filter { $0.channel == channel && !$0.hasEnded }.map(\.number)
    }
}

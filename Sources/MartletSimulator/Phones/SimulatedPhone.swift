// SPDX-License-Identifier: Apache-2.0

public import MartletCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// One app on one phone, with its Live Activities, widgets, controls and notifications, as iOS is known to treat
/// pushes.
///
/// The phone is a value without I/O and without a clock: each call passes the time, and the seed determines every
/// decision. It takes pushes and answers them as APNs does, reports tokens and activities as the app does, and counts
/// in ``account`` what a back end has achieved. ``Behavior`` lists the assumptions with their sources.
///
/// A surface is what a card is about, such as one order; the attributes of an activity identify it. An activity whose
/// start names a channel takes the broadcasts on it, whether or not the channel exists.
public struct SimulatedPhone: Sendable {
    private var system: PhoneSystem
    private var storedPushes = StoredPushes()
    private var judge = SurfaceJudge()

    /// Creates a phone without the app, which ``Event/install`` installs.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - permissions: The permissions that the user will have given; all by default.
    ///   - behavior: The behavior of the system and of the app.
    ///   - seed: The seed of all random decisions.
    ///   - date: The time.
    public init(
        app: App,
        permissions: Permissions = Permissions(),
        behavior: Behavior = Behavior(),
        seed: UInt64,
        at date: Date
    ) {
        let now = SimulatedPhone.time(of: date)
        system = PhoneSystem(app, permissions, behavior, SplitMix64(state: seed), at: now)
    }

    /// The time of the phone, which rises with each call.
    public var date: Date { Date(millisecondsSince1970: system.now) }
    /// The state of the app.
    public var appState: AppState { system.appState }
    /// Whether the phone is online.
    var isOnline: Bool { system.isOnline }
    /// The permissions of the app.
    public var permissions: Permissions { system.permissions }
    /// The result of all pushes and of the shown content.
    public var account: Account { system.account }
    /// The payloads of the notifications on the screen, newest last, 100 at most.
    public var notifications: [JSONValue] { system.notifications.pushes.compactMap(\.payload) }
    /// The cards on the screen: the one with the highest `relevance-score` first, and among equals the oldest.
    public var cards: [Card] {
        system.activities.sorted { $0.precedes($1) }.map { $0.card(at: system.phoneTime) }
    }

    /// The next time at which the phone changes by itself, or a report arrives; nil for none.
    ///
    /// It leaves out the stale dates of cards.
    public var nextDate: Date? {
        let times = [system.agenda.nextTime, system.reports.nextArrival, storedPushes.firstExpiry.map { $0 + 1 }]
        return times.compactMap(\.self).min().map { Date(millisecondsSince1970: max($0, system.now)) }
    }

    // MARK: Events

    /// Moves the time to a date, and does all that is due until then; an earlier date than ``date`` changes nothing.
    public mutating func advance(to date: Date) {
        run(until: max(system.now, SimulatedPhone.time(of: date)))
    }

    /// Handles an action of the user, the system or the app.
    ///
    /// - Parameters:
    ///   - event: The action.
    ///   - date: The time of the action, to which the phone advances first.
    public mutating func handle(_ event: Event, at date: Date) {
        advance(to: date)
        system.handle(event)
        if case .setOnline(true) = event {
            for push in storedPushes.removeAll() { system.take(push) }
        }
        run(until: system.now)
    }

    /// Takes a push as APNs does, and delivers it, or stores it while the phone is offline.
    ///
    /// - Parameters:
    ///   - payload: The payload.
    ///   - headers: The headers: of them push type, topic, priority, expiration and collapse identifier have an effect.
    ///   - token: The device token in the path.
    ///   - date: The time of the push, to which the phone advances first.
    /// - Returns: The answer of APNs, as far as it depends on the token.
    @discardableResult
    public mutating func receive(
        _ payload: [UInt8],
        headers: PushHeaders,
        to token: DeviceToken,
        at date: Date
    ) -> Answer {
        advance(to: date)
        let (answer, isValid) = system.tokens.answer(to: token, topic: headers.topic, of: system.app.topic)
        system.account.count(answer, isTokenValid: isValid)
        guard isValid else { return answer }
        let collapseID = system.behavior.limits.storesByCollapseID ? headers.collapseID ?? "" : ""
        let push = DeliveredPush(
            number: system.account.pushes,
            to: token,
            slot: "\(token.hex) \(collapseID)",
            headers: headers,
            payload: try? JSONReader.readPayload(payload),
            at: system.now
        )
        deliver(push)
        return answer
    }

    /// Takes a broadcast that APNs has accepted, and delivers it to the activities on its channel, or stores it while
    /// the phone is offline, unless its expiration is 0.
    ///
    /// A phone without an active activity on the channel does not count it: APNs keeps it, unless its expiration is 0,
    /// for an activity that starts on the channel before it expires.
    ///
    /// - Parameters:
    ///   - payload: The payload.
    ///   - headers: The headers: of them priority and expiration have an effect.
    ///   - channel: The channel.
    ///   - date: The time of the broadcast, to which the phone advances first.
    public mutating func receive(_ payload: [UInt8], headers: PushHeaders, on channel: ChannelID, at date: Date) {
        advance(to: date)
        let push = DeliveredPush(
            number: system.account.pushes + 1,
            to: nil,
            channel: channel,
            slot: channel.rawValue,
            headers: headers,
            payload: try? JSONReader.readPayload(payload),
            at: system.now
        )
        if push.expiration != 0 { system.storedBroadcasts[channel] = push }
        guard !system.activities.listeners(on: channel).isEmpty else { return }
        system.account.count(.accepted, isTokenValid: true)
        deliver(push)
    }

    /// Delivers a push that waits in the account, or stores it while the phone is offline.
    private mutating func deliver(_ push: DeliveredPush) {
        if system.isOnline {
            system.take(push)
        } else {
            for (_, event) in storedPushes.store(push, at: system.now) where event.kind != .storedDeviceOffline {
                system.account.lose()
            }
        }
        run(until: system.now)
    }

    /// States the content that a surface should show from a time on, for ``account``.
    ///
    /// - Parameters:
    ///   - surface: The identifier of the surface.
    ///   - content: The content of its card; nil when the surface should have no active card.
    ///   - date: The time of the change, to which the phone advances first.
    public mutating func expect(_ surface: String, _ content: JSONValue?, since date: Date) {
        advance(to: date)
        judge.expect(surface, content, since: SimulatedPhone.time(of: date))
        observe()
    }

    /// Removes the reports that have arrived at the back end, and returns them in the order of their arrival.
    public mutating func takeReports() -> [Report] { system.reports.takeArrived(at: system.now) }

    /// Returns the answer of APNs to a push to a token, as far as it depends on the token, without counting a push.
    func answer(to token: DeviceToken, topic: String?) -> Answer {
        system.tokens.answer(to: token, topic: topic, of: system.app.topic).answer
    }

    // MARK: Time

    /// Returns a date in milliseconds since 1970, from 1970 to 9999.
    private static func time(of date: Date) -> Int64 { min(max(date.millisecondsSince1970, 0), 253_402_300_799_000) }

    private mutating func run(until end: Int64) {
        while system.performNext(by: end) { observe() }
        system.now = end
        for _ in storedPushes.removeExpired(at: end) { system.account.lose() }
        observe()
    }

    /// Judges what the screen has shown up to now.
    private mutating func observe() {
        judge.judge(
            system.activities.filter { !$0.hasEnded },
            isReachable: system.isOnline && system.appState != .absent && system.permissions.liveActivities,
            at: system.now,
            &system.account
        )
    }
}

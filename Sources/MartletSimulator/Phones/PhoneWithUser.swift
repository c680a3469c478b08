// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A simulated phone with its user, without I/O or a clock; times are in milliseconds since 1970.
struct PhoneWithUser: Sendable {
    private(set) var phone: SimulatedPhone
    private var user: PhoneUser
    /// The surfaces whose card the user has swiped away, and that have not ended since.
    private var dismissed: Set<String> = []

    init(_ phone: SimulatedPhone, _ user: PhoneUser) {
        self.phone = phone
        self.user = user
    }

    /// The settings that the user does not change.
    var fixedSettings: [PhoneSetting: Bool] { user.fixed }

    /// The next time at which the phone changes by itself, its user uses it, or a report arrives.
    var nextTime: Int64 { min(user.nextTime, phone.nextDate?.millisecondsSince1970 ?? .max) }

    /// Moves the time forward, and does all that is due until then.
    mutating func advance(to now: Int64) {
        while user.nextTime <= now {
            // After the machine was suspended, making up for all uses would occupy the event loop for long.
            let time = max(user.nextTime, now - PhoneUser.longestPause)
            phone.advance(to: Date(millisecondsSince1970: time))
            for event in user.use(phone, at: time) { handle(event, at: time) }
        }
        phone.advance(to: Date(millisecondsSince1970: now))
    }

    /// Handles an action of the user; the surface of a card that is swiped away should have none from then on.
    mutating func handle(_ event: SimulatedPhone.Event, at now: Int64) {
        let card: SimulatedPhone.Card? =
            if case .swipe(let id) = event { phone.cards.first { $0.id == id && $0.state != .ended } } else { nil }
        phone.handle(event, at: Date(millisecondsSince1970: now))
        guard let card else { return }
        expect(card.surface, nil, at: now)
        dismissed.insert(card.surface)
    }

    /// Fixes settings of the phone, or leaves those that are nil to its user again.
    mutating func fix(_ settings: [PhoneSetting: Bool?], at now: Int64) {
        advance(to: now)
        for event in user.fix(settings, on: phone) { handle(event, at: now) }
    }

    /// Takes a push if the phone determined its answer, and not a fault or a rule about the request.
    mutating func receive(_ push: ReceivedPush, to token: DeviceToken, at now: Int64) {
        guard phone.answer(to: token, topic: push.headers.topic).status == push.status else { return }
        phone.receive(push.payload, headers: push.headers, to: token, at: Date(millisecondsSince1970: now))
    }

    /// Takes a broadcast that APNs has accepted.
    mutating func receive(_ push: ReceivedPush, on channel: ChannelID, at now: Int64) {
        phone.receive(push.payload, headers: push.headers, on: channel, at: Date(millisecondsSince1970: now))
    }

    /// States the content that a surface should show; nil for its end.
    ///
    /// A card that the user has swiped away should not appear again until the surface has ended.
    mutating func expect(_ surface: String, _ content: JSONValue?, at now: Int64) {
        if content == nil { dismissed.remove(surface) }
        guard !dismissed.contains(surface) else { return }
        phone.expect(surface, content, since: Date(millisecondsSince1970: now))
    }

    /// Removes the reports that have arrived, and returns them in the order of their arrival.
    mutating func takeReports() -> [SimulatedPhone.Report] { phone.takeReports() }
}

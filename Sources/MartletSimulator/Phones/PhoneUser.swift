// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// A setting of a simulated phone, which is the user's decision unless it is fixed.
enum PhoneSetting: String, Sendable, CaseIterable {
    /// Whether the phone is online.
    case online
    /// Whether the user allows notifications.
    case alerts
    /// Whether the user allows Live Activities.
    case liveActivities = "live-activities"
}

/// The user of a simulated phone, who decides when to use it and what to do, without I/O or a clock; times are in
/// milliseconds since 1970.
///
/// The pauses and the probabilities are assumptions.
struct PhoneUser: Sendable {
    /// The maximum time between two uses.
    static let longestPause: Int64 = 240_000

    /// The time of the next use.
    private(set) var nextTime: Int64
    /// The settings that the user does not change.
    private(set) var fixed: [PhoneSetting: Bool] = [:]
    private var isLowPower = false
    private var generator: SplitMix64

    /// Creates a user who installs and opens the app at a time.
    init(seed: UInt64, firstUse: Int64) {
        generator = SplitMix64(state: seed)
        nextTime = firstUse
    }

    /// Returns the actions of the use that is due, and decides when the next one is.
    mutating func use(_ phone: SimulatedPhone, at now: Int64) -> [SimulatedPhone.Event] {
        nextTime = now + Int64.random(in: 1...PhoneUser.longestPause, using: &generator)
        guard phone.isOnline else { return fixed[.online] == false ? [] : [.setOnline(true)] }
        guard phone.appState != .absent else { return [.install, .launch, .leave] }
        // A user who has turned Live Activities off turns them on again.
        let usual = permissions(exceptFixed: SimulatedPhone.Permissions())
        guard phone.permissions == usual else { return [.setPermissions(usual), .launch, .leave] }
        return events(on: phone)
    }

    /// Fixes settings, or leaves those that are nil to the user again; returns the actions that change the phone.
    mutating func fix(_ settings: [PhoneSetting: Bool?], on phone: SimulatedPhone) -> [SimulatedPhone.Event] {
        for (setting, value) in settings { fixed[setting] = value }
        return [
            .setPermissions(permissions(exceptFixed: phone.permissions)),
            .setOnline(fixed[.online] ?? phone.isOnline),
        ]
    }

    /// Returns the permissions that the user gives, in which the fixed ones replace those of the user's choice.
    private func permissions(exceptFixed chosen: SimulatedPhone.Permissions) -> SimulatedPhone.Permissions {
        var permissions = chosen
        if let alerts = fixed[.alerts] { permissions.alerts = alerts }
        if let liveActivities = fixed[.liveActivities] { permissions.liveActivities = liveActivities }
        return permissions
    }

    private mutating func events(on phone: SimulatedPhone) -> [SimulatedPhone.Event] {
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<40: return [.allow]
        case 40..<70: return [.allow, .launch, .leave]
        case 70..<78: return [.terminate]
        case 78..<86: return [.setOnline(fixed[.online] ?? false)]
        case 86..<91:
            guard let card = phone.cards.randomElement(using: &generator) else { return [] }
            return [.swipe(card.id)]
        case 91..<94: return [.forceQuit]
        case 94..<96:
            isLowPower.toggle()
            return [.setLowPower(isLowPower)]
        case 96..<98:
            return [.setPermissions(permissions(exceptFixed: SimulatedPhone.Permissions(liveActivities: false)))]
        case 98: return [.updateSystem]
        default: return [.delete]
        }
    }
}

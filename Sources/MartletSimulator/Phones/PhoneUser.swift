// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The user of a simulated phone, who decides when to use it and what to do, without I/O or a clock; times are in
/// milliseconds since 1970.
///
/// The pauses and the probabilities are assumptions.
struct PhoneUser: Sendable {
    /// The maximum time between two uses.
    static let longestPause: Int64 = 240_000

    /// The time of the next use.
    private(set) var nextTime: Int64
    /// Whether the phone is online.
    private(set) var isOnline = true
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
        guard phone.appState != .absent else { return [.install, .launch, .leave] }
        guard isOnline else {
            isOnline = true
            return [.setOnline(true)]
        }
        // A user who has turned Live Activities off turns them on again.
        guard phone.permissions == SimulatedPhone.Permissions() else {
            return [.setPermissions(SimulatedPhone.Permissions()), .launch, .leave]
        }
        return events(on: phone)
    }

    private mutating func events(on phone: SimulatedPhone) -> [SimulatedPhone.Event] {
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<40: return [.allow]
        case 40..<70: return [.allow, .launch, .leave]
        case 70..<78: return [.terminate]
        case 78..<86:
            isOnline = false
            return [.setOnline(false)]
        case 86..<91:
            guard let card = phone.cards.randomElement(using: &generator) else { return [] }
            return [.swipe(card.id)]
        case 91..<94: return [.forceQuit]
        case 94..<96:
            isLowPower.toggle()
            return [.setLowPower(isLowPower)]
        case 96..<98: return [.setPermissions(SimulatedPhone.Permissions(liveActivities: false))]
        case 98: return [.updateSystem]
        default: return [.delete]
        }
    }
}

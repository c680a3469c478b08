// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The tokens that a phone has had for its app, also those that are no longer valid, without I/O or a clock; times are
/// in milliseconds since 1970.
struct PhoneTokens: Sendable {
    /// The use of a token.
    enum Purpose: Sendable, Hashable {
        /// Alerts and background pushes.
        case device
        /// Starts of Live Activities.
        case start
        /// Updates of the activity with a number.
        case activity(Int)
        /// Reloads of all widgets.
        case widgets
        /// Reloads of the control of a kind.
        case control(String)

        /// Returns the topic of pushes to the token, for the app's bundle identifier.
        func topic(of app: Topic) -> Topic {
            switch self {
            case .device: app
            case .start, .activity: app.qualified(for: .liveActivity)
            case .widgets: app.qualified(for: .widgets)
            case .control: app.qualified(for: .controls)
            }
        }
    }

    private struct Issued {
        let purpose: Purpose
        /// The time at which the token ended; nil while it is valid.
        var endedAt: Int64?
        /// Whether APNs refuses pushes to the token, which has ended.
        var isRefused = false
    }

    /// The push-to-start token as the app sees it.
    var visibleStart = VisibleStartToken()
    /// All tokens by their digits in lower case.
    private var issued: [String: Issued] = [:]
    private var valid: [Purpose: DeviceToken] = [:]

    /// Returns the valid token for a purpose; nil when there is none.
    subscript(purpose: Purpose) -> DeviceToken? { valid[purpose] }

    /// Returns the purpose of a valid token in lower case; nil for another one.
    func purpose(of token: String) -> Purpose? {
        issued[token].flatMap { $0.endedAt == nil ? $0.purpose : nil }
    }

    /// Returns the answer of APNs to a push to a token, and whether the token is valid.
    func answer(
        to token: DeviceToken,
        topic: String?,
        of app: Topic
    ) -> (answer: SimulatedPhone.Answer, isValid: Bool) {
        guard let entry = issued[token.hex] else { return (.refused(.badDeviceToken), false) }
        if let endedAt = entry.endedAt, entry.isRefused {
            return (.unregistered(since: Date(millisecondsSince1970: endedAt)), false)
        }
        guard let topic else { return (.refused(.missingTopic), false) }
        guard topic == entry.purpose.topic(of: app).rawValue else { return (.refused(.deviceTokenNotForTopic), false) }
        return (.accepted, entry.endedAt == nil)
    }

    /// Issues a token for a purpose; the earlier one ends.
    ///
    /// - Parameters:
    ///   - purpose: The purpose.
    ///   - refusesEarlier: Whether APNs refuses pushes to the earlier token.
    ///   - now: The time.
    ///   - generator: The generator of the token.
    /// - Returns: The token.
    mutating func issue(
        _ purpose: Purpose,
        refusesEarlier: Bool,
        at now: Int64,
        using generator: inout some RandomNumberGenerator
    ) -> DeviceToken? {
        guard let token = try? DeviceToken.random(using: &generator) else { return nil }
        end(purpose, isRefused: refusesEarlier, at: now)
        issued[token.hex] = Issued(purpose: purpose)
        valid[purpose] = token
        return token
    }

    /// Lets the app read the push-to-start token, unless the system does not show it.
    mutating func readStartToken() {
        guard !visibleStart.isFrozen, let token = valid[.start] else { return }
        visibleStart.token = token
    }

    /// Ends the token for a purpose, if there is one.
    mutating func end(_ purpose: Purpose, isRefused: Bool, at now: Int64) {
        guard let token = valid.removeValue(forKey: purpose) else { return }
        issued[token.hex]?.endedAt = now
        issued[token.hex]?.isRefused = isRefused
    }

    /// Ends all tokens.
    mutating func endAll(areRefused: Bool, at now: Int64) {
        for purpose in Array(valid.keys) { end(purpose, isRefused: areRefused, at: now) }
    }
}

/// The push-to-start token as the app sees it.
struct VisibleStartToken: Sendable {
    /// The token that the app has read; nil for none.
    var token: DeviceToken?
    /// Whether the system never issues a token.
    var isMissing = false
    /// Whether the app reads a new token only at its launch.
    var isStreamSilent = false
    /// Whether the app reads no new token until the user turns Live Activities off and on.
    var isFrozen = false
}

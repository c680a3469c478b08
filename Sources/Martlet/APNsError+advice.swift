// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

extension APNsError {
    /// The ways to treat a push that was not accepted, and its device token.
    public enum Advice: String, Sendable, Hashable, CaseIterable {
        /// Send the push again later, after ``APNsError/retryAfter`` if the server named a time; it was not delivered.
        case sendLater
        /// The push may have been delivered: send it again unless a second one would do harm.
        case mayHaveArrived
        /// Delete the device token, unless the app has registered it again since ``APNsError/unregisteredAt``.
        case forgetToken
        /// Correct the push, which is refused each time: its payload, topic, or the environment of its device token.
        case correctPush
        /// Correct keys, certificates or settings, and keep the push: it is accepted afterwards.
        case correctConfiguration
    }

    /// The way to treat the push and its device token, for any error.
    ///
    /// Automatic retries, if they are on, have been made already; see ``RetryPolicy``. They follow
    /// `APNsReason.advice`, which is about one answer. Source: "Handling notification responses from
    /// APNs" for the statuses and reasons.
    public var advice: Advice {
        switch code {
        case .invalid: .correctPush
        case .badCredentials: .correctConfiguration
        default:
            switch outcome {
            case .answered: adviceForAnswer
            case .neverSent, .unprocessed: later
            case .unknown: .mayHaveArrived
            }
        }
    }

    private var adviceForAnswer: Advice {
        let status = status ?? 0
        if status == 410 { return .forgetToken }
        // Reasons such as a provider token that has expired can be answered with any status.
        let isTemporary = reason.map { $0.advice != .fixFirst } ?? false
        if status == 429 || status >= 500 || retryAfter != nil || isTemporary { return later }
        return status == 403 ? .correctConfiguration : .correctPush
    }

    /// The advice to send again later, unless an earlier attempt may have been delivered.
    private var later: Advice { unknownTries > 0 ? .mayHaveArrived : .sendLater }
}

// SPDX-License-Identifier: Apache-2.0

/// The reason for which APNs refused a request: the text of `reason` in its response.
///
/// Unknown reasons are preserved, because Apple adds reasons without notice. ``APNsReason/all`` lists the known ones.
/// Source: "Handling notification responses from APNs" and "Handling error responses from APNs".
public struct APNsReason: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The text as APNs sends it.
    public let rawValue: String

    /// Creates a reason from its text, known or unknown.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The text.
    public var description: String { rawValue }
}

extension APNsReason {
    /// The action a sender can take after a refusal.
    public enum Advice: String, Sendable, Hashable {
        /// Fix the cause first: the same request would be refused again.
        case fixFirst
        /// Retry later, with a longer delay after each attempt.
        case backOff
        /// Retry with a new provider token, preferably on a new connection.
        case renewToken
        /// Retry on a new connection.
        case reconnect
    }

    /// The kinds of requests that a reason can answer.
    public struct Scope: OptionSet, Sendable, Hashable {
        /// The bits of the set.
        public let rawValue: Int

        /// Creates a set from its bits.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// Pushes to a device.
        public static let device = Scope(rawValue: 1)
        /// Broadcasts to a channel.
        public static let broadcast = Scope(rawValue: 2)
        /// Channel management.
        public static let channel = Scope(rawValue: 4)
    }

    /// The HTTP status that accompanies the reason; nil for unknown reasons.
    public var status: Int? { facts?.status }

    /// The recommended action; ``Advice/fixFirst`` for unknown reasons.
    public var advice: Advice { facts?.advice ?? .fixFirst }

    /// The kinds of requests that the reason can answer; empty for unknown reasons.
    public var scope: Scope { facts?.scope ?? [] }

    /// Whether the device token is no longer valid.
    ///
    /// For ``badDeviceToken``, first make sure that the request was sent to the environment that the token belongs to.
    public var endsDeviceToken: Bool { facts?.endsDeviceToken ?? false }

    /// Whether APNs reports that the device token is no longer registered for the topic (status 410).
    ///
    /// "Handling notification responses from APNs" says to stop sending to the token, unless the app has registered it
    /// again since the time in the response.
    public var isTokenUnregistered: Bool { facts?.status == 410 }

    /// The explanation in plain words; nil for unknown reasons.
    public var explanation: String? { facts?.explanation }

    private var facts: Facts? { APNsReason.facts(of: rawValue) }

    /// The facts about a known reason.
    struct Facts {
        let status: Int
        let scope: Scope
        let advice: Advice
        let endsDeviceToken: Bool
        private(set) var explanation = ""

        init(_ status: Int, _ scope: Scope, advice: Advice = .fixFirst, endsDeviceToken: Bool = false) {
            self.status = status
            self.scope = scope
            self.advice = advice
            self.endsDeviceToken = endsDeviceToken
        }

        /// Returns the facts with an explanation.
        func meaning(_ explanation: String) -> Facts {
            var facts = self
            facts.explanation = explanation
            return facts
        }
    }
}

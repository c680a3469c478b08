/// Why APNs refused a request: the text of `reason` in its answer.
///
/// Unknown reasons survive, as Apple adds some without notice. What is known of one stands in ``Reason/all``.
/// Source: "Handling notification responses from APNs" and "Handling error responses from APNs".
public struct Reason: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The text as it travels.
    public let rawValue: String

    /// The reason of this text, known or not.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The text.
    public var description: String { rawValue }
}

extension Reason {
    /// What a sender can do about a refusal.
    public enum Advice: String, Sendable, Hashable {
        /// Mend the cause first: the same request will be refused again.
        case mendFirst
        /// Try again later, waiting longer each time.
        case backOff
        /// Try again with a fresh provider token, best on a new connection.
        case renewToken
        /// Try again on a new connection.
        case reconnect
    }

    /// Which requests a reason can answer.
    public struct Scope: OptionSet, Sendable, Hashable {
        /// The bits of the set.
        public let rawValue: Int

        /// A set of these bits.
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

    /// The HTTP status that comes with it; nil for unknown reasons.
    public var status: Int? { facts?.status }

    /// What to do about it; ``Advice/mendFirst`` for unknown reasons.
    public var advice: Advice { facts?.advice ?? .mendFirst }

    /// Which requests it can answer; empty for unknown reasons.
    public var scope: Scope { facts?.scope ?? [] }

    /// Whether the device token is dead.
    ///
    /// With ``badDeviceToken`` make sure first that the request went to the
    /// environment that the token belongs to.
    public var endsDeviceToken: Bool { facts?.endsDeviceToken ?? false }

    /// What it means, for people; nil for unknown reasons.
    public var explanation: String? { facts?.explanation }

    private var facts: Facts? { Reason.facts(of: rawValue) }

    /// What is known of one reason.
    struct Facts {
        var status: Int
        var scope: Scope
        var advice: Advice = .mendFirst
        var endsDeviceToken = false
        var explanation: String
    }
}

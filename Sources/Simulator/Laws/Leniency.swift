/// Laws of APNs that a simulator may let rest; by default it keeps them all.
public struct Leniency: OptionSet, Sendable, Hashable {
    /// The set as bits.
    public let rawValue: Int

    /// A set from its bits.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Takes provider tokens that change more often than every 20 minutes on one connection.
    public static let frequentTokens = Leniency(rawValue: 1)
    /// Takes tokens of any team and key on one connection.
    public static let mixedKeys = Leniency(rawValue: 2)
    /// Leaves a connection all its streams when a push on it is refused.
    public static let fullSpeedAfterRefusals = Leniency(rawValue: 4)
    /// Takes push types in capital letters.
    public static let pushTypeCase = Leniency(rawValue: 8)
    /// Takes background pushes with priority 10.
    public static let hurriedBackground = Leniency(rawValue: 16)
    /// Lets every law rest that can.
    public static let all = Leniency(rawValue: 31)

    /// Each law by the name it goes by on a command line.
    public static let names: [(name: String, leniency: Leniency)] = [
        ("frequent-tokens", .frequentTokens), ("mixed-keys", .mixedKeys),
        ("full-speed-after-refusals", .fullSpeedAfterRefusals), ("push-type-case", .pushTypeCase),
        ("hurried-background", .hurriedBackground), ("all", .all),
    ]
}

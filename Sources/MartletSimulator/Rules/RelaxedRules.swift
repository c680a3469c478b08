// SPDX-License-Identifier: Apache-2.0

/// Rules of APNs that a simulator can relax; by default it enforces all of them.
public struct RelaxedRules: OptionSet, Sendable, Hashable {
    /// The options as bits.
    public let rawValue: Int

    /// Creates a set from its bits.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Accepts provider tokens that change more often than every 20 minutes on one connection.
    public static let frequentTokens = RelaxedRules(rawValue: 1)
    /// Accepts tokens of any team and key on one connection.
    public static let mixedKeys = RelaxedRules(rawValue: 2)
    /// Keeps the number of streams of a connection when a push on it is refused.
    public static let fullSpeedAfterRefusals = RelaxedRules(rawValue: 4)
    /// Accepts push types with capital letters.
    public static let pushTypeCase = RelaxedRules(rawValue: 8)
    /// Accepts background pushes with priority 10.
    public static let highPriorityBackground = RelaxedRules(rawValue: 16)
    /// Relaxes every rule that can be relaxed.
    public static let all = RelaxedRules(rawValue: 31)

    /// The options with their names on the command line.
    public static let names: [(name: String, rules: RelaxedRules)] = [
        ("frequent-tokens", .frequentTokens), ("mixed-keys", .mixedKeys),
        ("full-speed-after-refusals", .fullSpeedAfterRefusals), ("push-type-case", .pushTypeCase),
        ("high-priority-background", .highPriorityBackground), ("all", .all),
    ]
}

/// How much a notification may disturb.
///
/// Source: "Generating a remote notification" and `UNNotificationInterruptionLevel`.
public struct InterruptionLevel: RawRepresentable, Sendable, Hashable {
    /// The text as it travels.
    public let rawValue: String

    /// The level of this text, known or not.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Into the list only, without light or sound.
    public static let passive = InterruptionLevel(rawValue: "passive")
    /// Lights the screen and may sound; the default.
    public static let active = InterruptionLevel(rawValue: "active")
    /// At once, also through a Focus that allows it; the app needs the capability.
    public static let timeSensitive = InterruptionLevel(rawValue: "time-sensitive")
    /// At once and past the mute switch; the app needs Apple's approval.
    public static let critical = InterruptionLevel(rawValue: "critical")

    /// Every known level.
    public static let all: [InterruptionLevel] = [.passive, .active, .timeSensitive, .critical]
}

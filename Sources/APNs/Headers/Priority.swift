/// How soon a push should arrive, `apns-priority`.
///
/// Source: "Sending notification requests to APNs".
public struct Priority: RawRepresentable, Sendable, Hashable {
    /// The number as it travels.
    public let rawValue: Int

    /// The priority of this number, known or not.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// At once; 10, the default of APNs.
    public static let immediate = Priority(rawValue: 10)
    /// When the device's power allows, perhaps together with others; 5.
    public static let powerAware = Priority(rawValue: 5)
    /// Only when it costs no power: the device is never woken for it; 1.
    public static let powerFirst = Priority(rawValue: 1)

    /// Every known priority.
    public static let all: [Priority] = [.immediate, .powerAware, .powerFirst]
}

/// The six kinds of surfaces, named as in JSON.
public enum SurfaceKind: String, Sendable, Hashable, CaseIterable, Codable {
    /// A Live Activity on the Lock Screen and in the Dynamic Island.
    case liveActivity
    /// A widget on the Home Screen.
    case widget
    /// A control in Control Center, on the Lock Screen or the Action button.
    case control
    /// An accessory on the Lock Screen.
    case lockAccessory
    /// A view in StandBy.
    case standBy = "standby"
    /// A notification.
    case notification
}

/// Where what a surface shows stands.
public enum SurfaceState: String, Sendable, Hashable, CaseIterable, Codable {
    /// It has not begun.
    case queued
    /// It is under way.
    case active
    /// It is held up for now.
    case paused
    /// It needs the person.
    case attention
    /// It should not disturb now.
    case badTiming = "bad_timing"
    /// It is over.
    case completed
}

/// The type of a push, `apns-push-type`, which determines how the device handles it.
///
/// Unknown types are preserved, because Apple adds types over time. Source: "Sending notification requests to APNs".
public struct PushType: RawRepresentable, Sendable, Hashable, Codable {
    /// The text as it is sent.
    public let rawValue: String

    /// Creates a push type from its text, known or unknown.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Delivers an accessory's response to a forwarded notification (iOS 26.5).
    public static let accessory = PushType(rawValue: "accessory")
    /// Shows an alert, plays a sound or sets the badge.
    public static let alert = PushType(rawValue: "alert")
    /// Wakes the app without notifying the user.
    public static let background = PushType(rawValue: "background")
    /// Updates a watch face's complication.
    public static let complication = PushType(rawValue: "complication")
    /// Reloads a control.
    public static let controls = PushType(rawValue: "controls")
    /// Signals a change to a File Provider extension.
    public static let fileProvider = PushType(rawValue: "fileprovider")
    /// Starts, updates or ends a Live Activity.
    public static let liveActivity = PushType(rawValue: "liveactivity")
    /// Asks for the device's location.
    public static let location = PushType(rawValue: "location")
    /// Makes a managed device contact its server.
    public static let mdm = PushType(rawValue: "mdm")
    /// Announces activity in a Push to Talk channel.
    public static let pushToTalk = PushType(rawValue: "pushtotalk")
    /// Announces an incoming call.
    public static let voip = PushType(rawValue: "voip")
    /// Reloads widgets.
    public static let widgets = PushType(rawValue: "widgets")

    /// All known types.
    public static let all: [PushType] = [
        .accessory, .alert, .background, .complication, .controls, .fileProvider, .liveActivity, .location, .mdm,
        .pushToTalk, .voip, .widgets,
    ]

    /// The suffix that the topic has after the bundle identifier; empty for none.
    public var topicSuffix: String {
        switch self {
        // First, because nearly every push has one of these types.
        case .alert, .background: ""
        case .accessory: ".push-type.accessory"
        case .complication: ".complication"
        case .controls: ".push-type.controls"
        case .fileProvider: ".pushkit.fileprovider"
        case .liveActivity: ".push-type.liveactivity"
        case .location: ".location-query"
        case .pushToTalk: ".voip-ptt"
        case .voip: ".voip"
        case .widgets: ".push-type.widgets"
        default: ""
        }
    }

    /// The maximum number of bytes in a payload of this type.
    public var payloadByteLimit: Int {
        self == .voip ? PushLimits.voipPayloadByteCount : PushLimits.payloadByteCount
    }
}

/// The push types that Apple documents: the only place that lists them and their properties.
///
/// The client, the rules, the simulator with its pages, the relay and the command read this table.
/// Sources: "Sending notification requests to APNs", and "Responding to forwarded notifications" for `accessory`.
extension PushType {
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

    /// The descriptors of all known types: first the two of nearly every push, because lookups are linear.
    public static let descriptors: [Descriptor] = [
        Descriptor(.alert, topicSuffix: "", content: .aps),
        // Priority 10 is an error for a push without alert, sound and badge.
        Descriptor(.background, topicSuffix: "", allowedPriorities: [.powerAware, .powerFirst], content: .requiredAPS),
        Descriptor(.accessory, topicSuffix: ".push-type.accessory", content: .requiredAPS),
        Descriptor(.complication, topicSuffix: ".complication", isSuffixAmbiguous: true, content: .besideAPS),
        Descriptor(
            .controls,
            topicSuffix: ".push-type.controls",
            identifyingKeys: ["content-changed"],
            content: .requiredAPS
        ),
        Descriptor(.fileProvider, topicSuffix: ".pushkit.fileprovider", content: .besideAPS),
        Descriptor(
            .liveActivity,
            topicSuffix: ".push-type.liveactivity",
            identifyingKeys: [
                "event", "content-state", "attributes-type", "attributes", "dismissal-date", "input-push-token",
                "input-push-channel",
            ],
            content: .requiredAPS
        ),
        Descriptor(.location, topicSuffix: ".location-query", content: .besideAPS),
        // The topic is that of an MDM push certificate, which has a prefix instead of a suffix.
        Descriptor(.mdm, topicSuffix: "", content: .besideAPS),
        // A late event of a conversation is useless, so the default is a single attempt.
        Descriptor(
            .pushToTalk,
            topicSuffix: ".voip-ptt",
            defaultExpiration: .attemptOnce,
            identifyingKeys: ["ptt-push-type"],
            content: .besideAPS
        ),
        // A late call is useless as well.
        Descriptor(
            .voip,
            topicSuffix: ".voip",
            isSuffixAmbiguous: true,
            payloadByteLimit: 5_120,
            defaultExpiration: .attemptOnce,
            content: .besideAPS
        ),
        Descriptor(
            .widgets,
            topicSuffix: ".push-type.widgets",
            identifyingKeys: ["content-changed"],
            content: .requiredAPS
        ),
    ]
}

// SPDX-License-Identifier: Apache-2.0

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
        Descriptor(type: .alert, topicSuffix: "", contentPlace: .aps),
        // Priority 10 is an error for a push without alert, sound and badge.
        Descriptor(
            type: .background,
            topicSuffix: "",
            allowedPriorities: [.powerAware, .powerFirst],
            contentPlace: .requiredAPS
        ),
        Descriptor(type: .accessory, topicSuffix: ".push-type.accessory", contentPlace: .requiredAPS),
        Descriptor(
            type: .complication,
            topicSuffix: ".complication",
            isSuffixAmbiguous: true,
            contentPlace: .besideAPS
        ),
        Descriptor(
            type: .controls,
            topicSuffix: ".push-type.controls",
            identifyingKeys: ["content-changed"],
            contentPlace: .requiredAPS
        ),
        Descriptor(type: .fileProvider, topicSuffix: ".pushkit.fileprovider", contentPlace: .besideAPS),
        Descriptor(
            type: .liveActivity,
            topicSuffix: ".push-type.liveactivity",
            identifyingKeys: [
                "event", "content-state", "attributes-type", "attributes", "dismissal-date", "input-push-token",
                "input-push-channel",
            ],
            contentPlace: .requiredAPS
        ),
        Descriptor(type: .location, topicSuffix: ".location-query", contentPlace: .besideAPS),
        // The topic is that of an MDM push certificate, which has a prefix instead of a suffix.
        Descriptor(type: .mdm, topicSuffix: "", contentPlace: .besideAPS),
        // A late event of a conversation is useless, so the default is a single attempt.
        Descriptor(
            type: .pushToTalk,
            topicSuffix: ".voip-ptt",
            defaultExpiration: .attemptOnce,
            identifyingKeys: ["ptt-push-type"],
            contentPlace: .besideAPS
        ),
        // A late call is useless as well.
        Descriptor(
            type: .voip,
            topicSuffix: ".voip",
            isSuffixAmbiguous: true,
            payloadByteLimit: 5_120,
            defaultExpiration: .attemptOnce,
            contentPlace: .besideAPS
        ),
        Descriptor(
            type: .widgets,
            topicSuffix: ".push-type.widgets",
            identifyingKeys: ["content-changed"],
            contentPlace: .requiredAPS
        ),
    ]
}

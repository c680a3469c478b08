// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCommands

/// The options for the notification to send.
struct NotificationOptions: Sendable {
    fileprivate var content: Content
    var headers: Headers
    fileprivate var payload: InputFile?
    /// Whether pushes that APNs would refuse are sent, including a payload that is not JSON.
    private(set) var isUnchecked: Bool

    static let declared = Group(
        Content.declared,
        Headers.declared,
        Option<InputFile?>("--payload", "Complete payload: a JSON file, JSON text, or - for standard input"),
        Flag("--unchecked", "Send without checking, even if APNs would refuse the push")
    ) { NotificationOptions(content: $0, headers: $1, payload: $2, isUnchecked: $3) }

    /// The options for the content of a notification without `--payload`.
    struct Content: Sendable {
        var title: String?
        var subtitle: String?
        var body: String?
        var badge: NonnegativeNumber?
        var sound: String?
        var threadID: String?
        var category: String?
        var interruptionLevel: PushNotification.InterruptionLevel?
        var custom: PushNotification.CustomData?
        var isBackground: Bool

        static let declared = Group(
            Option<String?>("--title", "Title of the alert"),
            Option<String?>("--subtitle", "Line below the title"),
            Option<String?>("--body", "Text of the alert"),
            Option<NonnegativeNumber?>("--badge", "Number on the app's icon; 0 removes it"),
            Option<String?>("--sound", "Name of a sound file; default for the system sound"),
            Option<String?>("--thread-id", "Identifier that groups notifications"),
            Option<String?>("--category", "Notification category, which selects the actions"),
            Option<PushNotification.InterruptionLevel?>("--interruption-level", "Importance of the alert"),
            Option<PushNotification.CustomData?>("--custom", "Custom keys of the payload outside aps, a JSON object"),
            Flag("--background", "Wake the app silently instead of showing an alert")
        ) {
            Content(
                title: $0,
                subtitle: $1,
                body: $2,
                badge: $3,
                sound: $4,
                threadID: $5,
                category: $6,
                interruptionLevel: $7,
                custom: $8,
                isBackground: $9
            )
        }

        /// Whether an option for alerts was given.
        var isAlert: Bool {
            title != nil || subtitle != nil || body != nil || badge != nil || sound != nil || threadID != nil
                || category != nil || interruptionLevel != nil
        }
    }

    /// The options for the request headers.
    struct Headers: Sendable {
        var pushType: PushType?
        var priority: PushNotification.Priority?
        var expiration: TimeArgument?
        var collapseID: CollapseID?

        static let declared = Group(
            Option<PushType?>("--push-type", "Push type of --payload; alert by default"),
            Option<PushNotification.Priority?>(
                "--priority",
                "10 immediately, 5 considering power, 1 without waking the device"
            ),
            Option<TimeArgument?>("--expiration", TimeArgument.expirationHelp),
            Option<CollapseID?>(
                "--collapse-id",
                "Collapse identifier; a push replaces older ones with the same identifier"
            )
        ) { Headers(pushType: $0, priority: $1, expiration: $2, collapseID: $3) }
    }

    /// Whether no option for the content was given; the headers also apply to a snapshot.
    var isEmpty: Bool {
        payload == nil && !content.isAlert && content.custom == nil && !content.isBackground && headers.pushType == nil
    }

    /// Whether an option specifies the content.
    var hasContent: Bool { payload != nil || content.isAlert || content.isBackground }

    /// The names of the content options that can differ between devices.
    static let contentNames: Set<String> = [
        "title", "subtitle", "body", "badge", "sound", "thread-id", "category", "interruption-level",
    ]

    /// The names of all options that can differ between devices.
    static let overridableNames = contentNames.union(["custom", "priority", "expiration", "collapse-id"])

    /// The error for a push without content.
    static let noContent = UsageError(
        "nothing to send: give --title, --body, --badge, --sound, --background, --payload or --snapshot, or a list of "
            + "devices with such columns"
    )

    /// Returns the notification for every device; nil if each line of the list must specify the content.
    func commonNotification() throws(UsageError) -> PushNotification? {
        hasContent || headers.pushType != nil ? try notification() : nil
    }

    /// Sets the value of an option, named without its dashes.
    mutating func set(_ name: String, to value: String) throws(UsageError) {
        switch name {
        case "title": content.title = value
        case "subtitle": content.subtitle = value
        case "body": content.body = value
        case "badge": content.badge = try NonnegativeNumber(argument: value)
        case "sound": content.sound = value
        case "thread-id": content.threadID = value
        case "category": content.category = value
        case "interruption-level": content.interruptionLevel = try PushNotification.InterruptionLevel(argument: value)
        case "custom": content.custom = try PushNotification.CustomData(argument: value)
        case "priority": headers.priority = try PushNotification.Priority(argument: value)
        case "expiration": headers.expiration = try TimeArgument(argument: value)
        case "collapse-id": headers.collapseID = try CollapseID(argument: value)
        default: throw UsageError("is not an option that can differ between devices")
        }
    }

    /// Creates the notification that the options specify.
    func notification() throws(UsageError) -> PushNotification {
        let expiration = headers.expiration?.expiration
        if let payload {
            guard !content.isAlert, content.custom == nil, !content.isBackground else {
                throw UsageError("--payload is a complete payload: do not combine it with options for its content")
            }
            return .opaque(
                try isUnchecked ? payload.bytes() : payload.jsonObject(),
                pushType: headers.pushType ?? .alert,
                priority: headers.priority,
                expiration: expiration,
                collapseID: headers.collapseID
            )
        }
        guard headers.pushType == nil else { throw UsageError("--push-type requires --payload") }
        let custom = content.custom
        if content.isBackground {
            guard !content.isAlert else {
                throw UsageError("--background excludes the options of alerts")
            }
            guard headers.priority == nil else {
                throw UsageError("--background excludes --priority: the priority of a background push is always 5")
            }
            return .background(custom: custom, expiration: expiration, collapseID: headers.collapseID)
        }
        guard content.isAlert else { throw NotificationOptions.noContent }
        return alert(custom, expiration)
    }

    private func alert(_ custom: PushNotification.CustomData?, _ expiration: PushNotification.Expiration?)
        -> PushNotification
    {
        let hasText = content.title != nil || content.subtitle != nil || content.body != nil
        return .alert(
            hasText
                ? PushNotification.Alert(title: content.title, subtitle: content.subtitle, body: content.body) : nil,
            sound: content.sound.map { $0 == "default" ? .default : .named($0) },
            badge: content.badge?.value,
            threadID: content.threadID,
            category: content.category,
            interruptionLevel: content.interruptionLevel,
            custom: custom,
            priority: headers.priority ?? .immediate,
            expiration: expiration,
            collapseID: headers.collapseID
        )
    }
}

import APNsClient
import Commands

/// The options that say what to send.
struct NotificationOptions: Sendable {
    fileprivate var content: Content
    fileprivate var headers: Headers
    fileprivate var payload: InputFile?

    static let declared = Group(
        Content.declared,
        Headers.declared,
        Option<InputFile?>("--payload", "A whole payload, JSON; - for standard input")
    ) { NotificationOptions(content: $0, headers: $1, payload: $2) }

    /// What the payload is made of when it does not come whole.
    struct Content: Sendable {
        var title: String?
        var subtitle: String?
        var body: String?
        var badge: Int?
        var sound: String?
        var threadID: String?
        var category: String?
        var interruptionLevel: InterruptionLevel?
        var custom: String?
        var isBackground: Bool

        static let declared = Group(
            Option<String?>("--title", "First line of the alert"),
            Option<String?>("--subtitle", "Line below the title"),
            Option<String?>("--body", "Message of the alert"),
            Option<Int?>("--badge", "Number on the app's icon; 0 removes it"),
            Option<String?>("--sound", "Name of a sound; default for the system's"),
            Option<String?>("--thread-id", "Groups notifications"),
            Option<String?>("--category", "Category that brings actions"),
            Option<InterruptionLevel?>("--interruption-level", "How much it may disturb"),
            Option<String?>("--custom", "Your own keys beside aps, a JSON object"),
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

        /// Whether anything was asked for that only an alert can have.
        var isAlert: Bool {
            title != nil || subtitle != nil || body != nil || badge != nil || sound != nil || threadID != nil
                || category != nil || interruptionLevel != nil
        }
    }

    /// What stands in the headers.
    struct Headers: Sendable {
        var pushType: PushType?
        var priority: Priority?
        var expiration: Int64?
        var collapseID: CollapseID?

        static let declared = Group(
            Option<PushType?>("--push-type", "Push type of a whole payload; alert when not given"),
            Option<Priority?>("--priority", "10 at once, 5 to save power, 1 to wake nobody"),
            Option<Int64?>("--expiration", "Second since 1970 until which it is worth delivering; 0 for one attempt"),
            Option<CollapseID?>("--collapse-id", "Makes pushes replace each other")
        ) { Headers(pushType: $0, priority: $1, expiration: $2, collapseID: $3) }
    }

    /// Whether nothing was asked for.
    var isEmpty: Bool {
        payload == nil && !content.isAlert && content.custom == nil && !content.isBackground && headers.pushType == nil
            && headers.priority == nil && headers.expiration == nil && headers.collapseID == nil
    }

    /// Takes another value for an option, named without its dashes.
    mutating func set(_ name: String, to value: String) throws(UsageError) {
        switch name {
        case "title": content.title = value
        case "subtitle": content.subtitle = value
        case "body": content.body = value
        case "badge": content.badge = try Int(argument: value)
        case "sound": content.sound = value
        case "thread-id": content.threadID = value
        case "category": content.category = value
        case "interruption-level": content.interruptionLevel = try InterruptionLevel(argument: value)
        case "custom": content.custom = value
        case "priority": headers.priority = try Priority(argument: value)
        case "expiration": headers.expiration = try Int64(argument: value)
        case "collapse-id": headers.collapseID = try CollapseID(argument: value)
        default: throw UsageError("\(name) is nothing that a device can have of its own")
        }
    }

    /// The notification that the options describe.
    func notification() throws -> PushNotification {
        let expiration = headers.expiration.map { Expiration(secondsSince1970: $0) }
        if let payload {
            guard !content.isAlert, content.custom == nil, !content.isBackground else {
                throw UsageError("--payload is the whole payload: what else goes into one cannot be given beside it")
            }
            return .opaque(
                try payload.bytes(),
                pushType: headers.pushType ?? .alert,
                priority: headers.priority,
                expiration: expiration,
                collapseID: headers.collapseID
            )
        }
        guard headers.pushType == nil else { throw UsageError("--push-type goes with --payload only") }
        let custom = try content.custom.map { try CustomData(json: Array($0.utf8)) }
        if content.isBackground {
            guard !content.isAlert, headers.priority == nil else {
                throw UsageError("--background shows nothing and has priority 5: leave the options of alerts out")
            }
            return .background(custom: custom, expiration: expiration, collapseID: headers.collapseID)
        }
        guard content.isAlert else {
            throw UsageError(
                "there is nothing to send: give --title, --body, --badge, --sound, --background or --payload"
            )
        }
        return alert(custom, expiration)
    }

    private func alert(_ custom: CustomData?, _ expiration: Expiration?) -> PushNotification {
        let hasText = content.title != nil || content.subtitle != nil || content.body != nil
        return .alert(
            hasText ? Alert(title: content.title, subtitle: content.subtitle, body: content.body) : nil,
            sound: content.sound.map { $0 == "default" ? .default : .named($0) },
            badge: content.badge,
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

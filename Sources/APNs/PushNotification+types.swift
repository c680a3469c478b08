extension PushNotification {
    /// An incoming call, for a PushKit token; the app has to report it to CallKit at once.
    ///
    /// A call is of no use later: by default APNs tries once. Source: "Responding to VoIP Notifications from PushKit".
    ///
    /// - Parameters:
    ///   - call: What the app needs to know of the call.
    ///   - expiration: Until when it is worth delivering.
    ///   - id: Its identifier.
    /// - Returns: The notification.
    public static func voip(
        _ call: CustomData,
        expiration: Expiration = .attemptOnce,
        id: APNsID? = nil
    ) -> PushNotification {
        custom(.voip, call, priority: .immediate, expiration: expiration, id: id)
    }

    /// Something that happens in a Push to Talk channel, for the token of the session.
    ///
    /// Source: "Creating a Push to Talk app".
    ///
    /// - Parameters:
    ///   - event: What the app needs to know of it.
    ///   - expiration: Until when it is worth delivering.
    ///   - id: Its identifier.
    /// - Returns: The notification.
    public static func pushToTalk(
        _ event: CustomData,
        expiration: Expiration = .attemptOnce,
        id: APNsID? = nil
    ) -> PushNotification {
        custom(.pushToTalk, event, priority: .immediate, expiration: expiration, id: id)
    }

    /// Has the app refresh its Push to Talk service (iOS 17.2).
    ///
    /// - Parameters:
    ///   - event: What the app needs to know besides.
    ///   - expiration: Until when it is worth delivering.
    ///   - id: Its identifier.
    /// - Returns: The notification.
    public static func pushToTalkServiceUpdate(
        _ event: CustomData? = nil,
        expiration: Expiration = .attemptOnce,
        id: APNsID? = nil
    ) -> PushNotification {
        opaque(
            payload(aps: #""ptt-push-type":"service-update""#, event),
            pushType: .pushToTalk,
            priority: .immediate,
            expiration: expiration,
            id: id
        )
    }

    /// New data for a watch face's complication.
    ///
    /// - Parameters:
    ///   - data: What the app needs to know.
    ///   - priority: How soon it should arrive.
    ///   - expiration: Until when it is worth delivering.
    ///   - id: Its identifier.
    /// - Returns: The notification.
    public static func complication(
        _ data: CustomData,
        priority: Priority = .immediate,
        expiration: Expiration? = nil,
        id: APNsID? = nil
    ) -> PushNotification {
        custom(.complication, data, priority: priority, expiration: expiration, id: id)
    }

    /// Asks an app's Location Push Service Extension where the device is; provider tokens only.
    ///
    /// Source: "Creating a location push service extension".
    ///
    /// - Parameters:
    ///   - query: What the extension needs to know.
    ///   - priority: Immediate when somebody waits for the answer, otherwise power-aware.
    ///   - expiration: Until when it is worth delivering.
    ///   - id: Its identifier.
    /// - Returns: The notification.
    public static func location(
        _ query: CustomData? = nil,
        priority: Priority = .immediate,
        expiration: Expiration? = nil,
        id: APNsID? = nil
    ) -> PushNotification {
        custom(.location, query, priority: priority, expiration: expiration, id: id)
    }

    /// Signals to a File Provider extension that a container has changed.
    ///
    /// Source: "Using push notifications to signal changes".
    ///
    /// - Parameters:
    ///   - containerIdentifier: The container; by default all that the extension keeps an eye on.
    ///   - domain: The domain it belongs to; nil for an extension with one.
    ///   - expiration: Until when it is worth delivering.
    ///   - id: Its identifier.
    /// - Returns: The notification.
    public static func fileProvider(
        containerIdentifier: String = "NSFileProviderWorkingSetContainerItemIdentifier",
        domain: String? = nil,
        expiration: Expiration? = nil,
        id: APNsID? = nil
    ) -> PushNotification {
        var object = JSONObjectWriter(capacity: 128)
        object.write("container-identifier", containerIdentifier)
        object.write("domain", domain)
        return opaque(
            object.finish(),
            pushType: .fileProvider,
            priority: .immediate,
            expiration: expiration,
            id: id
        )
    }

    /// Has WidgetKit reload the app's widgets (iOS, iPadOS, macOS, visionOS and watchOS 26).
    ///
    /// Source: "Updating widgets with WidgetKit push notifications".
    ///
    /// - Parameters:
    ///   - priority: How soon it should arrive.
    ///   - expiration: Until when it is worth delivering.
    ///   - id: Its identifier.
    /// - Returns: The notification.
    public static func widgets(
        priority: Priority = .powerAware,
        expiration: Expiration? = nil,
        id: APNsID? = nil
    ) -> PushNotification {
        opaque(
            payload(aps: #""content-changed":true"#, nil),
            pushType: .widgets,
            priority: priority,
            expiration: expiration,
            id: id
        )
    }

    /// Has the system reload the app's controls (iOS and iPadOS 18, macOS and watchOS 26).
    ///
    /// Source: "Updating controls locally and remotely".
    ///
    /// - Parameters:
    ///   - priority: How soon it should arrive.
    ///   - expiration: Until when it is worth delivering.
    ///   - id: Its identifier.
    /// - Returns: The notification.
    public static func controls(
        priority: Priority = .immediate,
        expiration: Expiration? = nil,
        id: APNsID? = nil
    ) -> PushNotification {
        opaque(
            payload(aps: #""content-changed":true"#, nil),
            pushType: .controls,
            priority: priority,
            expiration: expiration,
            id: id
        )
    }

    /// Has a managed device contact its server.
    ///
    /// The topic is the one in the MDM push certificate, `com.apple.mgmt.…`.
    /// Source: "Sending MDM commands to a device".
    ///
    /// - Parameters:
    ///   - pushMagic: What the device gave at enrolment.
    ///   - expiration: Until when it is worth delivering.
    ///   - id: Its identifier.
    /// - Returns: The notification.
    public static func mdm(
        pushMagic: String,
        expiration: Expiration? = nil,
        id: APNsID? = nil
    ) -> PushNotification {
        var object = JSONObjectWriter(capacity: 64)
        object.write("mdm", pushMagic)
        return opaque(object.finish(), pushType: .mdm, priority: .immediate, expiration: expiration, id: id)
    }

    /// Has a device fetch a Wallet pass again; the topic is the pass type identifier.
    ///
    /// - Parameters:
    ///   - expiration: Until when it is worth delivering.
    ///   - id: Its identifier.
    /// - Returns: The notification.
    public static func walletPass(expiration: Expiration? = nil, id: APNsID? = nil) -> PushNotification {
        opaque(Array("{}".utf8), pushType: nil, expiration: expiration, id: id)
    }

    /// A notification of a website in Safari 15 and older; the topic is the website push identifier, `web.…`.
    ///
    /// Source: "Configuring Safari Push Notifications", archived.
    ///
    /// - Parameters:
    ///   - title: The first line.
    ///   - body: What stands below it.
    ///   - action: The word on the button.
    ///   - urlArguments: What takes the place of each placeholder in the website's URL.
    ///   - expiration: Until when it is worth delivering.
    ///   - id: Its identifier.
    /// - Returns: The notification.
    public static func safari(
        title: String,
        body: String,
        action: String? = nil,
        urlArguments: [String] = [],
        expiration: Expiration? = nil,
        id: APNsID? = nil
    ) -> PushNotification {
        var object = JSONObjectWriter(capacity: 256)
        object.write("aps") { aps in
            aps.write("alert") { alert in
                alert.write("title", title)
                alert.write("body", body)
                alert.write("action", action)
            }
            aps.write("url-args", urlArguments)
        }
        return opaque(object.finish(), pushType: nil, expiration: expiration, id: id)
    }

    /// A push that carries the app's own data and nothing of Apple's.
    private static func custom(
        _ type: PushType,
        _ data: CustomData?,
        priority: Priority,
        expiration: Expiration?,
        id: APNsID?
    ) -> PushNotification {
        opaque(payload(aps: nil, data), pushType: type, priority: priority, expiration: expiration, id: id)
    }

    /// A payload of members that are JSON already.
    private static func payload(aps: String?, _ custom: CustomData?) -> [UInt8] {
        var object = JSONObjectWriter(capacity: 64 + (custom?.members.count ?? 0))
        if let aps { object.write("aps") { $0.splice(Array(aps.utf8)) } }
        if let custom { object.splice(custom.members) }
        return object.finish()
    }
}

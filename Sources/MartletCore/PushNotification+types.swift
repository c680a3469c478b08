// SPDX-License-Identifier: Apache-2.0

extension PushNotification {
    /// Creates an incoming call for a PushKit token; the app must report it to CallKit immediately.
    ///
    /// By default APNs makes a single attempt, because a late call is useless. Source: "Responding to VoIP
    /// Notifications from PushKit".
    ///
    /// - Parameters:
    ///   - call: The app's data about the call.
    ///   - expiration: The time until which APNs tries to deliver the push.
    ///   - id: The identifier.
    /// - Returns: The notification.
    public static func voip(
        _ call: CustomData,
        expiration: Expiration? = PushType.voip.descriptor?.defaultExpiration,
        id: APNsID? = nil
    ) -> PushNotification {
        custom(.voip, call, expiration: expiration, id: id)
    }

    /// Creates an event in a Push to Talk channel, for the token of the session.
    ///
    /// Source: "Creating a Push to Talk app".
    ///
    /// - Parameters:
    ///   - event: The app's data about the event.
    ///   - expiration: The time until which APNs tries to deliver the push.
    ///   - id: The identifier.
    /// - Returns: The notification.
    public static func pushToTalk(
        _ event: CustomData,
        expiration: Expiration? = PushType.pushToTalk.descriptor?.defaultExpiration,
        id: APNsID? = nil
    ) -> PushNotification {
        custom(.pushToTalk, event, expiration: expiration, id: id)
    }

    /// Creates a push that makes the app update its Push to Talk service (iOS 17.2).
    ///
    /// - Parameters:
    ///   - event: Additional data for the app.
    ///   - expiration: The time until which APNs tries to deliver the push.
    ///   - id: The identifier.
    /// - Returns: The notification.
    public static func pushToTalkServiceUpdate(
        _ event: CustomData? = nil,
        expiration: Expiration? = PushType.pushToTalk.descriptor?.defaultExpiration,
        id: APNsID? = nil
    ) -> PushNotification {
        custom(.pushToTalk, event, aps: #""ptt-push-type":"service-update""#, expiration: expiration, id: id)
    }

    /// Creates an update of a watch face's complication.
    ///
    /// - Parameters:
    ///   - data: The app's data.
    ///   - priority: The priority of the delivery.
    ///   - expiration: The time until which APNs tries to deliver the push.
    ///   - id: The identifier.
    /// - Returns: The notification.
    public static func complication(
        _ data: CustomData,
        priority: Priority = .immediate,
        expiration: Expiration? = nil,
        id: APNsID? = nil
    ) -> PushNotification {
        custom(.complication, data, priority: priority, expiration: expiration, id: id)
    }

    /// Creates a query of the device's location, for an app's Location Push Service Extension; provider tokens only.
    ///
    /// Source: "Creating a location push service extension".
    ///
    /// - Parameters:
    ///   - query: The app's data for the extension.
    ///   - priority: Immediate if the user waits for the result, otherwise power-aware.
    ///   - expiration: The time until which APNs tries to deliver the push.
    ///   - id: The identifier.
    /// - Returns: The notification.
    public static func location(
        _ query: CustomData? = nil,
        priority: Priority = .immediate,
        expiration: Expiration? = nil,
        id: APNsID? = nil
    ) -> PushNotification {
        custom(.location, query, priority: priority, expiration: expiration, id: id)
    }

    /// Creates a signal to a File Provider extension that a container has changed.
    ///
    /// Source: "Using push notifications to signal changes".
    ///
    /// - Parameters:
    ///   - containerIdentifier: The container; the extension's working set by default.
    ///   - domain: The domain of the container; nil for an extension with a single domain.
    ///   - expiration: The time until which APNs tries to deliver the push.
    ///   - id: The identifier.
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
        return opaque(object.finish(), pushType: .fileProvider, priority: .immediate, expiration: expiration, id: id)
    }

    /// Creates a push that makes WidgetKit reload the app's widgets (iOS, iPadOS, macOS, visionOS and watchOS 26).
    ///
    /// Source: "Updating widgets with WidgetKit push notifications".
    ///
    /// - Parameters:
    ///   - priority: The priority of the delivery.
    ///   - expiration: The time until which APNs tries to deliver the push.
    ///   - id: The identifier.
    /// - Returns: The notification.
    public static func widgets(
        priority: Priority = .powerAware,
        expiration: Expiration? = nil,
        id: APNsID? = nil
    ) -> PushNotification {
        custom(.widgets, aps: contentChanged, priority: priority, expiration: expiration, id: id)
    }

    /// Creates a push that makes the system reload the app's controls (iOS and iPadOS 18, macOS and watchOS 26).
    ///
    /// Source: "Updating controls locally and remotely".
    ///
    /// - Parameters:
    ///   - priority: The priority of the delivery.
    ///   - expiration: The time until which APNs tries to deliver the push.
    ///   - id: The identifier.
    /// - Returns: The notification.
    public static func controls(
        priority: Priority = .immediate,
        expiration: Expiration? = nil,
        id: APNsID? = nil
    ) -> PushNotification {
        custom(.controls, aps: contentChanged, priority: priority, expiration: expiration, id: id)
    }

    /// Creates a push that makes a managed device contact its server.
    ///
    /// The topic is that of the MDM push certificate, `com.apple.mgmt.…`.
    /// Source: "Sending MDM commands to a device".
    ///
    /// - Parameters:
    ///   - pushMagic: The string that the device sent at enrollment.
    ///   - expiration: The time until which APNs tries to deliver the push.
    ///   - id: The identifier.
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

    /// Creates a push that makes a device download a Wallet pass again; the topic is the pass type identifier.
    ///
    /// - Parameters:
    ///   - expiration: The time until which APNs tries to deliver the push.
    ///   - id: The identifier.
    /// - Returns: The notification.
    public static func walletPass(expiration: Expiration? = nil, id: APNsID? = nil) -> PushNotification {
        opaque(Array("{}".utf8), pushType: nil, expiration: expiration, id: id)
    }

    /// Creates a notification of a website in Safari 15 and older; the topic is the website push identifier, `web.…`.
    ///
    /// Source: "Configuring Safari Push Notifications", archived.
    ///
    /// - Parameters:
    ///   - title: The first line.
    ///   - body: The text below the title.
    ///   - action: The label of the button.
    ///   - urlArguments: The values for the placeholders in the website's URL.
    ///   - expiration: The time until which APNs tries to deliver the push.
    ///   - id: The identifier.
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

    private static let contentChanged = #""content-changed":true"#

    /// Creates a push that carries the app's own data, and members of `aps` that are already JSON.
    private static func custom(
        _ type: PushType,
        _ data: CustomData? = nil,
        aps: String? = nil,
        priority: Priority = .immediate,
        expiration: Expiration?,
        id: APNsID?
    ) -> PushNotification {
        var object = JSONObjectWriter(capacity: 64 + (data?.members.count ?? 0))
        if let aps { object.write("aps") { $0.splice(Array(aps.utf8)) } }
        if let data { object.splice(data.members) }
        return opaque(object.finish(), pushType: type, priority: priority, expiration: expiration, id: id)
    }
}

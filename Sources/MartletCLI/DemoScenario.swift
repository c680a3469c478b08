// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletSimulator

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The devices, the app and the channel of `martlet demo`.
struct DemoScenario: Sendable {
    static let app: Topic = "com.example.trattoria"

    /// The device that receives alerts and silent pushes.
    static let phone = token("5d3a6a1c8f9a42d6b0e7c41f2a9b8c7d6e5f40312213243546576879808a9bac")
    /// The push-to-start token of the same device.
    static let starter = token("51a27e008f9a42d6b0e7c41f2a9b8c7d6e5f40312213243546576879808a9bac")
    /// The push-to-start token of a friend's device, which follows the order.
    static let friend = token("f21e9d008f9a42d6b0e7c41f2a9b8c7d6e5f40312213243546576879808a9bac")
    /// A device with the App Store build of the app.
    static let production = token("a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90")
    /// A device with another app.
    static let otherApp = token("0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0")
    /// A device from which the app was removed.
    static let removed = token("dead00beef11dead22beef33dead44beef55dead66beef77dead88beef99dead")

    let apns: SimulatedAPNs
    let channel: ChannelID

    /// Registers the devices, and stores the app's strings, template and surfaces in a simulator.
    init(in apns: SimulatedAPNs, channel: ChannelID) async throws {
        self.apns = apns
        self.channel = channel
        let app = DemoScenario.app
        let types: [PushType] = [.alert, .widgets, .controls, .liveActivity]
        await apns.register(DemoScenario.phone, for: types.map { app.qualified(for: $0) })
        await apns.register(DemoScenario.production, for: [app], in: .production)
        await apns.register(DemoScenario.otherApp, for: ["com.example.other"])
        await apns.unregister(DemoScenario.removed, since: Date(timeIntervalSince1970: 1_790_000_000))
        for (language, file) in DemoScenario.strings { try await apns.setStrings(file, language, of: app) }
        try await apns.setTemplate(DemoScenario.template, for: DemoOrder.attributesType, of: app)
        for snapshot in [DemoOrder.widget, DemoOrder.control, DemoOrder.accessory, DemoOrder.standBy] {
            try await apns.setSurface(snapshot, of: app)
        }
    }

    /// Returns the token of the Live Activity that was started last, as the app would report it.
    func activity() async throws -> DeviceToken {
        guard let token = await apns.device(DemoScenario.starter)?.startedActivities.last?.token else {
            throw CommandError("no Live Activity has been started")
        }
        return token
    }

    private static let strings = [
        "en": """
        "ORDER_PLACED" = "Thank you, %1$@";
        "ORDER_PLACED_BODY" = "Order %1$@ is with the kitchen, and with you at %2$@.";
        """,
        "de": """
        "ORDER_PLACED" = "Danke, %1$@";
        "ORDER_PLACED_BODY" = "Bestellung %1$@ ist in der Küche und um %2$@ bei dir.";
        """,
    ]

    private static let template: JSONValue = [
        "lock": [
            "title": "{{status}}", "subtitle": "Order {{attributes.order}} from {{attributes.restaurant}}",
            "trailing": "{{minutesLeft}} min", "progress": "{{progress}}",
        ],
        "island": [
            "compact-leading": "#{{attributes.order}}", "compact-trailing": "{{minutesLeft}}′",
            "minimal": "{{minutesLeft}}",
            "leading": "#{{attributes.order}}", "trailing": "{{minutesLeft}} min", "center": "{{status}}",
            "progress": "{{progress}}",
        ],
    ]

    /// Creates a token from digits that are known to be valid.
    private static func token(_ hex: String) -> DeviceToken {
        guard let token = try? DeviceToken(hex: hex) else { preconditionFailure("\(hex) is no device token") }
        return token
    }
}

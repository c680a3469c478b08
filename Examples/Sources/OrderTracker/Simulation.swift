// SPDX-License-Identifier: Apache-2.0

import Foundation
import LiveSurfaces
import Martlet
import MartletSimulator

/// Sends an order to a simulated phone, with the string catalog of the app in a file, and shows the pushes.
func sendToSimulator(strings file: String) async throws {
    // The simulator answers as Apple would, and its inbox shows every push.
    let port = ProcessInfo.processInfo.environment["INBOX_PORT"].flatMap(UInt16.init) ?? 8197
    let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(inboxPort: port))
    let client = try await PushClient(
        apns.endpoint,
        authentication: .token(.ephemeral()),
        configuration: apns.clientConfiguration
    )
    let catalog = try Data(contentsOf: URL(filePath: file))
    let tracker = try OrderTracker(client: client, strings: SurfaceStrings(parsing: Array(catalog)))

    // The tokens that a phone would report.
    var phone = Phone(
        device: try DeviceToken(hex: "5d3a6a1c8f9a42d6"),
        activityStart: try DeviceToken(hex: "5d3a6a1c8f9a42d7"),
        widgets: try DeviceToken(hex: "5d3a6a1c8f9a42d8"),
        controls: [try DeviceToken(hex: "5d3a6a1c8f9a42d9")]
    )

    var order = Order(number: 17, revision: 1, changedAt: .now, stage: .accepted)
    try await tracker.start(order, on: phone)
    phone.activity = await apns.device(phone.activityStart)?.startedActivities.first?.token

    (order.revision, order.changedAt, order.stage) = (2, .now, .baking)
    try await tracker.update(order, on: phone)
    try await tracker.reload(phone)

    (order.revision, order.changedAt, order.stage) = (3, .now, .ready)
    try await tracker.finish(order, shelf: 4, picture: "https://shop.example.com/orders/17/bread.png", on: phone)

    for push in await apns.pushes {
        print("\(push.number): \(push.headers.pushType ?? "alert") \(push.status) \(push.findings.map(\.message))")
    }
    print("Open http://localhost:\(await apns.inboxPort ?? port), and press Return to end.")
    _ = readLine()
    await client.close()
    await apns.stop()
}

// Test the pushes of your server, without a network.

import Martlet
import MartletSimulator

/// A part of your server: it sends with any `PushSending`.
struct OrderDesk {
    let sender: any PushSending

    func announce(_ order: Int, to phone: DeviceToken) async throws(APNsError) {
        let notification = PushNotification.alert("Order \(order) is ready", sound: .default)
        try await sender.send(notification, to: phone, topic: "com.example.app")
    }
}

let phone = try DeviceToken(hex: "5d3a6a1c8f9a42d6")
let recorder = RecordingPushSender()
try await OrderDesk(sender: recorder).announce(42, to: phone)
let notification = PushNotification.alert("Order 42 is ready", sound: .default)
precondition(recorder.pushes == [.notification(notification, to: phone, topic: "com.example.app")])

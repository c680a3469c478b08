// Send to many devices, each with its own badge.

import Martlet
import MartletSimulator

// snippet.hide
let apns = try await SimulatedAPNs.start()
let client = try await PushClient(
    apns.endpoint,
    authentication: .token(.ephemeral()),
    configuration: apns.clientConfiguration
)
struct Customer {
    var token: DeviceToken
    var unread: Int
}
let customers = try (1...1_000).map { number in
    let hex = String(number, radix: 16)
    return Customer(
        token: try DeviceToken(hex: String(repeating: "0", count: 16 - hex.utf8.count) + hex),
        unread: number
    )
}
// snippet.show
let alert = PushNotification.Alert(title: "Closing soon", body: "Order within the next hour.")
let recipients = customers.map { customer in
    Recipient(customer.token, notification: .alert(alert, badge: customer.unread))
}
var accepted = 0
for await outcome in client.send(.alert(alert), to: recipients, topic: "com.example.app") {
    if let error = outcome.error {
        print("\(outcome.token): \(error)")
    } else {
        accepted += 1
    }
}
print("accepted: \(accepted)")
// snippet.hide
await client.close()
await apns.stop()

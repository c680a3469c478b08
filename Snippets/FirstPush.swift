// Send one push, and see why it was not accepted.

import Martlet

// snippet.hide
let arguments = CommandLine.arguments
guard arguments.count == 5 else { fatalError("usage: FirstPush KEY.p8 KEY-ID TEAM-ID TOKEN") }
// snippet.show
let key = try SigningKey(file: arguments[1], keyID: arguments[2], teamID: arguments[3])
let client = try PushClient(.production, authentication: .token(key))
let phone = try DeviceToken(hex: arguments[4])

do throws(APNsError) {
    let notification = PushNotification.alert("Order ready", sound: .default)
    let receipt = try await client.send(notification, to: phone, topic: "com.example.app")
    print("accepted as \(receipt.id)")
} catch {
    print("not accepted: \(error)")
}
await client.close()

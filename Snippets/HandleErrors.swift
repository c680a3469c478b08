// Handle the failures of a push by their consequence.

import Martlet
import MartletSimulator

/// What your server does with a push and its device token.
enum Consequence: Equatable {
    case forgetToken, tryLater, mayHaveArrived, giveUp, callTheOperator
}

func consequence(of error: APNsError) -> Consequence {
    switch error.advice {
    case .forgetToken: .forgetToken
    case .sendLater: .tryLater
    case .mayHaveArrived: .mayHaveArrived
    // It would be refused each time.
    case .correctPush: .giveUp
    case .correctConfiguration: .callTheOperator
    }
}

// snippet.hide
let apns = try await SimulatedAPNs.start()
let client = try await PushClient(
    apns.endpoint,
    authentication: .token(.ephemeral()),
    configuration: apns.clientConfiguration
)
let phone = try DeviceToken(hex: "5d3a6a1c8f9a42d6")
await apns.unregister(phone)
// snippet.show
do throws(APNsError) {
    try await client.send(.alert("Order ready"), to: phone, topic: "com.example.app")
} catch {
    print(consequence(of: error))
}
// snippet.hide
await client.close()
await apns.stop()

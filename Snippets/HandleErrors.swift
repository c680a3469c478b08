// Handle the failures of a push by their consequence.

import Martlet
import MartletSimulator

/// What your server does with a push that was not accepted.
enum Consequence: Equatable {
    case forgetToken, tryLater, mayHaveArrived, fixTheServer
}

func consequence(of error: APNsError) -> Consequence {
    switch error.outcome {
    case .answered where error.status == 410: .forgetToken
    case .answered where error.reason == .badDeviceToken: .forgetToken
    case .answered where error.retryAfter != nil || (error.status ?? 0) >= 500: .tryLater
    case .answered: .fixTheServer
    case .neverSent, .unprocessed: .tryLater
    case .unknown: .mayHaveArrived
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

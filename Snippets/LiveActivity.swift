// Start, update and end a Live Activity.

import Foundation
import Martlet
import MartletSimulator

// snippet.hide
let apns = try await SimulatedAPNs.start()
let client = try await PushClient(
    apns.endpoint,
    authentication: .token(.ephemeral()),
    configuration: apns.clientConfiguration
)
let pushToStartToken = try DeviceToken(hex: "5d3a6a1c8f9a42d6")
let activityToken = try DeviceToken(hex: "a1b2c3d4e5f60718")
let arrival = Date(timeIntervalSince1970: 1_790_000_000)
// snippet.show
/// The app has `ActivityAttributes` with this name and these properties.
struct RideAttributes: LiveActivityAttributes {
    struct ContentState: Encodable { var arrival: Date }
    var rideID: String
}

let start = try LiveActivityStart(
    RideAttributes(rideID: "r7"),
    state: .init(arrival: arrival),
    alert: LiveActivityAlert(title: "Your ride", body: "The car is on its way."),
    updateSource: .byToken
)
try await client.startLiveActivity(start, on: pushToStartToken, topic: "com.example.app")

let later = RideAttributes.ContentState(arrival: arrival + 300)
try await client.updateLiveActivity(activityToken, state: later, topic: "com.example.app")
try await client.endLiveActivity(activityToken, topic: "com.example.app", dismissal: .after(.seconds(600)))
// snippet.hide
print(await apns.pushes.map(\.status))
await client.close()
await apns.stop()

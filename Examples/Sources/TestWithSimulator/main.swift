// SPDX-License-Identifier: Apache-2.0

import Foundation
// How a test of your own server looks: Apple's part is played within the process, on any free port.
import Martlet
import MartletSimulator

let apns = try await SimulatedAPNs.start()
let client = try await PushClient(
    apns.endpoint,
    authentication: .token(.ephemeral()),
    configuration: apns.clientConfiguration
)
let phone = try DeviceToken(hex: "5d3a6a1c8f9a42d6")
let goneSince = Date(timeIntervalSince1970: 1_790_000_000)

// Your code sends a push …
try await client.send(.alert("Hello"), to: phone, topic: "com.example.app")
// … and the person removes the app.
await apns.unregister(phone, since: goneSince)
do {
    try await client.send(.alert("Are you there?"), to: phone, topic: "com.example.app")
    fatalError("a push to a device that is gone was accepted")
} catch {
    precondition(error.reason == .unregistered && error.unregisteredAt == goneSince)
}

let pushes = await apns.pushes
precondition(pushes.map(\.status) == [200, 410])
print("The simulator received \(pushes.count) pushes: \(pushes.map { "\($0.status)" }.joined(separator: ", "))")
await client.close()
await apns.stop()

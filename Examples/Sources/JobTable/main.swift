// SPDX-License-Identifier: Apache-2.0

// A job table: one process stores a notification, another one loads it and sends the same bytes.
//
//     JobTable store jobs.db    stores a job, and prints the payload
//     JobTable send jobs.db     sends each stored job to a simulator, and prints the payload that arrived
import Foundation
import Martlet
import MartletSimulator

/// A row of the table.
///
/// Every part is `Codable`, so JSON, PostgreSQL's `jsonb` or a message queue can hold it.
struct Job: Codable {
    var notification: PushNotification
    var token: DeviceToken
    var topic: Topic
}

let arguments = CommandLine.arguments
guard arguments.count == 3, ["store", "send"].contains(arguments[1]) else {
    fatalError("usage: JobTable store|send FILE")
}
let table = try JobTable(path: arguments[2])

if arguments[1] == "store" {
    let job = Job(
        notification: try .alert(
            PushNotification.Alert(title: "Order ready", body: "Tap to open order 42."),
            sound: .default,
            badge: 3,
            custom: ["order": 42, "url": "app://orders/42"] as [String: JSONValue],
            collapseID: "order-42"
        ),
        token: try DeviceToken(hex: "5d3a6a1c8f9a42d6b0e7c41f2a9b8c7d6e5f40312213243546576879808a9bac"),
        topic: "com.example.app"
    )
    try table.add(JSONEncoder().encode(job))
    print(String(decoding: try job.notification.payload.encoded(), as: UTF8.self))
} else {
    let apns = try await SimulatedAPNs.start()
    let client = try await PushClient(
        apns.endpoint,
        authentication: .token(.ephemeral()),
        configuration: apns.clientConfiguration
    )
    for (number, json) in try table.jobs() {
        let job = try JSONDecoder().decode(Job.self, from: json)
        do throws(APNsError) {
            try await client.send(job.notification, to: job.token, topic: job.topic)
        } catch {
            print("job \(number): \(error)")
            // The others stay in the table: their push can still be accepted.
            guard error.advice == .forgetToken || error.advice == .correctPush else { continue }
        }
        try table.remove(number)
    }
    for push in await apns.pushes { print(String(decoding: push.payload, as: UTF8.self)) }
    await client.close()
    await apns.stop()
}

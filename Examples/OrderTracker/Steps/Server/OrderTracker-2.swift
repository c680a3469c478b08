// SPDX-License-Identifier: Apache-2.0

import Foundation
import LiveSurfaces
import Martlet

/// The tokens that the app on one phone has reported.
struct Phone: Sendable {
    /// The token of the app, for notifications and background pushes.
    var device: DeviceToken
    /// The token that starts Live Activities.
    var activityStart: DeviceToken
    /// The token of the running Live Activity; nil until the phone has reported it.
    var activity: DeviceToken?
    /// The token of all widgets of the app; nil before iOS 26, and when the user has none.
    var widgets: DeviceToken?
    /// The token of each control that the user has added.
    var controls: [DeviceToken] = []
}

/// The part of the shop's server that shows an order on a phone.
struct OrderTracker: Sendable {
    let client: PushClient
    let topic: Topic = "com.example.app"

    /// Starts the Live Activity.
    ///
    /// The phone then reports the token of the activity.
    func start(_ order: Order, on phone: Phone) async throws {
        try await client.send(
            order.liveActivity,
            to: .activityStart(phone.activityStart),
            topic: topic,
            delivery: SurfaceDelivery(updateSource: .byToken)
        )
    }

    /// Shows a new revision of the order on every surface.
    func update(_ order: Order, on phone: Phone) async throws {
        if let activity = phone.activity {
            try await client.send(
                order.liveActivity,
                to: .activity(activity),
                topic: topic,
                delivery: SurfaceDelivery(staleDate: order.changedAt + 3_600)
            )
        }
        for snapshot in order.stored {
            try await client.send(snapshot, to: .device(phone.device), topic: topic)
        }
    }
}

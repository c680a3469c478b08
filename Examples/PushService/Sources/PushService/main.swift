// SPDX-License-Identifier: Apache-2.0

import Configuration
import Logging
import Martlet
import ServiceLifecycle

/// A service that sends a push whenever an order is ready.
struct OrderService: Service {
    let client: PushClient
    /// The orders that become ready, each with the token of the customer's phone; in your server a queue or a table.
    let orders: AsyncStream<(number: Int, phone: DeviceToken)>
    let logger: Logger

    func run() async throws {
        // Ends when the group shuts down; the push that is being sent is completed first.
        for await order in orders.cancelOnGracefulShutdown() {
            let notification = PushNotification.alert("Order \(order.number) is ready", sound: .default)
            do throws(APNsError) {
                try await client.send(notification, to: order.phone, topic: "com.example.app")
            } catch {
                logger.error("order \(order.number): \(error)")
            }
        }
    }
}

// APNS_KEY_FILE, APNS_KEY_ID, APNS_TEAM_ID and, for a relay or a simulator, APNS_HOST and APNS_PORT.
let config = ConfigReader(provider: EnvironmentVariablesProvider()).scoped(to: "apns")
let logger = Logger(label: "push-service")
var configuration = try PushClient.Configuration(config: config)
configuration.logger = logger
let client = try PushClient(config: config, configuration: configuration)

let (orders, submit) = AsyncStream.makeStream(of: (number: Int, phone: DeviceToken).self)
let phone = try DeviceToken(hex: "5d3a6a1c8f9a42d6b0e7c41f2a9b8c7d6e5f40312213243546576879808a9bac")
submit.yield((number: 42, phone: phone))

// Services shut down in the reverse order: first the orders stop, then the client sends what is waiting and closes.
let group = ServiceGroup(
    services: [client, OrderService(client: client, orders: orders, logger: logger)],
    gracefulShutdownSignals: [.sigterm, .sigint],
    logger: logger
)
try await group.run()

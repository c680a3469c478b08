// SPDX-License-Identifier: Apache-2.0

import Foundation

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.count == 3 {
    // OrderTracker RELAY CUSTOMER EVENT, in place of the events of the shop.
    let key = try String(contentsOfFile: "back-end.key", encoding: .utf8)
    let relay = OrderRelay(address: arguments[0], key: key.trimmingCharacters(in: .whitespacesAndNewlines))
    let (customer, event) = (arguments[1], arguments[2])
    // The milliseconds since 1970 rise, as the revisions of a database do.
    let revision = Int(Date.now.timeIntervalSince1970 * 1_000)
    var order = Order(number: 17, revision: revision, changedAt: .now, stage: .accepted)
    switch event {
    case "sign-in": print(try await relay.ticket(for: customer))
    case "collected": try await relay.withdraw(order)
    default:
        guard let stage = Order.Stage(rawValue: event) else { fatalError("unknown event \(event)") }
        order.stage = stage
        try await relay.show(order, to: customer)
    }
} else {
    try await sendToSimulator(strings: arguments.first ?? "Localizable.xcstrings")
}

// SPDX-License-Identifier: Apache-2.0

/// The notifications that a device shows, without I/O or a clock.
struct ShownNotifications: Sendable, Hashable {
    /// The maximum number of notifications, and of started activities that a device remembers.
    static let limit = 100

    /// The pushes of the notifications, newest last.
    private(set) var pushes: [DeliveredPush] = []

    /// Adds the notification of a push, in place of one with the same collapse identifier.
    mutating func show(_ push: DeliveredPush) {
        pushes.removeAll { $0.collapseID != nil && $0.collapseID == push.collapseID && $0.topic == push.topic }
        pushes.append(push)
        if pushes.count > ShownNotifications.limit { pushes.removeFirst() }
    }
}

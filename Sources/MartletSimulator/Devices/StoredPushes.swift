// SPDX-License-Identifier: Apache-2.0

/// The pushes that APNs stores for a device that is offline, one for each slot, without I/O or a clock.
///
/// Source: "Sending notification requests to APNs".
struct StoredPushes: Sendable, Hashable {
    private var pushes: [String: DeliveredPush] = [:]

    /// The numbers of the pushes by slot.
    var numbers: [String: Int] { pushes.mapValues(\.number) }

    /// The time at which the first push expires, in milliseconds since 1970; nil when none is stored.
    var firstExpiry: Int64? { pushes.values.map(\.storageEnd).min() }

    /// Stores or discards a push for a device that is offline.
    ///
    /// - Returns: The event of the push, after that of the push that it replaces.
    mutating func store(_ push: DeliveredPush, at now: Int64) -> DeviceRegistry.Deliveries {
        guard push.expiration != 0 else { return [(push.number, DeliveryEvent(.discardedNotStored, at: now))] }
        // APNs stores a push until it expires, so one that has expired does not replace the stored one either.
        guard !push.isLate(at: now) else {
            let note = "its apns-expiration was in the past when it arrived"
            return [(push.number, DeliveryEvent(.discardedExpired, at: now, note))]
        }
        var events: DeviceRegistry.Deliveries = []
        if let older = pushes[push.slot] {
            events.append((older.number, DeliveryEvent(.discardedReplaced, by: push.number, at: now)))
        }
        insert(push)
        events.append((push.number, DeliveryEvent(.storedDeviceOffline, at: now)))
        return events
    }

    /// Puts a push in its slot.
    mutating func insert(_ push: DeliveredPush) { pushes[push.slot] = push }

    /// Removes all pushes, and returns them in the order of their arrival.
    mutating func removeAll() -> [DeliveredPush] {
        defer { pushes = [:] }
        return pushes.values.sorted { $0.number < $1.number }
    }

    /// Removes the pushes that have expired, and returns them in the order of their arrival.
    mutating func removeExpired(at now: Int64) -> [DeliveredPush] {
        let expired = pushes.values.filter { $0.isLate(at: now) }
        for push in expired { pushes[push.slot] = nil }
        return expired.sorted { $0.number < $1.number }
    }
}

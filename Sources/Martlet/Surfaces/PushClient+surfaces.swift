// SPDX-License-Identifier: Apache-2.0

public import LiveSurfaces
public import MartletCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension PushClient {
    /// Sends a snapshot as the push that its kind and destination require.
    ///
    /// A notification, or a Live Activity sent to a device, is sent as an alert with priority 10; a Live Activity to
    /// its own token or a channel with priority 5, and with 10 when it starts; any other kind as a background push that
    /// contains the whole snapshot under the name `surfaceSnapshot`. All are stored for an hour, except broadcasts,
    /// which channels without storage do not store.
    ///
    /// - Parameters:
    ///   - snapshot: The snapshot, which is first checked against every rule of the contract.
    ///   - destination: The receiver, and the event for it.
    ///   - topic: The app's bundle identifier, without any suffix.
    ///   - delivery: The differences from the defaults of the kind.
    ///   - options: The differences from the configuration for this push.
    /// - Returns: The receipt; accepted does not mean delivered.
    /// - Throws: ``APNsError``, with the code `invalid` when the snapshot violates a rule or is of another kind than
    ///   the destination needs.
    @discardableResult
    public func send(
        _ snapshot: SurfaceSnapshot,
        to destination: SurfaceDestination,
        topic: Topic,
        delivery: SurfaceDelivery = SurfaceDelivery(),
        options: SendOptions = SendOptions()
    ) async throws(APNsError) -> PushReceipt {
        let id = try delivery.id(of: snapshot, to: destination)
        switch try renderer.plan(for: snapshot, to: destination, topic: topic, delivery, id) {
        case .device(let notification, let token):
            return try await send(notification, to: token, topic: topic, options: options)
        case .activity(let activity, let event, let address):
            let chosen = delivery.timestamp
            return try await withSlot(event, for: address, chosen: chosen, options) { slot throws(APNsError) in
                switch try renderer.request(for: activity, to: destination, topic: topic, delivery, id, at: slot.date) {
                case .push(let notification, let token):
                    let push = try push(notification, to: token, topic: topic, options: options, after: slot.delay)
                    return try await pool.send(push).receipt
                case .broadcast(let broadcast):
                    return try await send(broadcast, id: id, options: options, after: slot.delay).receipt
                }
            }
        }
    }

    /// Returns the request that ``send(_:to:topic:delivery:options:)`` would send, without sending it.
    ///
    /// - Parameters:
    ///   - snapshot: The snapshot.
    ///   - destination: The receiver, and the event for it.
    ///   - topic: The app's bundle identifier, without any suffix.
    ///   - delivery: The differences from the defaults of the kind.
    /// - Returns: The request, with the findings of the lint rules.
    /// - Throws: ``APNsError`` with the code `invalid` when the snapshot violates a rule or is of another kind than the
    ///   destination needs.
    public func describe(
        _ snapshot: SurfaceSnapshot,
        to destination: SurfaceDestination,
        topic: Topic,
        delivery: SurfaceDelivery = SurfaceDelivery()
    ) throws(APNsError) -> RequestDescription {
        let id = try delivery.id(of: snapshot, to: destination)
        switch try renderer.plan(for: snapshot, to: destination, topic: topic, delivery, id) {
        case .device(let notification, let token):
            return try describe(notification, to: token, topic: topic)
        case .activity(let activity, let event, _):
            let timestamp = delivery.timestamp ?? timestamps.unassigned(event)
            switch try renderer.request(for: activity, to: destination, topic: topic, delivery, id, at: timestamp) {
            case .push(let notification, let token): return try describe(notification, to: token, topic: topic)
            case .broadcast(let broadcast): return RequestDescription(broadcast, id: id, requests, at: clock)
            }
        }
    }
}

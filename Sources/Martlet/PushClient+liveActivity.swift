// SPDX-License-Identifier: Apache-2.0

public import MartletCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension PushClient {
    /// Starts a Live Activity on a device (iOS and iPadOS 17.2).
    ///
    /// - Parameters:
    ///   - activity: The activity.
    ///   - token: The device's push-to-start token.
    ///   - topic: The app's bundle identifier.
    ///   - timestamp: The time of the push, rounded down to a whole second; nil, the default, for two seconds ago, so
    ///     that any later update has a later timestamp.
    ///   - priority: The priority of the delivery.
    ///   - expiration: The time until which APNs may deliver the push; nil, the default, for APNs' default.
    ///   - options: The differences from the configuration for this push.
    /// - Returns: The receipt of an accepted push.
    /// - Throws: ``APNsError``, for the same reasons as ``send(_:to:topic:options:)``.
    @discardableResult
    public func startLiveActivity(
        _ activity: LiveActivityStart,
        on token: DeviceToken,
        topic: Topic,
        timestamp: Date? = nil,
        priority: LiveActivityPriority = .immediate,
        expiration: PushNotification.Expiration? = nil,
        options: SendOptions = SendOptions()
    ) async throws(APNsError) -> PushReceipt {
        let timeout = options.timeout ?? configuration.sendTimeout
        let slot = try timestamps.slot(.start, for: .token(token), chosen: timestamp, within: timeout)
        let notification = try writing { () throws(PayloadError) in
            try PushNotification.liveActivity(
                activity,
                timestamp: slot.date,
                priority: priority,
                expiration: expiration
            )
        }
        return try await send(notification, to: token, topic: topic, options: options)
    }

    /// Updates or ends a Live Activity.
    ///
    /// The device ignores an update whose timestamp, in whole seconds, is not later than that of the displayed content.
    /// The client therefore assigns each update of an activity a different second: an update within the same second
    /// waits for the next. The timestamp of an update is never later than the clock, so that processes without shared
    /// state do not make each other's updates stale. An update that was rejected or not sent releases its second for
    /// the next one, unless a later second was assigned in the meantime. An end has a timestamp two seconds ahead,
    /// which is later than that of an update that another process sent within the same second. Pass a `timestamp` when
    /// several processes may update one activity within a second and share a counter of seconds.
    ///
    /// - Parameters:
    ///   - update: The update.
    ///   - token: The activity's own token.
    ///   - topic: The app's bundle identifier.
    ///   - timestamp: The time of the push, rounded down to a whole second and sent unchanged; nil, the default, for
    ///     the first second that the client has used for no other update of the activity, or two seconds ahead for an
    ///     end.
    ///   - priority: The priority of the delivery.
    ///   - expiration: The time until which APNs may deliver the push; nil, the default, for APNs' default.
    ///   - options: The differences from the configuration for this push.
    /// - Returns: The receipt of an accepted push.
    /// - Throws: ``APNsError``, for the same reasons as ``send(_:to:topic:options:)``; with the code `overloaded` when
    ///   so many updates of the activity are waiting that this one would not be sent within its timeout.
    @discardableResult
    public func send(
        _ update: LiveActivityUpdate,
        toActivity token: DeviceToken,
        topic: Topic,
        timestamp: Date? = nil,
        priority: LiveActivityPriority = .powerAware,
        expiration: PushNotification.Expiration? = nil,
        options: SendOptions = SendOptions()
    ) async throws(APNsError) -> PushReceipt {
        let event = ActivityTimestamps.Event(update)
        return try await withSlot(event, for: .token(token), chosen: timestamp, options) { slot throws(APNsError) in
            let notification = try writing { () throws(PayloadError) in
                try PushNotification.liveActivity(
                    update,
                    timestamp: slot.date,
                    priority: priority,
                    expiration: expiration
                )
            }
            let push = try push(notification, to: token, topic: topic, options: options, after: slot.delay)
            return try await pool.send(push).receipt
        }
    }

    /// Sends a push to a Live Activity with a timestamp, which is released if the push certainly did not reach the
    /// device.
    ///
    /// - Parameters:
    ///   - event: The event of the push.
    ///   - address: The activity's token or channel.
    ///   - chosen: The caller's timestamp; nil to let the client choose.
    ///   - options: The options with the timeout that limits the wait.
    ///   - send: Creates the push and sends it.
    /// - Returns: The result of `send`.
    /// - Throws: ``APNsError`` with the code `invalid` for a chosen timestamp that is out of range, with the code
    ///   `overloaded` when the wait would exceed the timeout, and the errors of `send`.
    func withSlot(
        _ event: ActivityTimestamps.Event,
        for address: ActivityTimestamps.Address,
        chosen: Date?,
        _ options: SendOptions,
        _ send: (ActivityTimestamps.Slot) async throws(APNsError) -> PushReceipt
    ) async throws(APNsError) -> PushReceipt {
        let timeout = options.timeout ?? configuration.sendTimeout
        let slot = try timestamps.slot(event, for: address, chosen: chosen, within: timeout)
        do throws(APNsError) {
            let receipt = try await send(slot)
            timestamps.settle(slot, for: address)
            return receipt
        } catch {
            timestamps.settle(slot, for: address, after: error)
            throw error
        }
    }
}

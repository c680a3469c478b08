public import APNs
internal import Synchronization

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
    ///     that any update that follows is later.
    ///   - priority: How soon it should arrive.
    ///   - expiration: Until when it is worth delivering; nil, the default, leaves it to APNs.
    ///   - options: What is to be different from the configuration for this push.
    /// - Returns: The receipt of an accepted push.
    /// - Throws: ``APNsError``, as ``send(_:to:topic:options:)`` does.
    @discardableResult
    public func start(
        _ activity: LiveActivityStart,
        on token: DeviceToken,
        topic: Topic,
        timestamp: Date? = nil,
        priority: LiveActivityPriority = .immediate,
        expiration: Expiration? = nil,
        options: SendOptions = SendOptions()
    ) async throws(APNsError) -> PushReceipt {
        let slot = try slot(.start, for: .token(token), chosen: timestamp, options)
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

    /// Changes or ends a Live Activity.
    ///
    /// The phone ignores an update whose timestamp, in whole seconds, is not later than that of the content it shows.
    /// The client therefore gives each update of an activity a second of its own: one that follows within the same
    /// second waits for the next, and no timestamp of an update is ahead of the clock, so that processes that share
    /// nothing do not make each other's updates stale. An update that was refused or not sent leaves its second to the
    /// next one, unless a later second was given out in the meantime. Give a `timestamp` when several processes may
    /// update one activity within a second and have a common count of seconds.
    ///
    /// - Parameters:
    ///   - update: The change.
    ///   - token: The activity's own token.
    ///   - topic: The app's bundle identifier.
    ///   - timestamp: The time of the push, rounded down to a whole second and sent as it is; nil, the default, for the
    ///     first second that the client has given to no other update of the activity.
    ///   - priority: How soon it should arrive.
    ///   - expiration: Until when it is worth delivering; nil, the default, leaves it to APNs.
    ///   - options: What is to be different from the configuration for this push.
    /// - Returns: The receipt of an accepted push.
    /// - Throws: ``APNsError``, as ``send(_:to:topic:options:)`` does; with the code `overloaded` when so many updates
    ///   of the activity wait that this one would not be sent within its timeout.
    @discardableResult
    public func send(
        _ update: LiveActivityUpdate,
        toActivity token: DeviceToken,
        topic: Topic,
        timestamp: Date? = nil,
        priority: LiveActivityPriority = .powerAware,
        expiration: Expiration? = nil,
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

    /// Sends a push to a Live Activity with a timestamp, which the push gives back if it certainly did not reach the
    /// phone.
    ///
    /// - Parameters:
    ///   - event: What the push does.
    ///   - address: The activity's token or channel.
    ///   - chosen: The timestamp that the caller wants; nil to let the client choose.
    ///   - options: The timeout that bounds the wait.
    ///   - send: Makes the push and sends it.
    /// - Returns: What `send` returns.
    /// - Throws: ``APNsError`` with the code `invalid` for a chosen timestamp that is out of range, with the code
    ///   `overloaded` when the wait would exceed the timeout, and what `send` throws.
    func withSlot(
        _ event: ActivityTimestamps.Event,
        for address: ActivityTimestamps.Address,
        chosen: Date?,
        _ options: SendOptions,
        _ send: (ActivityTimestamps.Slot) async throws(APNsError) -> PushReceipt
    ) async throws(APNsError) -> PushReceipt {
        let slot = try slot(event, for: address, chosen: chosen, options)
        do throws(APNsError) {
            let receipt = try await send(slot)
            settle(slot, for: address)
            return receipt
        } catch {
            settle(slot, for: address, after: error)
            throw error
        }
    }

    /// The timestamp of a push to a Live Activity, and how long the push waits.
    ///
    /// - Parameters:
    ///   - event: What the push does.
    ///   - address: The activity's token or channel.
    ///   - chosen: The timestamp that the caller wants; nil to let the client choose.
    ///   - options: The timeout that bounds the wait.
    /// - Returns: The timestamp and the wait.
    /// - Throws: ``APNsError`` with the code `invalid` for a chosen timestamp that is out of range, or `overloaded`
    ///   when the wait would exceed the timeout.
    func slot(
        _ event: ActivityTimestamps.Event,
        for address: ActivityTimestamps.Address,
        chosen: Date?,
        _ options: SendOptions
    ) throws(APNsError) -> ActivityTimestamps.Slot {
        let now = clock.microsecondsSince1970()
        if let chosen {
            let timestamp = try writing { () throws(PayloadError) in try PayloadDate.seconds(chosen, for: "timestamp") }
            guard event != .start else {
                return ActivityTimestamps.Slot(timestamp: timestamp, delay: .zero, isHeld: false)
            }
            return activityTimestamps.withLock { $0.chosen(timestamp, for: address, at: now) }
        }
        let timeout = options.timeout ?? configuration.sendTimeout
        let slot = activityTimestamps.withLock { $0.next(event, for: address, at: now, within: timeout) }
        guard let slot else {
            throw APNsError(
                .overloaded,
                description: "the updates of this Live Activity that wait take longer than \(timeout), as each needs a "
                    + "second of its own: send only the newest state, or allow a longer timeout"
            )
        }
        return slot
    }

    /// Keeps the timestamp of a push that may have reached the phone, and gives back that of any other.
    ///
    /// - Parameters:
    ///   - slot: The push's slot.
    ///   - address: The address that the slot was given for.
    ///   - error: The reason why the push failed; nil when it was accepted.
    func settle(
        _ slot: ActivityTimestamps.Slot,
        for address: ActivityTimestamps.Address,
        after error: APNsError? = nil
    ) {
        // An earlier try without an answer may have been delivered, too.
        let isUsed = error.map { $0.outcome == .unknown || $0.unknownTries > 0 } ?? true
        activityTimestamps.withLock { $0.settle(slot, for: address, isUsed: isUsed) }
    }
}

extension ActivityTimestamps.Slot {
    /// The timestamp as a date.
    var date: Date { Date(secondsSince1970: timestamp) }
}

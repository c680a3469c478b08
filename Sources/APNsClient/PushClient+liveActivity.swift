public import APNs

extension PushClient {
    /// Starts a Live Activity on a device (iOS and iPadOS 17.2).
    ///
    /// - Parameters:
    ///   - activity: The activity.
    ///   - token: The device's push-to-start token.
    ///   - topic: The app's bundle identifier.
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
        priority: LiveActivityPriority = .immediate,
        expiration: Expiration? = nil,
        options: SendOptions = SendOptions()
    ) async throws(APNsError) -> PushReceipt {
        let notification = try activityPush(to: token) { (timestamp) throws(PayloadError) in
            try .liveActivity(activity, timestamp: timestamp, priority: priority, expiration: expiration)
        }
        return try await send(notification, to: token, topic: topic, options: options)
    }

    /// Changes or ends a Live Activity.
    ///
    /// Each call about one activity carries a higher timestamp than the one before, as the phone keeps the newest.
    ///
    /// - Parameters:
    ///   - update: The change.
    ///   - token: The activity's own token.
    ///   - topic: The app's bundle identifier.
    ///   - priority: How soon it should arrive.
    ///   - expiration: Until when it is worth delivering; nil, the default, leaves it to APNs.
    ///   - options: What is to be different from the configuration for this push.
    /// - Returns: The receipt of an accepted push.
    /// - Throws: ``APNsError``, as ``send(_:to:topic:options:)`` does.
    @discardableResult
    public func send(
        _ update: LiveActivityUpdate,
        toActivity token: DeviceToken,
        topic: Topic,
        priority: LiveActivityPriority = .powerAware,
        expiration: Expiration? = nil,
        options: SendOptions = SendOptions()
    ) async throws(APNsError) -> PushReceipt {
        let notification = try activityPush(to: token) { (timestamp) throws(PayloadError) in
            try .liveActivity(update, timestamp: timestamp, priority: priority, expiration: expiration)
        }
        return try await send(notification, to: token, topic: topic, options: options)
    }

    /// A push about an activity, with a higher timestamp than the one before.
    private func activityPush(
        to token: DeviceToken,
        _ write: (Int64) throws(PayloadError) -> PushNotification
    ) throws(APNsError) -> PushNotification {
        let timestamp = activityTimestamps.next(for: token.hex)
        return try writing { () throws(PayloadError) in try write(timestamp) }
    }
}

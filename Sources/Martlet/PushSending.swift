// SPDX-License-Identifier: Apache-2.0

public import MartletCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The sending of single pushes: what a service needs of a ``PushClient``, and what a fake implements in its tests.
///
/// A type that implements ``send(_:to:topic:options:)`` and
/// ``broadcast(_:to:topic:timestamp:priority:expiration:options:)`` has the functions for Live Activities, which send
/// notifications with the timestamp of a first push. A ``PushClient`` gives each push of an activity its own second.
public protocol PushSending: Sendable {
    /// Sends a notification to one device; see ``PushClient/send(_:to:topic:options:)``.
    @discardableResult
    func send(
        _ notification: PushNotification,
        to token: DeviceToken,
        topic: Topic,
        options: SendOptions
    ) async throws(APNsError) -> PushReceipt

    /// Starts a Live Activity; see
    /// ``PushClient/startLiveActivity(_:on:topic:timestamp:priority:expiration:options:)``.
    @discardableResult
    func startLiveActivity(
        _ activity: LiveActivityStart,
        on token: DeviceToken,
        topic: Topic,
        timestamp: Date?,
        priority: LiveActivityPriority,
        expiration: PushNotification.Expiration?,
        options: SendOptions
    ) async throws(APNsError) -> PushReceipt

    /// Updates or ends a Live Activity; see
    /// ``PushClient/send(_:toActivity:topic:timestamp:priority:expiration:options:)``.
    @discardableResult
    func send(
        _ update: LiveActivityUpdate,
        toActivity token: DeviceToken,
        topic: Topic,
        timestamp: Date?,
        priority: LiveActivityPriority,
        expiration: PushNotification.Expiration?,
        options: SendOptions
    ) async throws(APNsError) -> PushReceipt

    /// Sends an update or end to a channel; see
    /// ``PushClient/broadcast(_:to:topic:timestamp:priority:expiration:options:)``.
    @discardableResult
    func broadcast(
        _ update: LiveActivityUpdate,
        to channel: ChannelID,
        topic: Topic,
        timestamp: Date?,
        priority: PushNotification.Priority,
        expiration: PushNotification.Expiration,
        options: SendOptions
    ) async throws(APNsError) -> PushReceipt
}

extension PushClient: PushSending {}

extension PushSending {
    /// Sends a notification to one device; see ``PushClient/send(_:to:topic:options:)``.
    @discardableResult
    public func send(
        _ notification: PushNotification,
        to token: DeviceToken,
        topic: Topic
    ) async throws(APNsError) -> PushReceipt {
        try await send(notification, to: token, topic: topic, options: SendOptions())
    }

    /// Starts a Live Activity; see
    /// ``PushClient/startLiveActivity(_:on:topic:timestamp:priority:expiration:options:)``.
    @discardableResult
    public func startLiveActivity(
        _ activity: LiveActivityStart,
        on token: DeviceToken,
        topic: Topic
    ) async throws(APNsError) -> PushReceipt {
        try await startLiveActivity(
            activity,
            on: token,
            topic: topic,
            timestamp: nil,
            priority: .immediate,
            expiration: nil,
            options: SendOptions()
        )
    }

    /// Updates or ends a Live Activity; see
    /// ``PushClient/send(_:toActivity:topic:timestamp:priority:expiration:options:)``.
    @discardableResult
    public func send(
        _ update: LiveActivityUpdate,
        toActivity token: DeviceToken,
        topic: Topic
    ) async throws(APNsError) -> PushReceipt {
        try await send(update, toActivity: token, topic: topic, priority: .powerAware, options: SendOptions())
    }

    /// Sends an update with the timestamp and the expiration that its sender chooses.
    private func send(
        _ update: LiveActivityUpdate,
        toActivity token: DeviceToken,
        topic: Topic,
        priority: LiveActivityPriority,
        options: SendOptions
    ) async throws(APNsError) -> PushReceipt {
        try await send(
            update,
            toActivity: token,
            topic: topic,
            timestamp: nil,
            priority: priority,
            expiration: nil,
            options: options
        )
    }

    /// Shows new content in a Live Activity.
    ///
    /// - Parameters:
    ///   - token: The activity's own token.
    ///   - state: The new content.
    ///   - topic: The app's bundle identifier.
    ///   - alert: The alert shown to the user; nil to change the content silently.
    ///   - staleDate: The time from which the content counts as outdated.
    ///   - relevanceScore: The rank among several activities; the one with the highest score is shown first.
    ///   - priority: The priority of the delivery; only immediate pushes count against the system's budget.
    ///   - options: The differences from the configuration for this push.
    /// - Returns: The receipt of an accepted push.
    /// - Throws: ``APNsError``, for the same reasons as
    ///   ``PushClient/send(_:toActivity:topic:timestamp:priority:expiration:options:)``, and with the code `invalid` if
    ///   the state does not encode to a JSON object.
    @discardableResult
    public func updateLiveActivity(
        _ token: DeviceToken,
        state: some Encodable,
        topic: Topic,
        alert: LiveActivityAlert? = nil,
        staleDate: Date? = nil,
        relevanceScore: Double? = nil,
        priority: LiveActivityPriority = .powerAware,
        options: SendOptions = SendOptions()
    ) async throws(APNsError) -> PushReceipt {
        let update = try writing { () throws(PayloadError) in
            try LiveActivityUpdate.update(state, alert: alert, staleDate: staleDate, relevanceScore: relevanceScore)
        }
        return try await send(update, toActivity: token, topic: topic, priority: priority, options: options)
    }

    /// Ends a Live Activity, which keeps its current content until it is dismissed.
    ///
    /// - Parameters:
    ///   - token: The activity's own token.
    ///   - topic: The app's bundle identifier.
    ///   - dismissal: The time at which the activity is removed from the Lock Screen.
    ///   - priority: The priority of the delivery; only immediate pushes count against the system's budget.
    ///   - options: The differences from the configuration for this push.
    /// - Returns: The receipt of an accepted push.
    /// - Throws: ``APNsError``, for the same reasons as
    ///   ``PushClient/send(_:toActivity:topic:timestamp:priority:expiration:options:)``.
    @discardableResult
    public func endLiveActivity(
        _ token: DeviceToken,
        topic: Topic,
        dismissal: LiveActivityUpdate.Dismissal = .default,
        priority: LiveActivityPriority = .powerAware,
        options: SendOptions = SendOptions()
    ) async throws(APNsError) -> PushReceipt {
        let end = LiveActivityUpdate.end(dismissal: dismissal)
        return try await send(end, toActivity: token, topic: topic, priority: priority, options: options)
    }

    /// Ends a Live Activity with final content.
    ///
    /// - Parameters:
    ///   - token: The activity's own token.
    ///   - state: The final content, which is shown until the dismissal.
    ///   - topic: The app's bundle identifier.
    ///   - dismissal: The time at which the activity is removed from the Lock Screen.
    ///   - alert: The alert shown to the user; nil to end the activity silently.
    ///   - priority: The priority of the delivery; only immediate pushes count against the system's budget.
    ///   - options: The differences from the configuration for this push.
    /// - Returns: The receipt of an accepted push.
    /// - Throws: ``APNsError``, for the same reasons as
    ///   ``PushClient/send(_:toActivity:topic:timestamp:priority:expiration:options:)``, and with the code `invalid` if
    ///   the state does not encode to a JSON object.
    @discardableResult
    public func endLiveActivity(
        _ token: DeviceToken,
        state: some Encodable,
        topic: Topic,
        dismissal: LiveActivityUpdate.Dismissal = .default,
        alert: LiveActivityAlert? = nil,
        priority: LiveActivityPriority = .powerAware,
        options: SendOptions = SendOptions()
    ) async throws(APNsError) -> PushReceipt {
        let end = try writing { () throws(PayloadError) in
            try LiveActivityUpdate.end(state, dismissal: dismissal, alert: alert)
        }
        return try await send(end, toActivity: token, topic: topic, priority: priority, options: options)
    }

    /// Sends an update or end to a channel; see
    /// ``PushClient/broadcast(_:to:topic:timestamp:priority:expiration:options:)``.
    @discardableResult
    public func broadcast(
        _ update: LiveActivityUpdate,
        to channel: ChannelID,
        topic: Topic
    ) async throws(APNsError) -> PushReceipt {
        try await broadcast(
            update,
            to: channel,
            topic: topic,
            timestamp: nil,
            priority: .powerAware,
            expiration: .attemptOnce,
            options: SendOptions()
        )
    }
}

// Default implementations, so that a fake needs none. They have no default arguments: a call that omits arguments would
// choose them in place of a client's own functions, which give each push of an activity a second of its own.
extension PushSending {
    /// Starts a Live Activity by a notification with the time of two seconds ago, as ``PushClient`` does.
    @discardableResult
    public func startLiveActivity(
        _ activity: LiveActivityStart,
        on token: DeviceToken,
        topic: Topic,
        timestamp: Date?,
        priority: LiveActivityPriority,
        expiration: PushNotification.Expiration?,
        options: SendOptions
    ) async throws(APNsError) -> PushReceipt {
        let notification = try writing { () throws(PayloadError) in
            try PushNotification.liveActivity(
                activity,
                timestamp: timestamp ?? ActivityTimestampSource(clock: .system).unassigned(.start),
                priority: priority,
                expiration: expiration
            )
        }
        return try await send(notification, to: token, topic: topic, options: options)
    }

    /// Updates or ends a Live Activity by a notification with the current time, an end with that in two seconds.
    @discardableResult
    public func send(
        _ update: LiveActivityUpdate,
        toActivity token: DeviceToken,
        topic: Topic,
        timestamp: Date?,
        priority: LiveActivityPriority,
        expiration: PushNotification.Expiration?,
        options: SendOptions
    ) async throws(APNsError) -> PushReceipt {
        let notification = try writing { () throws(PayloadError) in
            try PushNotification.liveActivity(
                update,
                timestamp: timestamp ?? ActivityTimestampSource(clock: .system).unassigned(.init(update)),
                priority: priority,
                expiration: expiration
            )
        }
        return try await send(notification, to: token, topic: topic, options: options)
    }
}

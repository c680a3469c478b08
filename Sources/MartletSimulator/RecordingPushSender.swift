// SPDX-License-Identifier: Apache-2.0

public import Martlet
public import MartletCore
internal import Synchronization

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A fake `PushSending` that records pushes and sends nothing, for tests of code that sends.
///
/// ```swift
/// let sender = RecordingPushSender()
/// try await sender.send(.alert("Ready"), to: token, topic: "com.example.app")
/// let topics = sender.pushes.map(\.topic)
/// ```
///
/// Use ``SimulatedAPNs`` in a test that should also find payloads that Apple rejects, and in a test of bulk sends.
public final class RecordingPushSender: PushSending {
    /// A push that was recorded.
    public enum Push: Sendable, Hashable, CustomStringConvertible {
        /// A notification to a device, also of a Live Activity.
        case notification(PushNotification, to: DeviceToken, topic: Topic)
        /// An update or end that was sent to a channel.
        case broadcast(LiveActivityUpdate, to: ChannelID, topic: Topic)

        /// The topic.
        public var topic: Topic {
            switch self {
            case .notification(_, _, let topic), .broadcast(_, _, let topic): topic
            }
        }

        /// The push in one line, with the first digits of the device token.
        public var description: String {
            switch self {
            case .notification(let notification, let token, let topic):
                "push to \(token) for \(topic): \(notification)"
            case .broadcast(let update, let channel, let topic):
                "broadcast to channel \(channel) of \(topic): \(update)"
            }
        }
    }

    private let recorded = Mutex<[(push: Push, options: SendOptions)]>([])
    private let answer: @Sendable (Push) -> Result<PushReceipt, APNsError>

    /// Creates a sender.
    ///
    /// - Parameter answer: Returns the result of a push; by default every push is accepted.
    public init(
        answer: @escaping @Sendable (Push) -> Result<PushReceipt, APNsError> = { _ in
            .success(PushReceipt(id: .random()))
        }
    ) {
        self.answer = answer
    }

    /// Creates a sender whose pushes all fail.
    ///
    /// - Parameter error: The error, such as `.refused(.unregistered)`.
    public convenience init(error: APNsError) {
        self.init { _ in .failure(error) }
    }

    /// The pushes so far, in the order in which they were sent.
    public var pushes: [Push] { recorded.withLock { $0.map { $0.push } } }

    /// The options of the pushes so far, in the order of ``pushes``.
    public var options: [SendOptions] { recorded.withLock { $0.map { $0.options } } }

    /// Records a notification.
    @discardableResult
    public func send(
        _ notification: PushNotification,
        to token: DeviceToken,
        topic: Topic,
        options: SendOptions
    ) async throws(APNsError) -> PushReceipt {
        try record(.notification(notification, to: token, topic: topic), options)
    }

    /// Records a broadcast.
    @discardableResult
    public func broadcast(
        _ update: LiveActivityUpdate,
        to channel: ChannelID,
        topic: Topic,
        timestamp: Date?,
        priority: PushNotification.Priority,
        expiration: PushNotification.Expiration,
        options: SendOptions
    ) async throws(APNsError) -> PushReceipt {
        try record(.broadcast(update, to: channel, topic: topic), options)
    }

    private func record(_ push: Push, _ options: SendOptions) throws(APNsError) -> PushReceipt {
        recorded.withLock { $0.append((push, options)) }
        return try answer(push).get()
    }
}

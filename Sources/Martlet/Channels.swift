// SPDX-License-Identifier: Apache-2.0

public import MartletCore
internal import MartletTransport

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension PushClient {
    /// The broadcast channels of one app: functions to create, read, list and delete them.
    ///
    /// Get it from ``PushClient/channels(of:options:)``. An app may have 10,000 channels in each environment. Source:
    /// "Sending channel management requests to APNs".
    public struct Channels: Sendable {
        private let client: PushClient
        private let app: Topic
        private let options: SendOptions

        init(_ client: PushClient, app: Topic, options: SendOptions) {
            self.client = client
            self.app = app
            self.options = options
        }

        /// Creates a channel.
        ///
        /// - Parameter storage: The pushes that APNs stores for offline devices.
        /// - Returns: The channel's identifier, which APNs assigns; store it.
        /// - Throws: ``APNsError``; with the reason `CannotCreateChannelConfig` when the app has the maximum number of
        ///   channels.
        public func create(storing storage: ChannelStorage = .nothing) async throws(APNsError) -> ChannelID {
            let acceptance = try await send(.create(storing: storage))
            guard let id = acceptance.fields["apns-channel-id"], !id.isEmpty else {
                throw unreadable("the response contains no channel identifier")
            }
            return ChannelID(id)
        }

        /// Returns the storage policy of a channel.
        ///
        /// - Parameter channel: The channel.
        /// - Returns: The storage policy with which the channel was created.
        /// - Throws: ``APNsError``; with the reason `ChannelNotRegistered` when there is no such channel.
        public func storage(of channel: ChannelID) async throws(APNsError) -> ChannelStorage {
            let acceptance = try await send(.read(channel))
            guard let answer = try? JSONReader.read(acceptance.body),
                let policy = answer["message-storage-policy"]?.integerValue,
                let storage = ChannelStorage(rawValue: Int(clamping: policy))
            else { throw unreadable("the response contains no known storage policy") }
            return storage
        }

        /// Deletes a channel permanently; succeeds when the channel no longer exists.
        ///
        /// - Parameter channel: The channel.
        /// - Throws: ``APNsError`` when the channel may still exist.
        public func delete(_ channel: ChannelID) async throws(APNsError) {
            do throws(APNsError) {
                _ = try await send(.delete(channel))
            } catch {
                // APNs has been observed to answer `BadPath` instead of the documented reason.
                guard error.reason == .channelNotRegistered || error.reason == .badPath else { throw error }
            }
        }

        /// Returns all channels of the app in this environment, at most 10,000.
        ///
        /// - Returns: The channel identifiers, in no particular order.
        /// - Throws: ``APNsError``.
        public func list() async throws(APNsError) -> [ChannelID] {
            let acceptance = try await send(.list)
            guard let answer = try? JSONReader.read(acceptance.body), case .array(let elements)? = answer["channels"]
            else {
                throw unreadable("the response contains no list of channels")
            }
            return elements.compactMap { $0.stringValue.map(ChannelID.init(rawValue:)) }
        }

        /// Returns the content of a request without sending it.
        ///
        /// - Parameter request: The request.
        /// - Returns: The fields and the body.
        public func describe(_ request: Request) -> RequestDescription {
            client.describe(request, of: app)
        }

        private func send(_ request: Request) async throws(APNsError) -> AcceptedResponse {
            try await client.send(request, of: app, options: options)
        }

        private func unreadable(_ what: String) -> APNsError {
            APNsError(.unreadableAnswer, description: "\(what): is the server APNs?", outcome: .answered)
        }
    }
}

extension PushClient {
    /// Returns the broadcast channels of an app.
    ///
    /// They are managed over separate connections, because Apple has separate hosts for this.
    ///
    /// - Parameters:
    ///   - app: The app's bundle identifier, without any suffix.
    ///   - options: The differences from the configuration.
    /// - Returns: The channels.
    public func channels(of app: Topic, options: SendOptions = SendOptions()) -> Channels {
        Channels(self, app: app, options: options)
    }

    /// Sends a Live Activity's update or end to all devices that are subscribed to a channel (iOS and iPadOS 18).
    ///
    /// - Parameters:
    ///   - update: The update of the activities.
    ///   - channel: The channel.
    ///   - topic: The app's bundle identifier, without any suffix.
    ///   - timestamp: The time of the push, rounded down to a whole second and sent unchanged; nil, the default, for
    ///     the first second that the client has used for no other update on the channel, which may take a second, or
    ///     two seconds ahead for an end.
    ///   - priority: The priority of the delivery.
    ///   - expiration: The time until which APNs stores the push for offline devices, at most eight hours. By default
    ///     it is not stored, as required for channels that store nothing.
    ///   - options: The differences from the configuration.
    /// - Returns: The receipt; accepted does not mean delivered.
    /// - Throws: ``APNsError``, for the same reasons as
    ///   ``send(_:toActivity:topic:timestamp:priority:expiration:options:)``.
    @discardableResult
    public func broadcast(
        _ update: LiveActivityUpdate,
        to channel: ChannelID,
        topic: Topic,
        timestamp: Date? = nil,
        priority: PushNotification.Priority = .powerAware,
        expiration: PushNotification.Expiration = .attemptOnce,
        options: SendOptions = SendOptions()
    ) async throws(APNsError) -> PushReceipt {
        let id = identifiers.next()
        let address = ActivityTimestamps.Address.channel(channel, app: topic)
        let event = ActivityTimestamps.Event(update)
        return try await withSlot(event, for: address, chosen: timestamp, options) { slot throws(APNsError) in
            let broadcast = try writing(for: id) { () throws(PayloadError) in
                try LiveActivityBroadcast(
                    update,
                    on: channel,
                    of: topic,
                    timestamp: slot.date,
                    priority: priority,
                    expiration: expiration
                )
            }
            return try await send(broadcast, id: id, options: options, after: slot.delay).receipt
        }
    }
}

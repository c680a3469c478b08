public import APNs
internal import Wire

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The broadcast channels of one app: made, looked at and deleted.
///
/// Get it from ``PushClient/channels(of:options:)``. An app may have 10 000 channels in each environment.
/// Source: "Sending channel management requests to APNs".
public struct Channels: Sendable {
    private let client: PushClient
    private let app: Topic
    private let options: SendOptions

    init(_ client: PushClient, app: Topic, options: SendOptions) {
        self.client = client
        self.app = app
        self.options = options
    }

    /// Makes a channel.
    ///
    /// - Parameter storage: What APNs keeps of its pushes for devices that are away.
    /// - Returns: The channel's identifier, which only APNs can make up: keep it.
    /// - Throws: ``APNsError``; with the reason `CannotCreateChannelConfig` when the app has as many as it may.
    public func create(storing storage: ChannelStorage = .nothing) async throws(APNsError) -> ChannelID {
        let acceptance = try await send(.create(storing: storage))
        guard let id = acceptance.fields["apns-channel-id"], !id.isEmpty else {
            throw unreadable("the answer names no channel")
        }
        return ChannelID(id)
    }

    /// What APNs keeps of a channel's pushes.
    ///
    /// - Parameter channel: The channel.
    /// - Returns: What it was created with.
    /// - Throws: ``APNsError``; with the reason `ChannelNotRegistered` when there is no such channel.
    public func storage(of channel: ChannelID) async throws(APNsError) -> ChannelStorage {
        let acceptance = try await send(.read(channel))
        guard let answer = try? JSONReader.read(acceptance.body),
            let policy = answer["message-storage-policy"]?.integerValue,
            let storage = ChannelStorage(rawValue: Int(clamping: policy))
        else { throw unreadable("the answer names no storage policy that is known") }
        return storage
    }

    /// Deletes a channel for good; one that is gone already is as good as deleted.
    ///
    /// - Parameter channel: The channel.
    /// - Throws: ``APNsError`` when it may still be there.
    public func delete(_ channel: ChannelID) async throws(APNsError) {
        do throws(APNsError) {
            _ = try await send(.delete(channel))
        } catch {
            // A path that is unknown was seen in place of the documented reason.
            guard error.reason == .channelNotRegistered || error.reason == .badPath else { throw error }
        }
    }

    /// All channels of the app in this environment, 10 000 at most.
    ///
    /// - Returns: Their identifiers, in no order.
    /// - Throws: ``APNsError``.
    public func list() async throws(APNsError) -> [ChannelID] {
        let acceptance = try await send(.list)
        guard let answer = try? JSONReader.read(acceptance.body), case .array(let elements)? = answer["channels"] else {
            throw unreadable("the answer has no list of channels")
        }
        return elements.compactMap { $0.stringValue.map(ChannelID.init(rawValue:)) }
    }

    /// What a request would send, without sending it.
    ///
    /// - Parameter request: The request.
    /// - Returns: Its fields and its body.
    public func describe(_ request: Request) -> RequestDescription {
        client.describe(ChannelRequest(app: app, content: request))
    }

    private func send(_ request: Request) async throws(APNsError) -> Acceptance {
        try await client.send(ChannelRequest(app: app, content: request), options: options)
    }

    private func unreadable(_ what: String) -> APNsError {
        APNsError(.unreadableAnswer, description: "\(what): is it APNs?", outcome: .answered)
    }
}

extension PushClient {
    /// The broadcast channels of an app.
    ///
    /// They are managed over connections of their own, as Apple has other hosts for that.
    ///
    /// - Parameters:
    ///   - app: The app's bundle identifier, without any suffix.
    ///   - options: What is to be different from the configuration.
    /// - Returns: The channels.
    public func channels(of app: Topic, options: SendOptions = SendOptions()) -> Channels {
        Channels(self, app: app, options: options)
    }

    /// Sends a Live Activity's update or end to everybody who listens on a channel (iOS and iPadOS 18).
    ///
    /// - Parameters:
    ///   - update: What the activities are told.
    ///   - channel: The channel.
    ///   - app: The app's bundle identifier, without any suffix.
    ///   - timestamp: The time of the push, rounded down to a whole second and sent as it is; nil, the default, for the
    ///     first second that the client has given to no other broadcast on the channel, which may take a second.
    ///   - priority: How soon it should arrive.
    ///   - expiration: Until when APNs keeps it for devices that are away, eight hours at most; by default it does not,
    ///     as channels that store nothing demand.
    ///   - options: What is to be different from the configuration.
    /// - Returns: The receipt; accepted does not mean delivered.
    /// - Throws: ``APNsError``, as ``send(_:toActivity:topic:timestamp:priority:expiration:options:)`` does.
    @discardableResult
    public func broadcast(
        _ update: LiveActivityUpdate,
        on channel: ChannelID,
        of app: Topic,
        timestamp: Date? = nil,
        priority: Priority = .powerAware,
        expiration: Expiration = .attemptOnce,
        options: SendOptions = SendOptions()
    ) async throws(APNsError) -> PushReceipt {
        let id = identifiers.next()
        let address = ActivityTimestamps.Address.channel(channel, app: app)
        let event = ActivityTimestamps.Event(update)
        return try await withSlot(event, for: address, chosen: timestamp, options) { slot throws(APNsError) in
            let broadcast = try writing(for: id) { () throws(PayloadError) in
                try Broadcast(
                    update,
                    on: channel,
                    of: app,
                    timestamp: slot.date,
                    priority: priority,
                    expiration: expiration
                )
            }
            return try await send(broadcast, id: id, options: options, after: slot.delay).receipt
        }
    }
}

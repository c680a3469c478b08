// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The subscribers of each channel, and the broadcast that is stored for later subscribers.
struct ChannelSubscriptions {
    private var subscribers: [ChannelID: Set<String>] = [:]
    private var storedBroadcasts: [ChannelID: DeliveredPush] = [:]

    /// Returns the tokens that subscribe to a channel.
    func tokens(of channel: ChannelID) -> Set<String> { subscribers[channel] ?? [] }

    /// Adds a subscriber to a channel.
    ///
    /// - Returns: The stored broadcast of the channel; nil for none.
    mutating func add(_ token: String, to channel: ChannelID) -> DeliveredPush? {
        subscribers[channel, default: []].insert(token)
        return storedBroadcasts[channel]
    }

    /// Removes a subscriber from a channel.
    mutating func remove(_ token: String, from channel: ChannelID) {
        subscribers[channel]?.remove(token)
        if subscribers[channel]?.isEmpty == true { subscribers[channel] = nil }
    }

    /// Stores a broadcast in place of the previous one on its channel.
    mutating func store(_ push: DeliveredPush, on channel: ChannelID) {
        storedBroadcasts[channel] = push
    }

    /// Removes a deleted channel.
    ///
    /// - Returns: The tokens that subscribed to it.
    mutating func remove(_ channel: ChannelID) -> Set<String> {
        storedBroadcasts[channel] = nil
        return subscribers.removeValue(forKey: channel) ?? []
    }
}

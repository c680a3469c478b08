// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The broadcast channels of a simulator, by app.
struct ChannelRegistry {
    private var apps: [String: [ChannelID: ChannelStorage]] = [:]

    /// Creates a channel with a random identifier; returns nil when the app has the maximum number of channels.
    mutating func create(
        for app: String,
        storing storage: ChannelStorage,
        using generator: inout some RandomNumberGenerator
    ) -> ChannelID? {
        guard apps[app, default: [:]].count < PushLimits.channelCount else { return nil }
        let bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let id = ChannelID(Data(bytes).base64EncodedString())
        apps[app, default: [:]][id] = storage
        return id
    }

    /// Adds the channels of an archive.
    mutating func restore(_ channels: [PushArchive.StoredChannel]) {
        for stored in channels { apps[stored.app, default: [:]][stored.channel] = stored.storage }
    }

    /// Returns the storage policy of a channel; nil when the app has no such channel.
    func storage(of channel: String, in app: String) -> ChannelStorage? {
        apps[app]?[ChannelID(channel)]
    }

    /// Deletes a channel.
    mutating func delete(_ channel: String, in app: String) {
        apps[app]?.removeValue(forKey: ChannelID(channel))
    }

    /// All channels of all apps, sorted by app and identifier.
    var allChannels: [(app: String, ChannelID, ChannelStorage)] {
        apps.sorted { $0.key < $1.key }.flatMap { app, channels in
            channels.sorted { $0.key.rawValue < $1.key.rawValue }.map { (app, $0.key, $0.value) }
        }
    }

    /// Returns the channels of an app, sorted by identifier.
    func all(of app: String) -> [ChannelID] {
        apps[app, default: [:]].keys.sorted { $0.rawValue < $1.rawValue }
    }
}

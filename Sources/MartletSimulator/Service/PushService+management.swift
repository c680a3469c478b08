// SPDX-License-Identifier: Apache-2.0

internal import Martlet
internal import MartletCore

/// The changes of channels and faults, which need more than a change of the state.
extension PushService {
    /// Creates a channel and saves it; returns nil when the app has the maximum number of channels.
    func createChannel(for app: String, storing storage: ChannelStorage) -> ChannelID? {
        let channel = update { machine, _ in machine.createChannel(for: app, storing: storage) }
        if let channel { save(channel, of: app) }
        return channel
    }

    /// Deletes a channel; returns false when the app has no channel with this identifier.
    func deleteChannel(_ channel: ChannelID, of app: String) -> Bool {
        let isDeleted = update { machine, _ in machine.deleteChannel(channel, of: app) }
        if isDeleted { save(channel, of: app) }
        return isDeleted
    }

    /// Removes a fault; returns false when there is none with this index.
    func removeFault(at index: Int) -> Bool {
        guard plan.faults.indices.contains(index) else { return false }
        updateFaults(endsLimits: true) { machine in machine.removeFault(at: index) }
        return true
    }
}

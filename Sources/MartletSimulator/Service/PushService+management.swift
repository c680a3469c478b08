internal import Martlet
internal import MartletCore

/// The management of devices, channels, signing keys, contracts and faults.
extension PushService {
    // MARK: Devices

    /// Registers a device for topics in an environment.
    func register(_ token: DeviceToken, for topics: [Topic], in environment: SimulatedAPNs.Environment) {
        update { machine, _ in machine.judge.devices.register(token, for: topics, in: environment) }
    }

    /// Marks a device's token as invalid since a time in milliseconds since 1970; nil for now.
    func unregister(_ token: DeviceToken, since milliseconds: Int64?) {
        update { machine, now in machine.judge.devices.unregister(token, since: milliseconds ?? now * 1_000) }
    }

    /// Sets whether a device is online.
    func setOnline(_ isOnline: Bool, _ token: DeviceToken) {
        deliver { machine, now in machine.setOnline(isOnline, token, at: now) }
    }

    /// Subscribes a Live Activity to channels, and to no others.
    func subscribe(_ token: DeviceToken, to channels: Set<ChannelID>) {
        deliver { machine, now in machine.judge.devices.subscribe(token, to: channels, at: now) }
    }

    /// Removes a device or Live Activity.
    func removeDevice(_ token: DeviceToken) {
        update { machine, _ in machine.judge.devices.remove(token) }
    }

    /// Forgets pushes that were removed from the inbox, and the devices of namespaces that have ended.
    func forget(_ removal: PushInbox.Removal) {
        update { machine, _ in machine.forget(removal) }
    }

    // MARK: Channels

    /// Restores channels from the data file.
    func restore(_ channels: [PushArchive.StoredChannel]) {
        update { machine, _ in
            for stored in channels {
                machine.judge.channels.restore(stored.channel, of: stored.app, storing: stored.storage)
            }
        }
    }

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

    // MARK: Signing keys and contracts

    /// Registers a signing key by its public half.
    func register(publicKeyPEM: String, keyID: String, teamID: String, scope: KeyScope) throws(SimulatorError) {
        do {
            try update { machine, _ in
                try machine.judge.tokens.register(
                    publicKeyPEM: publicKeyPEM,
                    keyID: keyID,
                    teamID: teamID,
                    scope: scope
                )
            }
        } catch {
            throw SimulatorError("the key \(keyID) cannot be registered: \(error)")
        }
    }

    /// Removes a signing key; returns false when it was not registered.
    func removeKey(_ keyID: String) -> Bool {
        update { machine, _ in machine.judge.tokens.remove(keyID) }
    }

    /// Sets a contract, replacing an existing one for the same topic and type.
    func setContract(_ contract: ActivityContract) throws(ActivityContractError) {
        try update { (machine, _) throws(ActivityContractError) in try machine.contracts.set(contract) }
    }

    /// Removes a contract; returns false when there is none.
    func removeContract(_ attributesType: String, topic: Topic) -> Bool {
        update { machine, _ in machine.contracts.remove(attributesType, topic: topic) }
    }

    // MARK: Faults

    /// Adds a fault.
    func addFault(_ fault: Fault) throws(SimulatorError) {
        try updateFaults(endsLimits: false) { (machine) throws(SimulatorError) in try machine.addFault(fault) }
    }

    /// Removes a fault; returns false when there is none with this index.
    func removeFault(at index: Int) -> Bool {
        guard plan.faults.indices.contains(index) else { return false }
        updateFaults(endsLimits: true) { machine in machine.removeFault(at: index) }
        return true
    }

    /// Replaces all faults, and ends the effects of the earlier ones.
    func setFaults(_ faults: [Fault], seed: UInt64) {
        updateFaults(endsLimits: true) { machine in machine.setFaults(faults, seed: seed) }
    }
}

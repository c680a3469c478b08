// SPDX-License-Identifier: Apache-2.0

public import Martlet
public import MartletCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The devices, signing keys, contracts and faults of a simulator.
extension SimulatedAPNs {
    /// Registers a device: from now on its token is valid for these topics only.
    ///
    /// A token that was never registered is valid for all topics.
    ///
    /// - Parameters:
    ///   - token: The device's token.
    ///   - topics: The topics it is registered for.
    ///   - environment: The environment that issued the token; in the other, APNs answers `BadDeviceToken`. nil, the
    ///     default, for the environment of this simulator.
    public func register(_ token: DeviceToken, for topics: [Topic], in environment: Environment? = nil) async {
        let environment = environment ?? configuration.environment
        await service.update { machine, _ in machine.evaluator.devices.register(token, for: topics, in: environment) }
    }

    /// Marks a device's token as no longer valid since a time, as when the user has deleted the app.
    ///
    /// - Parameters:
    ///   - token: The device's token.
    ///   - date: The time that later answers contain, to the millisecond; now by default.
    public func unregister(_ token: DeviceToken, since date: Date? = nil) async {
        await unregister(token, sinceMilliseconds: date?.millisecondsSince1970)
    }

    func unregister(_ token: DeviceToken, sinceMilliseconds time: Int64?) async {
        await service.update { machine, now in machine.evaluator.devices.unregister(token, since: time ?? now) }
    }

    /// Sets whether a device is online.
    ///
    /// While it is offline, APNs stores the newest push of each topic and each channel for it until the push expires.
    ///
    /// - Parameters:
    ///   - isOnline: Whether the device is online.
    ///   - token: The device's token.
    public func setOnline(_ isOnline: Bool, _ token: DeviceToken) async {
        await service.deliver { machine, now in machine.setOnline(isOnline, token, at: now) }
    }

    /// Subscribes the Live Activity of a token to these channels, and to no others.
    ///
    /// It immediately receives the newest broadcast of a channel that stores it.
    ///
    /// - Parameters:
    ///   - token: The activity's token; any token will do, because it only represents the listening device.
    ///   - channels: The channels.
    public func subscribe(_ token: DeviceToken, to channels: Set<ChannelID>) async {
        await service.deliver { machine, now in machine.evaluator.devices.subscribe(token, to: channels, at: now) }
    }

    /// Removes a device or Live Activity.
    ///
    /// - Parameter token: Its token, which is then valid like one that was never registered.
    public func forgetDevice(_ token: DeviceToken) async {
        await service.update { machine, _ in machine.evaluator.devices.remove(token) }
    }

    /// Returns the device of a token, which may be that of a Live Activity.
    ///
    /// - Parameter token: The token.
    /// - Returns: The device; nil when it was never registered, and no Live Activity push has been received for it.
    public func device(_ token: DeviceToken) async -> SimulatedDevice? {
        await service.evaluator.devices[token.hex]
    }

    /// Registers a signing key.
    ///
    /// As soon as one is registered, tokens signed with other keys are refused.
    ///
    /// - Parameters:
    ///   - key: The key, of which only the public half is stored.
    ///   - scope: The permitted use of the key; everything by default.
    /// - Throws: ``SimulatorError`` when the key cannot be used.
    public func register(_ key: SigningKey, scope: KeyScope = .team()) async throws(SimulatorError) {
        let pem: String
        do {
            pem = try key.publicKeyPEM()
        } catch {
            throw SimulatorError("the key \(key.keyID) cannot be registered: \(error)")
        }
        try await register(pem, keyID: key.keyID, teamID: key.teamID, scope: scope)
    }

    /// Registers a signing key by its public half in PEM.
    func register(_ pem: String, keyID: String, teamID: String, scope: KeyScope) async throws(SimulatorError) {
        do {
            try await service.update { machine, _ in
                try machine.evaluator.tokens.register(publicKeyPEM: pem, keyID: keyID, teamID: teamID, scope: scope)
            }
        } catch {
            throw SimulatorError("the key \(ShownValue(keyID)) cannot be registered: \(error)")
        }
    }

    /// Removes a signing key; once none is left, tokens signed with any key are accepted again.
    ///
    /// - Parameter keyID: The key's identifier of ten characters.
    /// - Returns: Whether it was registered.
    @discardableResult
    public func forgetKey(_ keyID: String) async -> Bool {
        await service.update { machine, _ in machine.evaluator.tokens.remove(keyID) }
    }

    /// Checks pushes to Live Activities against the types of an app, from now on.
    ///
    /// Errors that the phone would have when decoding a push are then part of its ``ReceivedPush/findings``.
    ///
    /// - Parameter contract: The contract, which replaces an existing one for the same topic and type.
    /// - Throws: ``ActivityContractError`` when there are too many.
    public func setContract(_ contract: ActivityContract) async throws(ActivityContractError) {
        try await service.update { (machine, _) throws(ActivityContractError) in try machine.contracts.set(contract) }
    }

    /// Removes a contract.
    ///
    /// - Parameters:
    ///   - attributesType: The name of the app's type of attributes.
    ///   - topic: The app's bundle identifier.
    /// - Returns: Whether it existed.
    @discardableResult
    public func removeContract(_ attributesType: String, topic: Topic) async -> Bool {
        await service.update { machine, _ in machine.contracts.remove(attributesType, topic: topic) }
    }

    /// The faults.
    public var faults: [Fault] {
        get async { await service.plan.faults }
    }

    /// Adds a fault.
    ///
    /// - Parameter fault: The fault.
    /// - Throws: ``SimulatorError`` when there are 1 000 already.
    public func addFault(_ fault: Fault) async throws(SimulatorError) {
        try await service.updateFaults(endsLimits: false) { (machine) throws(SimulatorError) in
            try machine.addFault(fault)
        }
    }

    /// Removes a fault.
    ///
    /// - Parameter index: Its index in ``faults``.
    /// - Returns: Whether it existed.
    @discardableResult
    public func removeFault(at index: Int) async -> Bool {
        await service.removeFault(at: index)
    }

    /// Replaces all faults.
    ///
    /// - Parameters:
    ///   - faults: The new faults; empty to remove all.
    ///   - seed: The seed of the faults: the same seed reproduces the same faults. Random by default.
    public func setFaults(_ faults: [Fault], seed: UInt64 = .random(in: .min ... .max)) async {
        await service.updateFaults(endsLimits: true) { machine in machine.setFaults(faults, seed: seed) }
    }
}

public import APNs
public import APNsClient

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// What a simulator knows of the world, and what goes wrong in it.
extension SimulatedAPNs {
    /// Makes a device known: from now on its token is good for these topics and no others.
    ///
    /// Tokens that were never registered are taken for good everywhere.
    ///
    /// - Parameters:
    ///   - token: The device's token.
    ///   - topics: The topics it is registered for.
    ///   - environment: The environment that gave the token, in the other of which APNs calls it bad; nil, the default,
    ///     for the one that this simulator plays.
    public func register(_ token: DeviceToken, for topics: [Topic], in environment: Environment? = nil) {
        judge.devices.register(token, for: topics, in: environment ?? configuration.environment)
    }

    /// Marks a device's token as no longer valid since a time, as when the app was removed.
    ///
    /// - Parameters:
    ///   - token: The device's token.
    ///   - date: The time that answers then carry, to the millisecond; now by default.
    public func unregister(_ token: DeviceToken, since date: Date? = nil) {
        judge.devices.unregister(token, since: date?.millisecondsSince1970 ?? clock.secondsSince1970() * 1_000)
    }

    /// Has a device be reachable, or away: then APNs keeps the newest push of each topic for it until that expires.
    ///
    /// - Parameters:
    ///   - isOnline: Whether it can be reached.
    ///   - token: The device's token.
    public func setOnline(_ isOnline: Bool, _ token: DeviceToken) {
        note(judge.devices.setOnline(isOnline, token, at: clock.secondsSince1970(), using: &generator))
    }

    /// Has the Live Activity that a token belongs to listen on these channels, and on no others.
    ///
    /// Of a channel that stores it gets the newest broadcast at once.
    ///
    /// - Parameters:
    ///   - token: The activity's token, which may be any: it stands for the device that listens.
    ///   - channels: The channels.
    public func subscribe(_ token: DeviceToken, to channels: Set<ChannelID>) {
        note(judge.devices.subscribe(token, to: channels, at: clock.secondsSince1970()))
    }

    /// Forgets a device or Live Activity.
    ///
    /// - Parameter token: Its token, which then is one that nobody registered.
    public func forgetDevice(_ token: DeviceToken) {
        judge.devices.remove(token)
    }

    private func note(_ deliveries: DeviceRegistry.Deliveries) {
        for (number, event) in deliveries { inbox.note(event, on: number) }
        tellFollowersSoon()
    }

    /// What is known of a device, or of the Live Activity that a token belongs to.
    ///
    /// - Parameter token: The token.
    /// - Returns: The device; nil when it was never registered, and no Live Activity push has come for it.
    public func device(_ token: DeviceToken) -> SimulatedDevice? {
        judge.devices[token.hex]
    }

    /// Makes a signing key known; as soon as one is, tokens signed by others are refused.
    ///
    /// - Parameters:
    ///   - key: The key, of which only the public half is kept.
    ///   - scope: What it may be used for; everything by default.
    /// - Throws: ``SimulatorError`` when the key cannot be used.
    public func register(_ key: SigningKey, scope: KeyScope = .team()) throws(SimulatorError) {
        do {
            let pem = try key.publicKeyPEM()
            try register(publicKeyPEM: pem, keyID: key.keyID, teamID: key.teamID, scope: scope)
        } catch let error as SimulatorError {
            throw error
        } catch {
            throw SimulatorError("the key \(key.keyID) cannot be registered: \(error)")
        }
    }

    /// Makes a signing key known by its public half.
    func register(publicKeyPEM: String, keyID: String, teamID: String, scope: KeyScope) throws(SimulatorError) {
        do {
            try judge.tokens.register(publicKeyPEM: publicKeyPEM, keyID: keyID, teamID: teamID, scope: scope)
        } catch {
            throw SimulatorError("the key \(keyID) cannot be registered: \(error)")
        }
    }

    /// Forgets a signing key; once none is known any more, all are good again.
    ///
    /// - Parameter keyID: The ten characters that name it.
    /// - Returns: Whether it was known.
    @discardableResult
    public func forgetKey(_ keyID: String) -> Bool {
        judge.tokens.remove(keyID)
    }

    /// Has pushes to Live Activities held to what an app's types take, from now on.
    ///
    /// What the phone could not decode is then among the ``ReceivedPush/findings`` of a push.
    ///
    /// - Parameter contract: The contract; it takes the place of an older one for the same topic and type.
    /// - Throws: ``ActivityContractError`` when there are too many.
    public func setContract(_ contract: ActivityContract) throws(ActivityContractError) {
        try contracts.set(contract)
    }

    /// Forgets a contract.
    ///
    /// - Parameters:
    ///   - attributesType: The name of the app's type of attributes.
    ///   - topic: The app's bundle identifier.
    /// - Returns: Whether there was one.
    @discardableResult
    public func removeContract(_ attributesType: String, topic: Topic) -> Bool {
        contracts.remove(attributesType, topic: topic)
    }

    /// What goes wrong now.
    public var faults: [Fault] { plan.faults }

    /// Has one more thing go wrong from now on.
    ///
    /// - Parameter fault: What goes wrong.
    /// - Throws: ``SimulatorError`` when there are 1 000 already.
    public func addFault(_ fault: Fault) throws(SimulatorError) {
        guard plan.faults.count < SimulatedAPNs.faultLimit else {
            throw SimulatorError("there are \(SimulatedAPNs.faultLimit) faults already: remove some first")
        }
        plan.add(fault)
        applyFaults()
    }

    private static let faultLimit = 1_000

    /// Has one thing go wrong no more.
    ///
    /// - Parameter index: Its place among ``faults``.
    /// - Returns: Whether there was one.
    @discardableResult
    public func removeFault(at index: Int) -> Bool {
        guard plan.faults.indices.contains(index) else { return false }
        plan.remove(at: index)
        for client in clients.values { client.faultStreamLimit = nil }
        applyFaults()
        return true
    }

    /// Has other things go wrong from now on, or nothing any more.
    ///
    /// - Parameters:
    ///   - faults: What goes wrong.
    ///   - seed: Decides with them what goes wrong when; the same seed has the same go wrong. By default from chance.
    public func setFaults(_ faults: [Fault], seed: UInt64 = .random(in: .min ... .max)) {
        plan = FaultPlan(faults, seed: seed)
        refusals = 0
        skew = 0
        judge.forgetExpiredTokens()
        for client in clients.values { client.faultStreamLimit = nil }
        applyFaults()
    }
}

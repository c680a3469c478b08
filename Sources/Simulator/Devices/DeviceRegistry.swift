internal import APNs

/// The devices a simulator knows: which topics their tokens are good for, since when they are no longer, and what
/// became of the pushes to them.
struct DeviceRegistry {
    /// Live Activities of tokens that nobody registered, which are remembered for their timestamps.
    private static let strangerLimit = 10_000

    private let environment: SimulatedAPNs.Environment
    private var devices: [String: SimulatedDevice] = [:]
    /// Tokens that nobody registered, oldest first.
    private var strangers: [String] = []

    init(environment: SimulatedAPNs.Environment) {
        self.environment = environment
    }

    subscript(token: String) -> SimulatedDevice? { devices[token] }

    mutating func register(_ token: DeviceToken, for topics: [Topic], in environment: SimulatedAPNs.Environment) {
        change(token) { device in
            device.topics = Set(topics.map(\.rawValue))
            device.environment = environment
            device.unregisteredSince = nil
        }
    }

    mutating func unregister(_ token: DeviceToken, since milliseconds: Int64) {
        change(token) { $0.unregisteredSince = milliseconds }
    }

    mutating func setOnline(
        _ isOnline: Bool,
        _ token: DeviceToken,
        at now: Int64
    ) -> [(number: Int, DeliveryEvent)] {
        change(token) { $0.setOnline(isOnline, at: now) }
    }

    /// Changes a device, which is no stranger from then on.
    private mutating func change<Value>(_ token: DeviceToken, _ body: (inout SimulatedDevice) -> Value) -> Value {
        strangers.removeAll { $0 == token.hex }
        return body(&devices[token.hex, default: SimulatedDevice(environment: environment)])
    }

    /// A push to a device has been accepted.
    ///
    /// - Returns: What became of it, and of others for that.
    mutating func receive(_ push: ReceivedPush, at now: Int64) -> [(number: Int, DeliveryEvent)] {
        guard let token = try? DeviceToken(hex: push.deviceToken).hex else { return [] }
        let isActivity = push.headers.pushType == PushType.liveActivity.rawValue
        // Of a stranger there is nothing to remember, save what its activity shows.
        guard devices[token] != nil || isActivity else { return [(push.number, DeliveryEvent(.delivered, at: now))] }
        if devices[token] == nil {
            devices[token] = SimulatedDevice(environment: environment)
            strangers.append(token)
            if strangers.count > DeviceRegistry.strangerLimit { devices[strangers.removeFirst()] = nil }
        }
        return devices[token]?.receive(DeliveredPush(push), at: now) ?? []
    }

    /// What APNs says of a push to the token in the path, as far as the device is concerned.
    func verdict(on token: Substring, topic: String) -> Judge.Verdict {
        guard !token.isEmpty else { return .refused(.missingDeviceToken) }
        guard let token = try? DeviceToken(hex: token) else { return .refused(.badDeviceToken) }
        // A token that nobody registered is taken for good, so that a first push needs no preparation.
        guard let device = devices[token.hex] else { return .accepted }
        if device.environment != environment { return .refused(.badDeviceToken) }
        if let since = device.unregisteredSince {
            return Judge.Verdict(status: 410, reason: .unregistered, timestamp: since)
        }
        return device.topics?.contains(topic) ?? true ? .accepted : .refused(.deviceTokenNotForTopic)
    }
}

internal import APNs

/// The devices a simulator knows: which topics their tokens are good for, and since when they are no longer.
struct DeviceRegistry {
    private struct Device {
        var topics: Set<String> = []
        var environment: SimulatedAPNs.Environment
        var unregisteredSince: Int64?
    }

    private let environment: SimulatedAPNs.Environment
    private var devices: [String: Device] = [:]

    init(environment: SimulatedAPNs.Environment) {
        self.environment = environment
    }

    mutating func register(_ token: DeviceToken, for topics: [Topic], in environment: SimulatedAPNs.Environment) {
        devices[token.hex] = Device(topics: Set(topics.map(\.rawValue)), environment: environment)
    }

    mutating func unregister(_ token: DeviceToken, since milliseconds: Int64) {
        devices[token.hex, default: Device(environment: environment)].unregisteredSince = milliseconds
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
        return device.topics.contains(topic) ? .accepted : .refused(.deviceTokenNotForTopic)
    }
}

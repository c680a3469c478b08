internal import APNs

/// The devices a simulator knows: which topics their tokens are good for, since when they are no longer, which channels
/// they listen on, and what became of the pushes to them.
struct DeviceRegistry {
    /// What became of pushes, by their numbers.
    typealias Deliveries = [(number: Int, DeliveryEvent)]

    /// Live Activities of tokens that nobody registered, which are remembered for their timestamps.
    private static let strangerLimit = 10_000
    /// Devices of which a broadcast says what became of it there.
    private static let toldSubscribers = 100

    private let environment: SimulatedAPNs.Environment
    private var devices: [String: SimulatedDevice] = [:]
    /// Tokens that nobody registered, oldest first.
    private var strangers: [String] = []
    /// The tokens that listen on each channel.
    private var subscribers: [ChannelID: Set<String>] = [:]
    /// What channels that store keep for those who come later.
    private var newestBroadcasts: [ChannelID: DeliveredPush] = [:]

    init(environment: SimulatedAPNs.Environment) {
        self.environment = environment
    }

    subscript(token: String) -> SimulatedDevice? { devices[token] }

    /// Whether a device can be reached, by its token in lower case; devices that are not known can be.
    func isOnline(_ token: String) -> Bool {
        guard !devices.isEmpty else { return true }
        return devices[token]?.isOnline ?? true
    }

    /// Every token that is known.
    var tokens: [String] { devices.keys.sorted() }

    /// Forgets the devices whose tokens begin with one of these names, all of one length.
    mutating func remove(prefixes names: Set<String>) {
        guard let length = names.first?.count else { return }
        for token in devices.keys.filter({ names.contains(String($0.prefix(length))) }) {
            for channel in devices[token]?.channels ?? [] { unsubscribe(token, from: channel) }
            devices[token] = nil
        }
        strangers.removeAll { devices[$0] == nil }
    }

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
        at now: Int64,
        using generator: inout some RandomNumberGenerator
    ) -> Deliveries {
        let returned = change(token) { $0.setOnline(isOnline, at: now) }
        return returned.flatMap { push, event -> Deliveries in
            let delivery = (push.number, event)
            return [push.isBroadcast ? told(delivery, token.hex) : delivery]
                + start(push, event, at: token.hex, at: now, using: &generator)
        }
    }

    /// Forgets a device.
    mutating func remove(_ token: DeviceToken) {
        for channel in devices[token.hex]?.channels ?? [] { unsubscribe(token.hex, from: channel) }
        devices[token.hex] = nil
        strangers.removeAll { $0 == token.hex }
    }

    /// Changes a device, which is no stranger from then on.
    private mutating func change<Value>(_ token: DeviceToken, _ body: (inout SimulatedDevice) -> Value) -> Value {
        strangers.removeAll { $0 == token.hex }
        return body(&devices[token.hex, default: SimulatedDevice(environment: environment)])
    }

    // MARK: Channels

    /// Has a Live Activity listen on these channels and no others; of those that store it gets what is there.
    mutating func subscribe(_ token: DeviceToken, to channels: Set<ChannelID>, at now: Int64) -> Deliveries {
        let before = change(token) { device in
            defer { device.channels = channels }
            return device.channels
        }
        for channel in before.subtracting(channels) { unsubscribe(token.hex, from: channel) }
        return channels.subtracting(before).sorted { $0.rawValue < $1.rawValue }.flatMap { channel in
            listen(token.hex, on: channel, at: now)
        }
    }

    /// Has one more listen on a channel; of one that stores it gets what is there.
    private mutating func listen(_ token: String, on channel: ChannelID, at now: Int64) -> Deliveries {
        subscribers[channel, default: []].insert(token)
        guard let push = newestBroadcasts[channel], !push.isLate(at: now) else { return [] }
        return devices[token]?.receive(push, .deliveredFromStorage, at: now).map { told($0, token) } ?? []
    }

    private mutating func unsubscribe(_ token: String, from channel: ChannelID) {
        subscribers[channel]?.remove(token)
        if subscribers[channel]?.isEmpty == true { subscribers[channel] = nil }
    }

    /// The number of the push that started the activity with this identifier; nil when none did.
    func start(of token: DeviceToken) -> Int? {
        for device in devices.values {
            if let started = device.startedActivities.last(where: { $0.id == token }) { return started.startedBy }
        }
        return nil
    }

    /// The tokens that listen on a channel.
    func subscribers(of channel: ChannelID) -> Set<String> { subscribers[channel] ?? [] }

    /// A channel is no more.
    mutating func removed(_ channel: ChannelID) {
        newestBroadcasts[channel] = nil
        for token in subscribers.removeValue(forKey: channel) ?? [] { devices[token]?.channels.remove(channel) }
    }

    private mutating func receive(
        broadcast push: DeliveredPush,
        on channel: ChannelID,
        at now: Int64
    ) -> Deliveries {
        // One that expires at once is for a channel that stores nothing.
        if push.expiration != 0, !push.isLate(at: now) { newestBroadcasts[channel] = push }
        let tokens = (subscribers[channel] ?? []).sorted()
        return tokens.enumerated().flatMap { index, token -> Deliveries in
            let deliveries = devices[token]?.receive(push, .delivered, at: now).map { told($0, token) } ?? []
            // What became of others is told in any case.
            return index < DeviceRegistry.toldSubscribers
                ? deliveries : deliveries.filter { $0.number != push.number }
        }
    }

    /// An event that says at which of many devices it was.
    private func told(_ delivery: (number: Int, DeliveryEvent), _ token: String) -> (number: Int, DeliveryEvent) {
        let (number, event) = delivery
        let device = "at \(token.prefix(8))…"
        return (number, event.with(note: event.note.map { "\(device): \($0)" } ?? device))
    }

    // MARK: Pushes

    /// Whether more becomes of a push than that its device, of which nothing is known, has it at once.
    func concerns(_ push: ReceivedPush) -> Bool {
        !devices.isEmpty || push.app != nil || push.isLiveActivity
    }

    /// A push has been accepted.
    ///
    /// - Returns: What became of it, and of others for that.
    mutating func receive(
        _ push: ReceivedPush,
        at now: Int64,
        using generator: inout some RandomNumberGenerator
    ) -> Deliveries {
        if let channel = push.channel {
            let isHeard = push.headers.expiration != "0" || subscribers[channel]?.isEmpty == false
            return isHeard ? receive(broadcast: DeliveredPush(push), on: channel, at: now) : []
        }
        // Of a stranger there is nothing to remember, save what its activity shows.
        guard let token = try? DeviceToken(hex: push.deviceToken).hex,
            push.isLiveActivity || devices[token] != nil
        else { return [(push.number, DeliveryEvent(.delivered, at: now))] }
        if devices[token] == nil { add(stranger: token, SimulatedDevice(environment: environment)) }
        let delivered = DeliveredPush(push)
        let deliveries = devices[token]?.receive(delivered, .delivered, at: now) ?? []
        let own = deliveries.first { $0.number == push.number }
        return deliveries + (own.map { start(delivered, $0.1, at: token, at: now, using: &generator) } ?? [])
    }

    /// Gives an activity that a push has started a token of its own, as the app would report it to its server, or has
    /// it listen on a channel instead.
    private mutating func start(
        _ push: DeliveredPush,
        _ event: DeliveryEvent,
        at token: String,
        at now: Int64,
        using generator: inout some RandomNumberGenerator
    ) -> Deliveries {
        guard push.isLiveActivity, event.kind == .delivered || event.kind == .deliveredFromStorage,
            let change = try? ActivityChange(push), change.event == .start,
            let new = try? DeviceToken(bytes: (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) })
        else { return [] }
        let channel = push.payload?["aps"]?["input-push-channel"]?.stringValue.map(ChannelID.init(rawValue:))
        var device = SimulatedDevice(topics: [push.topic], environment: environment)
        // Apple does not say which of the two updates an activity whose start asks for both.
        let hasToken = channel == nil || push.payload?["aps"]?["input-push-token"] != nil
        device.begin(change, hasToken: hasToken)
        device.channels = Set([channel].compactMap(\.self))
        add(stranger: new.hex, device)
        devices[token]?.started(new, hasToken: hasToken, push)
        return channel.map { listen(new.hex, on: $0, at: now) } ?? []
    }

    private mutating func add(stranger token: String, _ device: SimulatedDevice) {
        devices[token] = device
        strangers.append(token)
        guard strangers.count > DeviceRegistry.strangerLimit else { return }
        let oldest = strangers.removeFirst()
        for channel in devices[oldest]?.channels ?? [] { unsubscribe(oldest, from: channel) }
        devices[oldest] = nil
    }

    /// What APNs says of a push to the token in the path, as far as the device is concerned.
    func verdict(on token: String, topic: String) -> Judge.Verdict {
        guard !token.isEmpty else {
            let text = "there is no device token after /3/device/"
            return .refused(.deviceToken(.missingDeviceToken, .deviceTokenMissing, text))
        }
        let path = token
        let token: DeviceToken
        do throws(DeviceTokenError) {
            token = try DeviceToken(hex: path)
        } catch {
            // Apple documents no greatest length.
            let refuser = if case .tooLong = error { "the simulator" } else { "APNs" }
            let place = Lint.Place.header(":path")
            return .refused(Refusal(.badDeviceToken, .deviceTokenMalformed, place, "\(error)", refuser: refuser))
        }
        // A token that nobody registered is taken for good, so that a first push needs no preparation.
        guard !devices.isEmpty, let device = devices[token.hex] else { return .accepted }
        if device.hasNoToken {
            let text =
                "this is the identifier of a Live Activity that listens on a channel, and not a device token: send a"
                + " broadcast"
            return .refused(.deviceToken(.badDeviceToken, .activityTokenWrong, text))
        }
        if device.environment != environment {
            let text =
                "the device token belongs to \(device.environment.rawValue), and the simulator plays"
                + " \(environment.rawValue): send it to the other host"
            return .refused(.deviceToken(.badDeviceToken, .deviceTokenOfOtherEnvironment, text))
        }
        if let since = device.unregisteredSince {
            let text =
                "the device token has not been valid since \(since) (milliseconds since 1970): stop sending to it"
            var verdict = Judge.Verdict.refused(.deviceToken(.unregistered, .deviceTokenUnregistered, text))
            verdict.timestamp = since
            return verdict
        }
        guard let topics = device.topics, !topics.contains(topic) else { return .accepted }
        let text = "the device token is registered for \(topics.sorted().joined(separator: ", ")), not for \(topic)"
        return .refused(.deviceToken(.deviceTokenNotForTopic, .deviceTokenOfOtherTopic, text))
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The devices of a simulator by token, and the delivery of pushes and broadcasts to them.
struct DeviceRegistry {
    /// Delivery events, each with the number of its push.
    typealias Deliveries = [(number: Int, DeliveryEvent)]

    /// The maximum number of unregistered tokens whose Live Activities are remembered, for their timestamps.
    private static let implicitDeviceLimit = 10_000
    /// The maximum number of devices for which a broadcast records its own events.
    static let subscriberLimit = 100
    /// The maximum number of broadcasts at devices whose last events are remembered.
    private static let broadcastEventLimit = 100_000

    /// A broadcast at one of its devices.
    private struct Reception: Hashable {
        let number: Int
        let device: String
    }

    let environment: SimulatedAPNs.Environment
    private var devices: [String: SimulatedDevice] = [:]
    /// The tokens of Live Activities that were not registered, oldest first.
    private var implicitTokens: [String] = []
    private(set) var subscriptions = ChannelSubscriptions()
    private var notifications: CollapsedNotifications
    /// A time in milliseconds since 1970 until which no stored push expires.
    private(set) var nextExpiry = Int64.max
    /// The number of the first alert or background push to each token, which shows that it is a device's token.
    private var notified = RecentValues<String, Int>(capacity: DeviceRegistry.implicitDeviceLimit)
    /// The last three events of each broadcast at each device: whether a device that received a stored broadcast, which
    /// another one may have replaced since, had been offline follows from the event before.
    private var broadcastEvents = RecentValues<Reception, [DeliveryEvent]>(capacity: DeviceRegistry.broadcastEventLimit)

    /// Creates an empty registry.
    ///
    /// - Parameters:
    ///   - environment: The environment of tokens that are not registered.
    ///   - limit: The number of collapse identifiers that are certainly remembered.
    init(environment: SimulatedAPNs.Environment, rememberedNotifications limit: Int = 1_000) {
        self.environment = environment
        notifications = CollapsedNotifications(limit: limit)
    }

    subscript(token: String) -> SimulatedDevice? { devices[token] }

    /// The tokens of the devices that were registered, and are not known only from pushes to their Live Activities.
    var registeredTokens: Set<String> { Set(devices.keys).subtracting(implicitTokens) }

    /// Returns whether a device is online, by its token in lower case; true for unknown devices.
    func isOnline(_ token: String) -> Bool {
        guard !devices.isEmpty else { return true }
        return devices[token]?.isOnline ?? true
    }

    /// The tokens of all known devices, sorted.
    var tokens: [String] { devices.keys.sorted() }

    /// Removes the devices whose tokens begin with one of these names, which all have the same length.
    mutating func remove(prefixes names: Set<String>) {
        guard let length = names.first?.count else { return }
        for token in devices.keys.filter({ names.contains(String($0.prefix(length))) }) {
            drop(token)
        }
        implicitTokens.removeAll { devices[$0] == nil }
        notified.removeValues { names.contains(String($0.prefix(length))) }
    }

    /// Records that a token in lower case is a device's, because an alert or a background push to it was accepted.
    mutating func recordNotification(_ push: ReceivedPush, to token: String) {
        guard push.needsDeviceToken else { return }
        if notified[token] == nil { notified.updateValue(push.number, forKey: token) }
    }

    /// Forgets which tokens have received alerts and background pushes, and the results of broadcasts, after all pushes
    /// were removed from the inbox.
    mutating func forgetPushes() {
        notified = RecentValues(capacity: DeviceRegistry.implicitDeviceLimit)
        broadcastEvents = RecentValues(capacity: DeviceRegistry.broadcastEventLimit)
    }

    mutating func register(_ token: DeviceToken, for topics: [Topic], in environment: SimulatedAPNs.Environment) {
        change(token) { device in
            device.topics = Set(topics.map(\.rawValue))
            device.environment = environment
            device.unregisteredTime = nil
        }
    }

    mutating func unregister(_ token: DeviceToken, since time: Int64) {
        change(token) { $0.unregisteredTime = time }
    }

    mutating func setOnline(
        _ isOnline: Bool,
        _ token: DeviceToken,
        at now: Int64,
        using generator: inout some RandomNumberGenerator
    ) -> Deliveries {
        // A stored push that has expired is not delivered.
        let expired = discardExpired(at: now)
        let stored = change(token) { $0.setOnline(isOnline) }
        let delivered = stored.flatMap { push -> Deliveries in
            let deliveries = deliver(push, to: token.hex, at: now) {
                $0.receive(push, .deliveredFromStorage, at: now)
            }
            return deliveries + start(push, deliveries, at: token.hex, at: now, using: &generator)
        }
        return expired + delivered
    }

    /// Removes a device.
    mutating func remove(_ token: DeviceToken) {
        drop(token.hex)
        implicitTokens.removeAll { $0 == token.hex }
        notified.removeValue(forKey: token.hex)
    }

    /// Changes a device and counts its token as registered from then on.
    private mutating func change<Value>(_ token: DeviceToken, _ body: (inout SimulatedDevice) -> Value) -> Value {
        implicitTokens.removeAll { $0 == token.hex }
        return body(&devices[token.hex, default: SimulatedDevice(environment: environment)])
    }

    // MARK: Channels

    /// Subscribes a Live Activity to these channels and no others.
    ///
    /// - Returns: The events of the stored broadcasts of new channels, which are delivered to the activity.
    mutating func subscribe(_ token: DeviceToken, to channels: Set<ChannelID>, at now: Int64) -> Deliveries {
        let before = change(token) { device in
            defer { device.channels = channels }
            return device.channels
        }
        for channel in before.subtracting(channels) { subscriptions.remove(token.hex, from: channel) }
        return channels.subtracting(before).sorted { $0.rawValue < $1.rawValue }.flatMap { channel in
            listen(token.hex, on: channel, at: now)
        }
    }

    /// Adds a subscriber to a channel and delivers the stored broadcast of the channel to it.
    private mutating func listen(_ token: String, on channel: ChannelID, at now: Int64) -> Deliveries {
        guard let push = subscriptions.add(token, to: channel), !push.isLate(at: now) else { return [] }
        return deliver(push, to: token, at: now) { $0.receive(push, .deliveredFromStorage, at: now) }
    }

    /// The activities that pushes started on devices, by the number of the push.
    var startedActivities: [Int: [SimulatedDevice.StartedActivity]] {
        Dictionary(grouping: devices.values.flatMap(\.startedActivities), by: \.startedBy)
    }

    /// Returns the number of the push that started the activity with this identifier; nil when no push did.
    func start(of token: DeviceToken) -> Int? {
        for device in devices.values {
            if let started = device.startedActivities.last(where: { $0.id == token }) { return started.startedBy }
        }
        return nil
    }

    /// Removes the subscriptions to a deleted channel and its stored broadcast.
    mutating func removed(_ channel: ChannelID) {
        for token in subscriptions.remove(channel) { devices[token]?.channels.remove(channel) }
    }

    private mutating func receive(
        broadcast push: DeliveredPush,
        on channel: ChannelID,
        at now: Int64
    ) -> Deliveries {
        // A broadcast with an expiration of 0 is for a channel that stores nothing.
        if push.expiration != 0, !push.isLate(at: now) { subscriptions.store(push, on: channel) }
        let tokens = subscriptions.tokens(of: channel).sorted()
        return tokens.enumerated().flatMap { index, token -> Deliveries in
            let deliveries = deliver(push, to: token, at: now) { $0.receive(push, at: now) }
            // Events of other pushes are always recorded.
            return index < DeviceRegistry.subscriberLimit
                ? deliveries : deliveries.filter { $0.number != push.number }
        }
    }

    /// Passes a push to a device.
    ///
    /// - Returns: The events of the push and of those that it replaces on the device; the events of broadcasts name the
    ///   device.
    private mutating func deliver(
        _ push: DeliveredPush,
        to token: String,
        at now: Int64,
        _ body: (inout SimulatedDevice) -> Deliveries
    ) -> Deliveries {
        devices[token]?.notifiedBy = notified[token]
        let content = devices[token]?.activity?.source
        let deliveries = body(&devices[token, default: SimulatedDevice(environment: environment)])
        let isStored = devices[token]?.isOnline == false && push.expiration != 0 && !push.isLate(at: now)
        if isStored { nextExpiry = min(nextExpiry, push.storageEnd) }
        return deliveries.flatMap { number, event -> Deliveries in
            let isBroadcast = content?.number == number ? content?.isBroadcast == true : push.isBroadcast
            let delivery = (number, isBroadcast ? record(event, of: number, at: token) : event)
            return (number == push.number ? collapse(push, event, at: token, at: now) : []) + [delivery]
        }
    }

    /// Records an event of a broadcast at a device, and returns it with the name of the device.
    private mutating func record(_ event: DeliveryEvent, of number: Int, at token: String) -> DeliveryEvent {
        let event = event.at(device: token)
        let reception = Reception(number: number, device: token)
        var events = broadcastEvents[reception] ?? []
        if events.count == 3 { events.removeFirst() }
        events.append(event)
        broadcastEvents.updateValue(events, forKey: reception)
        return event
    }

    /// Returns the last three events of a broadcast at a device, whose token is in lower case; none when they are not
    /// known.
    func lastEvents(of number: Int, at token: String) -> [DeliveryEvent] {
        broadcastEvents[Reception(number: number, device: token)] ?? []
    }

    // MARK: Pushes

    /// Returns the Live Activity whose content a push would replace, of one subscriber for a broadcast; nil when it is
    /// not known.
    func activity(for push: ReceivedPush) -> SimulatedDevice.Activity? {
        let token = push.channel.map { subscriptions.tokens(of: $0).min() ?? "" } ?? push.deviceToken.lowercased()
        return devices[token]?.activity
    }

    /// Returns whether delivery of a push depends on, or changes, the state of devices; other pushes are delivered at
    /// once.
    ///
    /// - Parameters:
    ///   - push: The push.
    ///   - token: Its device token in lower case.
    /// - Returns: Whether it does.
    func concerns(_ push: ReceivedPush, to token: String) -> Bool {
        push.app != nil || push.headers.collapseID != nil || push.isLiveActivity
            || !devices.isEmpty && devices[token] != nil
    }

    /// Discards the stored pushes that have expired at a time in milliseconds since 1970.
    ///
    /// - Returns: Their events, whose time is that of the expiry.
    mutating func discardExpired(at now: Int64) -> Deliveries {
        guard nextExpiry < now else { return [] }
        nextExpiry = .max
        var deliveries: Deliveries = []
        for token in devices.keys.filter({ devices[$0]?.isOnline == false }).sorted() {
            for push in devices[token]?.removeExpired(at: now) ?? [] {
                let event = DeliveryEvent(.discardedExpired, at: push.storageEnd)
                deliveries.append((push.number, push.isBroadcast ? record(event, of: push.number, at: token) : event))
            }
            if let expiry = devices[token]?.firstExpiry { nextExpiry = min(nextExpiry, expiry) }
        }
        return deliveries
    }

    /// Delivers, stores or discards an accepted push.
    ///
    /// - Returns: The events of the push, and of the stored pushes that it replaces or causes to be delivered.
    mutating func receive(
        _ push: DeliveredPush,
        at now: Int64,
        using generator: inout some RandomNumberGenerator
    ) -> Deliveries {
        // A stored push that has expired is not replaced.
        let expired = discardExpired(at: now)
        if let channel = push.channel { return expired + receive(broadcast: push, on: channel, at: now) }
        // Nothing is stored for an unregistered device except the state of its Live Activity, and the notifications
        // that a newer one can replace.
        guard let token = try? DeviceToken(hex: push.deviceToken).hex,
            push.isLiveActivity || devices[token] != nil
        else {
            let event = DeliveryEvent(.delivered, at: now)
            return expired + collapse(push, event, at: push.deviceToken, at: now) + [(push.number, event)]
        }
        if devices[token] == nil { add(implicit: token, SimulatedDevice(environment: environment)) }
        let deliveries = deliver(push, to: token, at: now) { $0.receive(push, at: now) }
        return expired + deliveries + start(push, deliveries, at: token, at: now, using: &generator)
    }

    /// Restores what pushes of an earlier run, oldest first, left on devices: stored pushes, the content of Live
    /// Activities, and the notifications that a newer one can replace.
    ///
    /// Broadcasts and started activities are not restored, because their subscribers and tokens are not stored.
    mutating func restore(_ pushes: [ReceivedPush]) {
        var traffic: [String: SimulatedDevice.ActivityTraffic] = [:]
        for push in pushes where !push.isBroadcast {
            guard let kind = push.deliveries.fate?.kind, let token = push.token?.hex else { continue }
            recordNotification(push, to: token)
            if push.isLiveActivity { traffic[token, default: .init()].count(kind) }
            guard kind == .storedDeviceOffline || kind.isDelivery else { continue }
            let hasState = kind == .storedDeviceOffline || push.isLiveActivity
            guard hasState || devices[token] != nil || push.headers.collapseID != nil else { continue }
            let delivered = DeliveredPush(push, push.content)
            if delivered.isLiveActivity, (try? ActivityChange(delivered))?.event == .start, kind.isDelivery { continue }
            if hasState, devices[token] == nil { add(implicit: token, SimulatedDevice(environment: environment)) }
            devices[token]?.restore(delivered, after: kind)
            if kind == .storedDeviceOffline { nextExpiry = min(nextExpiry, delivered.storageEnd) }
            if kind.isDelivery, delivered.isShown { _ = notifications.replace(at: token, with: delivered) }
        }
        for (token, traffic) in traffic { devices[token]?.restore(traffic) }
    }

    /// Records the notification of a delivered push, and returns the event of the one that it replaces.
    private mutating func collapse(
        _ push: DeliveredPush,
        _ event: DeliveryEvent,
        at token: String,
        at now: Int64
    ) -> Deliveries {
        guard event.kind.isDelivery, push.isShown, !push.isLiveActivity,
            let older = notifications.replace(at: token, with: push)
        else { return [] }
        return [(older, DeliveryEvent(.replacedOnDevice, by: push.number, at: now))]
    }

    /// Gives an activity that a push has started its own token, as the app would report it to its server, or subscribes
    /// the activity to a channel instead.
    private mutating func start(
        _ push: DeliveredPush,
        _ deliveries: Deliveries,
        at token: String,
        at now: Int64,
        using generator: inout some RandomNumberGenerator
    ) -> Deliveries {
        guard push.isLiveActivity, push.payload?["aps"]?["event"]?.stringValue == ActivityPush.Event.start.rawValue,
            deliveries.contains(where: { $0.number == push.number && $0.1.kind.isDelivery }),
            let change = try? ActivityChange(push),
            let new = try? DeviceToken.random(using: &generator)
        else { return [] }
        let channel = push.startChannel
        var device = SimulatedDevice(topics: [push.topic], environment: environment)
        let hasToken = push.startsWithToken
        device.begin(change, with: push, hasToken: hasToken, at: now)
        device.channels = Set([channel].compactMap(\.self))
        add(implicit: new.hex, device)
        devices[token]?.started(new, hasToken: hasToken, push)
        return channel.map { listen(new.hex, on: $0, at: now) } ?? []
    }

    private mutating func add(implicit token: String, _ device: SimulatedDevice) {
        devices[token] = device
        implicitTokens.append(token)
        guard implicitTokens.count > DeviceRegistry.implicitDeviceLimit else { return }
        drop(implicitTokens.removeFirst())
    }

    private mutating func drop(_ token: String) {
        for channel in devices[token]?.channels ?? [] { subscriptions.remove(token, from: channel) }
        devices[token] = nil
    }
}

extension DeviceToken {
    /// Returns a new token that selects no response by its suffix: those suffixes begin with an octet of zero.
    static func random(using generator: inout some RandomNumberGenerator) throws(DeviceTokenError) -> DeviceToken {
        var bytes = (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }
        bytes[29] = .random(in: 1...255, using: &generator)
        return try DeviceToken(bytes: bytes)
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer

/// The devices that are registered, have a nickname, or have received stored pushes.
struct KnownDevices: Sendable {
    /// The stored pushes of one device.
    private struct Traffic {
        var count = 0
        var lastNumber = 0
        /// The time of the last push in milliseconds since 1970.
        var lastTime: Int64 = 0
        var apps: Set<String> = []
        /// Whether all pushes are for a Live Activity.
        var isForActivity = true
        /// Whether one of the pushes is for the token of a Live Activity.
        var updatesActivity = false
        /// The number of pushes that APNs refused.
        var refused = 0
        var wasAccepted = false
    }

    let registry: DeviceRegistry
    private let names: [String: String]
    private let traffic: [String: Traffic]
    /// The numbers of the pushes whose notification each device shows, oldest first.
    private let notifications: [String: [Int]]
    private let registered: Set<String>
    /// Whether the end of a device token selects an answer.
    private let usesTokenSuffixes: Bool
    /// The activities that pushes have started, by their identifiers.
    private let started: [String: SimulatedDevice.StartedActivity]
    /// The tokens in lower case; those with the newest push first, those without pushes last.
    let newestFirst: [String]

    /// Collects the devices of a simulator.
    init(_ simulator: SimulatedAPNs) async {
        let registry = await simulator.service.evaluator.devices
        let names = await simulator.inbox.names
        let pushes = await simulator.inbox.pushes
        usesTokenSuffixes = await simulator.service.plan.usesTokenSuffixes
        var traffic: [String: Traffic] = [:]
        var notifications: [String: [Int]] = [:]
        let started = registry.startedActivities
        for push in pushes {
            // The push that starts an activity is addressed to the device, and is the first one of the activity.
            let activities = started[push.number, default: []].map(\.id.hex)
            for token in push.tokens.union(activities) {
                traffic[token, default: Traffic()].count += 1
                traffic[token]?.lastNumber = push.number
                traffic[token]?.lastTime = push.time
                if !push.isLiveActivity { traffic[token]?.isForActivity = false }
                if push.status == 200 { traffic[token]?.wasAccepted = true }
                if push.status != 200, push.status != 0 { traffic[token]?.refused += 1 }
                // Reading the payload takes long, and the state of an activity makes it unnecessary.
                if push.isLiveActivity, registry[token]?.activity == nil, traffic[token]?.updatesActivity == false {
                    traffic[token]?.updatesActivity = push.isToActivityToken(push.content)
                }
                if let app = push.bundleID, !push.hasWrongTopic { traffic[token]?.apps.insert(app) }
            }
            if push.isNotificationOnScreen {
                notifications[push.deviceToken.lowercased(), default: []].append(push.number)
            }
        }
        let tokens = Set(registry.tokens).union(traffic.keys).union(names.keys)
        newestFirst = tokens.sorted { left, right in
            let numbers = (traffic[left]?.lastNumber ?? 0, traffic[right]?.lastNumber ?? 0)
            return numbers.0 == numbers.1 ? left < right : numbers.0 > numbers.1
        }
        self.registry = registry
        registered = registry.registeredTokens
        self.started = Dictionary(started.values.joined().map { ($0.id.hex, $0) }, uniquingKeysWith: { $1 })
        self.names = names
        self.traffic = traffic
        self.notifications = notifications
    }

    /// Returns whether a device is known, by its token in lower case.
    func contains(_ token: String) -> Bool {
        registry[token] != nil || traffic[token] != nil || names[token] != nil
    }

    /// Returns whether a token, in lower case, is that of a Live Activity: also of one that has applied no push yet.
    func isActivity(_ token: String) -> Bool {
        let state = registry[token]
        guard state?.activity == nil else { return true }
        guard let traffic = traffic[token], traffic.isForActivity, traffic.updatesActivity else { return false }
        // The state of an activity whose pushes were imported is not known.
        guard let state else { return !traffic.wasAccepted }
        return state.deviceEvidence == nil && state.tokenKind != .start
    }

    /// Returns the kind of a token, which imported pushes show where the simulator has delivered none.
    private func kind(of token: String) -> SimulatedDevice.TokenKind {
        registry[token]?.tokenKind ?? (traffic[token]?.isForActivity == true ? .activity : .device)
    }

    /// Returns the numbers of the notifications that a device shows, newest last: before it was registered, only the
    /// pushes have them.
    private func shown(on token: String, _ state: SimulatedDevice) -> [Int] {
        let registered = Set(state.shown)
        let earlier = notifications[token, default: []].filter { !registered.contains($0) }
        return (earlier + state.shown).suffix(ShownNotifications.limit)
    }

    /// Returns a device as the HTTP interface shows it.
    func json(of token: String, withToken: Bool = true) -> JSONValue {
        let state = registry[token] ?? SimulatedDevice(environment: registry.environment)
        let traffic = traffic[token] ?? Traffic()
        let action = usesTokenSuffixes ? FaultPlan.suffixAction(token) : nil
        let facts = JSONValue.members([
            "name": names[token].map(JSONValue.string),
            "attributes-type": (started[token]?.attributesType).map(JSONValue.string),
            "started-by": (started[token]?.startedBy).map(JSONValue.integer),
            "kind": .string(kind(of: token).rawValue), "registered": .bool(registered.contains(token)),
            "apps": .strings(traffic.apps.sorted()), "pushes": .integer(traffic.count),
            "refused": traffic.refused > 0 ? .integer(traffic.refused) : nil,
            "last": traffic.count > 0 ? .integer(traffic.lastTime / 1_000) : nil,
            "answers": action.map { .string($0.answer) },
            "needs-connection": action?.determinesAnswer == false ? true : nil,
        ])
        let device = state.json(token: withToken ? token : nil, shown: shown(on: token, state))
        return .object((device.members ?? []) + (facts.members ?? []))
    }
}

extension ReceivedPush {
    /// Whether APNs refused the push because of its topic, so that the device may not have the app.
    fileprivate var hasWrongTopic: Bool {
        reason == .deviceTokenNotForTopic || reason == .topicDisallowed || reason == .badTopic
    }

    /// The tokens of the devices that the push was for, in lower case; empty for a malformed token.
    fileprivate var tokens: Set<String> {
        guard !isBroadcast else { return Set(deliveries.compactMap(\.device)) }
        guard let token else { return [] }
        return [token.hex]
    }

    /// Returns whether the push was for a device, whose token is in lower case.
    func isFor(device token: String) -> Bool {
        isBroadcast ? deliveries.contains { $0.device == token } : deviceToken.lowercased() == token
    }

    /// Returns the entries of the push in the log of a device, oldest first.
    func log(ofDevice token: String) -> [DeviceLogEntry] {
        if isBroadcast {
            return deliveries.filter { $0.device == token }.map { event in
                DeviceLogEntry(event, of: self, at: token, note: event.reason)
            }
        }
        guard deviceToken.lowercased() == token else { return [] }
        let answer = status == 200 ? [] : [DeviceLogEntry(answerOf: self)]
        return answer + deliveries.map { DeviceLogEntry($0, of: self, at: token, note: $0.note) }
    }
}

/// An entry in the delivery log of a device.
struct DeviceLogEntry {
    /// The time in milliseconds since 1970.
    let time: Int64
    private let number: Int
    private let kind: String
    private let note: String?
    private let push: ReceivedPush
    private let token: String

    /// Creates the entry of a delivery event.
    init(_ event: DeliveryEvent, of push: ReceivedPush, at token: String, note: String?) {
        time = event.time
        number = push.number
        kind = event.kind.rawValue
        self.note = note
        self.push = push
        self.token = token
    }

    /// Creates the entry of a push that was refused, or not answered.
    init(answerOf push: ReceivedPush) {
        time = push.time
        number = push.number
        kind = push.verdictKind.rawValue
        note = push.status == 0 ? push.lossCause : push.reason?.rawValue
        self.push = push
        token = push.deviceToken.lowercased()
    }

    /// The entry, with the push as lists show it and the verdict at the device.
    var json: JSONValue {
        .members([
            "time": .integer(time / 1_000), "time-ms": .integer(time), "number": .integer(number),
            "kind": .string(kind), "note": note.map(JSONValue.string), "push": push.summary(atDevice: token),
        ])
    }
}

extension SimulatedAPNs.Fault.Action {
    /// The answer to a push that the action affects: its reason, or the name of the action.
    fileprivate var answer: String { if case .respond(let reason, _, _) = self { reason.rawValue } else { name } }
}

extension SimulatedDevice {
    /// Returns the device as the HTTP interface shows it, with its token in a list, and with the notifications that it
    /// shows.
    func json(token: String?, shown: [Int]) -> JSONValue {
        let stored = stored.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, .integer($0.value)) }
        let started = startedActivities.map { activity in
            JSONValue.members([
                "id": .string(activity.id.hex), "token": activity.token.map { .string($0.hex) },
                "attributes-type": .string(activity.attributesType), "started-by": .integer(activity.startedBy),
            ])
        }
        return .members([
            "token": token.map(JSONValue.string), "online": .bool(isOnline),
            "environment": .string(environment.rawValue), "stored": .object(stored),
            "shown": .array(shown.map(JSONValue.integer)), "topics": topics.map { .strings($0.sorted()) },
            "unregistered-at": unregisteredTime.map(JSONValue.integer),
            "channels": channels.isEmpty ? nil : .strings(channels.map(\.rawValue).sorted()),
            "started-activities": started.isEmpty ? nil : .array(started),
            "activity": activity.map { activity in
                .members([
                    "timestamp": .integer(activity.timestamp), "ended": .bool(activity.hasEnded),
                    "push": .integer(activity.source.number), "pushes": .integer(traffic.received),
                    "ignored": .integer(traffic.ignored), "stale-date": activity.staleTime.map(JSONValue.integer),
                    "removed-at": activity.removalTime.map { .integer($0 / 1_000) },
                    "content-state": activity.content ?? .null,
                ])
            },
        ])
    }
}

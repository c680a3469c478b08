// SPDX-License-Identifier: Apache-2.0

public import MartletCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The state of a device, or of a Live Activity on one, as APNs and the pushes to its token determine it.
public struct SimulatedDevice: Sendable, Hashable {
    /// The number of pushes that a Live Activity has received.
    struct ActivityTraffic: Sendable, Hashable {
        /// All pushes, including those that are no longer stored.
        private(set) var received = 0
        /// The pushes that the activity ignored.
        private(set) var ignored = 0

        /// Counts a push by its last delivery event.
        mutating func count(_ kind: DeliveryEvent.Kind) {
            switch kind {
            case .ignored:
                received += 1
                ignored += 1
            case .delivered, .deliveredFromStorage, .replacedOnDevice, .activityEnded: received += 1
            case .storedDeviceOffline, .discardedReplaced, .discardedExpired, .discardedNotStored, .released: break
            }
        }
    }

    /// A Live Activity that a push has started on the device.
    public struct StartedActivity: Sendable, Hashable {
        /// The identifier of the activity in the simulator, for ``SimulatedAPNs/device(_:)``.
        public let id: DeviceToken
        /// The token that updates the activity, which the app would report to its server; nil for an activity that
        /// subscribes to the channel of `input-push-channel` instead.
        public let token: DeviceToken?
        /// The name of the app's type for the attributes of the activity.
        public let attributesType: String
        /// The number of the push that started the activity.
        public let startedBy: Int
    }

    /// The kind of a token, as far as its registration and the pushes to it show.
    enum TokenKind: String {
        case device
        case activity
        case start = "push-to-start"
    }

    /// The topics for which the token is valid; nil for all.
    public internal(set) var topics: Set<String>?
    /// The environment in which the token is valid.
    public internal(set) var environment: SimulatedAPNs.Environment
    /// The time at which the token was last confirmed invalid, in milliseconds since 1970; nil while it is valid.
    package internal(set) var unregisteredTime: Int64?
    /// The time at which the token was last confirmed invalid; nil while it is valid.
    public var unregisteredAt: Date? { unregisteredTime.map(Date.init(millisecondsSince1970:)) }
    /// Whether the device is online.
    public internal(set) var isOnline = true
    /// The numbers of the pushes that are stored for the device, by topic or channel: one each, as "Sending
    /// notification requests to APNs" describes.
    ///
    /// "User Notifications updates" of June 2024 mentions several, distinguished by `apns-collapse-id`.
    public var stored: [String: Int] { storedPushes.numbers }
    /// The numbers of the notifications that the device shows, newest last, 100 at most; a newer notification replaces
    /// one with the same collapse identifier.
    public var shown: [Int] { notifications.pushes.map(\.number) }
    /// The Live Activity of the token; nil until a push for one arrives.
    public private(set) var activity: Activity?

    /// The channels to which the Live Activity subscribes.
    public internal(set) var channels: Set<ChannelID> = []
    /// The Live Activities that pushes to the device have started, newest last, 100 at most.
    public private(set) var startedActivities: [StartedActivity] = []

    /// The number of an alert or a background push to the token, which only the token of a device gets; nil for none.
    var notifiedBy: Int?
    /// Whether the token updates one Live Activity, which a push has started.
    private var isActivityToken = false
    /// Whether this is a Live Activity that only broadcasts update, because its start named a channel.
    private(set) var hasNoToken = false
    /// The pushes to the Live Activity of the token.
    private(set) var traffic = ActivityTraffic()
    private var storedPushes = StoredPushes()
    private var notifications = ShownNotifications()

    init(topics: Set<String>? = nil, environment: SimulatedAPNs.Environment) {
        self.topics = topics
        self.environment = environment
    }

    /// Delivers, stores or discards a push that APNs accepted.
    ///
    /// - Returns: The event of the push, after that of the stored push or the content that it replaces.
    mutating func receive(
        _ push: DeliveredPush,
        _ kind: DeliveryEvent.Kind = .delivered,
        at now: Int64
    ) -> DeviceRegistry.Deliveries {
        isOnline ? present(push, kind, at: now) : storedPushes.store(push, at: now)
    }

    /// Sets whether the device is online.
    ///
    /// - Returns: The pushes that were stored for a device that comes online, which it receives now.
    mutating func setOnline(_ isOnline: Bool) -> [DeliveredPush] {
        self.isOnline = isOnline
        return isOnline ? storedPushes.removeAll() : []
    }

    /// The time at which the first stored push expires, in milliseconds since 1970; nil when none is stored.
    var firstExpiry: Int64? { storedPushes.firstExpiry }

    /// Removes the stored pushes that have expired, and returns them in the order of their arrival.
    mutating func removeExpired(at now: Int64) -> [DeliveredPush] { storedPushes.removeExpired(at: now) }

    /// Restores the state after a push of an earlier run whose last delivery event is of this kind.
    mutating func restore(_ push: DeliveredPush, after kind: DeliveryEvent.Kind) {
        if kind == .storedDeviceOffline {
            isOnline = false
            storedPushes.insert(push)
        } else if push.isLiveActivity, let change = try? ActivityChange(push) {
            apply(change, of: push, at: push.time)
        } else if push.isShown {
            notifications.show(push)
        }
    }

    /// Restores the number of pushes of earlier runs to the Live Activity.
    mutating func restore(_ traffic: ActivityTraffic) { self.traffic = traffic }

    /// Records an activity that a push has started on the device.
    mutating func started(_ id: DeviceToken, hasToken: Bool, _ push: DeliveredPush) {
        let type = push.payload?["aps"]?["attributes-type"]?.stringValue ?? ""
        let token = hasToken ? id : nil
        startedActivities.append(StartedActivity(id: id, token: token, attributesType: type, startedBy: push.number))
        if startedActivities.count > ShownNotifications.limit { startedActivities.removeFirst() }
    }

    /// Sets the state of the activity that a push starts.
    mutating func begin(_ change: ActivityChange, with push: DeliveredPush, hasToken: Bool, at now: Int64) {
        hasNoToken = !hasToken
        isActivityToken = true
        apply(change, of: push, at: now)
        traffic.count(.delivered)
    }

    /// Sets the state of the activity after a change.
    private mutating func apply(_ change: ActivityChange, of push: DeliveredPush, at now: Int64) {
        activity = Activity(change, of: push, after: activity, at: now)
    }

    private mutating func present(
        _ push: DeliveredPush,
        _ kind: DeliveryEvent.Kind,
        at now: Int64
    ) -> DeviceRegistry.Deliveries {
        if push.isLiveActivity {
            let before = activity?.source
            let event = change(push, kind, at: now)
            // A start is a push of the activity that it starts.
            if event.kind == .ignored || activity?.source.number == push.number { traffic.count(event.kind) }
            guard let before, let activity, activity.source != before else { return [(push.number, event)] }
            let fate = activity.hasEnded ? DeliveryEvent.Kind.activityEnded : .replacedOnDevice
            return [(before.number, DeliveryEvent(fate, by: push.number, at: now)), (push.number, event)]
        }
        if push.isShown { notifications.show(push) }
        return [(push.number, DeliveryEvent(kind, at: now))]
    }

    /// Returns the rule that the token breaks with the event of a push, and the reason; nil when the token is right,
    /// and when its kind is not known ("Starting and updating Live Activities with ActivityKit push notifications").
    private func tokenProblem(
        with event: ActivityPush.Event,
        of push: DeliveredPush
    ) -> (PushLint.Rule, String)? {
        // A broadcast updates the activities on the device, whichever token subscribes.
        guard !push.isBroadcast else { return nil }
        let isStart = event == .start
        let advice =
            isStart
            ? "send a start to the push-to-start token of the device"
            : "send an \(event.rawValue) to the token of the activity"
        if isStart ? isActivityToken || activity != nil : !startedActivities.isEmpty {
            let use = isStart ? "updates a Live Activity" : "starts Live Activities"
            return (PushLint.Rule.activityTokenWrong, "the token \(use): \(advice)")
        }
        guard let evidence = deviceEvidence else { return nil }
        return (PushLint.Rule.activityDeviceToken, "\(evidence), so it is a device's token: \(advice)")
    }

    /// The kind of the token; a token that has received no push is that of a device.
    var tokenKind: TokenKind {
        if isActivityToken || !channels.isEmpty { return .activity }
        if deviceEvidence != nil { return .device }
        if !startedActivities.isEmpty { return .start }
        return activity == nil ? .device : .activity
    }

    /// The reason the token is known to be that of a device; nil when it can be that of a Live Activity.
    var deviceEvidence: String? {
        guard !isActivityToken, channels.isEmpty else { return nil }
        if let notifiedBy { return "push \(notifiedBy) to the token was an alert or a background push" }
        let app = topics?.sorted().first { Topic($0).ofLiveActivities.rawValue == $0 }
        return app.map { "the token is registered for \($0)" }
    }

    /// Applies a push to the Live Activity as ActivityKit does: see ``Activity/ignores(_:at:)``.
    private mutating func change(_ push: DeliveredPush, _ kind: DeliveryEvent.Kind, at now: Int64) -> DeliveryEvent {
        let change: ActivityChange
        do throws(ActivityPushError) {
            change = try ActivityChange(push)
        } catch {
            // The rules about single pushes add the finding.
            return DeliveryEvent(.ignored, at: now, error.cause)
        }
        if let (rule, note) = tokenProblem(with: change.event, of: push) {
            return DeliveryEvent(ignoredAt: now, rule, note)
        }
        let undecodable = SimulatedDevice.undecodable(push, at: now)
        guard change.event != .start else { return undecodable ?? DeliveryEvent(kind, at: now, "an activity starts") }
        let problem = activity?.problem(with: change)
        if let (rule, note) = problem, activity?.ignores(change.event, at: change.timestamp) == true {
            return DeliveryEvent(ignoredAt: now, rule, note)
        }
        if let undecodable { return undecodable }
        apply(change, of: push, at: now)
        guard let (rule, note) = problem else { return DeliveryEvent(kind, at: now) }
        return DeliveryEvent(kind, at: now, breaking: rule, note)
    }

    /// Returns the event of a push whose content the app's types cannot decode; nil for other pushes.
    private static func undecodable(_ push: DeliveredPush, at now: Int64) -> DeliveryEvent? {
        guard let finding = push.undecodable, let rule = ActivityContract.decodingRule(of: finding) else { return nil }
        return DeliveryEvent(ignoredAt: now, rule, finding.message)
    }
}

extension SimulatedDevice: CustomStringConvertible {
    /// The state of the device in one line, with the numbers of its pushes.
    public var description: String {
        let values: [String?] = [
            isOnline ? "online" : "offline", topics.map { "topics \($0.sorted())" },
            unregisteredAt.map { "unregistered since \($0)" }, "shown \(shown)",
            stored.isEmpty ? nil : "stored \(stored.values.sorted())", activity.map { "activity \($0)" },
        ]
        return values.compactMap(\.self).joined(separator: ", ")
    }
}

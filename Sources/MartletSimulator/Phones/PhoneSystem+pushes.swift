// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The effect of pushes that reach the phone.
extension PhoneSystem {
    /// Takes a push from APNs, which the system may delay to save power.
    mutating func take(_ push: DeliveredPush) {
        guard !push.isImmediate else { return apply(push) }
        let factor = isLowPower ? max(1, min(behavior.limits.lowPowerFactor, 1_000)) : 1
        let longest = behavior.limits.powerAwareDelay.clampedMilliseconds * Int64(factor)
        agenda.schedule(.take(push), at: now + Int64.random(in: 0...longest, using: &generator))
    }

    /// Applies a push, and counts its effect.
    mutating func apply(_ push: DeliveredPush) {
        let cause: SimulatedPhone.DropCause? =
            if let channel = push.channel {
                broadcast(push, on: channel)
            } else {
                switch tokens.purpose(of: push.deviceToken) {
                case nil: .tokenEnded
                case .device: notify(push)
                case .start: start(push)
                case .activity(let number): change(number, push)
                case .widgets: reload(push, isControl: false)
                case .control: reload(push, isControl: true)
                }
            }
        account.settle(cause)
    }

    // MARK: Notifications, widgets and controls

    private mutating func notify(_ push: DeliveredPush) -> SimulatedPhone.DropCause? {
        guard !push.isLiveActivity else { return .wrongToken }
        guard let aps = push.payload?["aps"], aps.members != nil else { return .malformed }
        let isBackground = NotificationPresentation.wakesApp(aps)
        let cause = isBackground ? wakeInBackground() : nil
        guard push.isShown || !isBackground else { return cause }
        guard permissions.alerts else { return .notAllowed }
        if push.isShown { notifications.show(push) }
        return nil
    }

    /// Runs the app for a background push, which the system does not after a force-quit ("Pushing background updates to
    /// your App"); returns the cause for which it does not.
    private mutating func wakeInBackground() -> SimulatedPhone.DropCause? {
        guard appState != .forceQuit else { return .notWoken }
        guard budgets.backgroundPushes.take(at: now) else { return .budget }
        guard wakesApp() else { return .notWoken }
        runApp()
        return nil
    }

    private mutating func reload(_ push: DeliveredPush, isControl: Bool) -> SimulatedPhone.DropCause? {
        guard push.payload?["aps"]?["content-changed"] == JSONValue.bool(true) else { return .malformed }
        guard !isControl else {
            account.controlReloads += 1
            return nil
        }
        // Reloads are not limited while the app is in front ("Keeping a widget up to date").
        guard appState == .foreground || budgets.takeReload(at: now) else { return .budget }
        account.widgetReloads += 1
        return nil
    }

    // MARK: Live Activities

    private mutating func start(_ push: DeliveredPush) -> SimulatedPhone.DropCause? {
        guard let change = try? ActivityChange(push), let aps = push.payload?["aps"] else { return .malformed }
        guard change.event == .start else { return .wrongToken }
        guard aps["attributes-type"]?.stringValue == app.attributesType,
            let surface = aps["attributes"]?[app.surfaceName]?.stringValue
        else { return .malformed }
        guard permissions.liveActivities else { return .notAllowed }
        guard change.timestamp <= latestTimestamp else { return .timestamp }
        guard canStart else { return .activityLimit }
        guard budgets.starts.take(at: now) else { return .budget }
        if generator.decides(behavior.tokens.startRotationAfterStart) { issueToken(for: .start) }
        let state = SimulatedDevice.Activity(change, of: push, after: nil, at: phoneTime)
        begin(surface, state, by: push)
        if generator.decides(behavior.duplicateStart), canStart { begin(surface, state, by: push) }
        // The phone ignores an older one.
        if let stored = push.startChannel.flatMap({ storedBroadcasts[$0] }), !stored.isLate(at: now),
            let newest = try? ActivityChange(stored), newest.timestamp > change.timestamp
        {
            account.count(.accepted, isTokenValid: true)
            take(stored)
        }
        return nil
    }

    /// Applies a broadcast to each activity on its channel; returns the cause for which none takes it.
    private mutating func broadcast(_ push: DeliveredPush, on channel: ChannelID) -> SimulatedPhone.DropCause? {
        var causes: [SimulatedPhone.DropCause?] = []
        for number in activities.listeners(on: channel) { causes.append(change(number, push)) }
        return causes.contains(nil) ? nil : causes.first ?? .tokenEnded
    }

    private mutating func change(_ number: Int, _ push: DeliveredPush) -> SimulatedPhone.DropCause? {
        guard let index = activities.firstIndex(where: { $0.number == number && !$0.hasEnded }) else {
            return .tokenEnded
        }
        guard let change = try? ActivityChange(push) else { return .malformed }
        guard change.event != .start else { return .wrongToken }
        guard change.timestamp <= latestTimestamp else { return .timestamp }
        guard !activities[index].state.ignores(change.event, at: change.timestamp) else { return .timestamp }
        // Whether the end of an activity counts is not documented.
        guard !push.isImmediate || change.event == .end || budgets.updates.take(at: now) else { return .budget }
        activities[index].apply(change, of: push, at: phoneTime)
        guard change.event == .end else {
            render(number)
            return nil
        }
        let stay = activities[index].state.removalTime.map { $0 - phoneTime } ?? 0
        end(number, .push, removedAt: now + stay)
        runAppIfWoken()
        return nil
    }

    /// The latest timestamp that the phone accepts, in seconds since 1970.
    private var latestTimestamp: Int64 { (phoneTime + behavior.limits.timestampLead.clampedMilliseconds) / 1_000 }
}

// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

/// The actions of the user, the system and the app.
extension PhoneSystem {
    /// Handles an action.
    mutating func handle(_ event: SimulatedPhone.Event) {
        switch event {
        case .setPermissions(let permissions): set(permissions)
        case .setOnline(let isOnline):
            self.isOnline = isOnline
            if isOnline { reports.send(at: now, using: &generator) }
        case .setLowPower(let isLowPower): self.isLowPower = isLowPower
        case .install: install()
        case .delete: delete()
        case .launch, .leave, .terminate, .forceQuit, .updateSystem, .allow, .swipe, .start, .end:
            if appState != .absent { handleInstalled(event) }
        }
    }

    /// Handles an action that has an effect only while the app is installed.
    private mutating func handleInstalled(_ event: SimulatedPhone.Event) {
        switch event {
        case .launch: launch()
        case .leave: if appState == .foreground { appState = .suspended }
        case .terminate: if appState == .suspended { appState = .terminated }
        case .forceQuit: appState = .forceQuit
        case .updateSystem: updateSystem()
        case .allow: allow()
        case .swipe(let id): swipe(id)
        case .start(let surface, let content):
            guard appState == .foreground, permissions.liveActivities, canStart else { return }
            begin(surface, SimulatedDevice.Activity(startedByAppWith: content, at: phoneTime / 1_000), by: nil)
        case .end(let surface):
            guard isInMemory else { return }
            for activity in activities where activity.surface == surface {
                if activity.hasEnded { remove(activity.number) } else { end(activity.number, .app, removedAt: now) }
            }
            runApp()
        case .install, .delete, .setPermissions, .setOnline, .setLowPower: break
        }
    }

    // MARK: The app

    private mutating func install() {
        delete()
        appState = .terminated
        tokens.visibleStart.isMissing = generator.decides(behavior.tokens.missingStart)
        tokens.visibleStart.isStreamSilent = generator.decides(behavior.tokens.silentStream)
    }

    /// Deletes the app, which reports nothing any more.
    private mutating func delete() {
        endAll()
        endings = []
        reports.discardUnsent()
        notifications = ShownNotifications()
        let areRefused = generator.decides(behavior.tokens.refusalOfInvalid)
        tokens.endAll(areRefused: areRefused, at: now)
        tokens.visibleStart = VisibleStartToken()
        hasConsent = false
        appState = .absent
    }

    private mutating func launch() {
        appState = .foreground
        var purposes: [PhoneTokens.Purpose] = [.device]
        if !tokens.visibleStart.isMissing { purposes.append(.start) }
        if !app.widgets.isEmpty { purposes.append(.widgets) }
        purposes += app.controls.map(PhoneTokens.Purpose.control)
        for purpose in purposes where tokens[purpose] == nil { issueToken(for: purpose) }
        runApp(isLaunch: true)
    }

    // MARK: The user and the system

    private mutating func updateSystem() {
        appState = .terminated
        if !behavior.keepsActivitiesInSystemUpdate { endAll() }
        guard tokens[.start] != nil, generator.decides(behavior.tokens.silenceAfterSystemUpdate) else { return }
        tokens.visibleStart.isFrozen = true
        issueToken(for: .start, refusesEarlier: false)
    }

    private mutating func set(_ new: SimulatedPhone.Permissions) {
        let old = permissions
        guard new != old else { return }
        permissions = new
        if new.frequentUpdates != old.frequentUpdates {
            budgets.allowFrequentUpdates(new.frequentUpdates, at: now)
            endAll(removesCards: false)
        }
        if new.liveActivities != old.liveActivities { endAll() }
        if new.liveActivities, !old.liveActivities { tokens.visibleStart.isFrozen = false }
        runAppIfWoken()
    }

    /// Allows Live Activities on the first card, after which the system issues the tokens that wait for that.
    private mutating func allow() {
        let waiting = activities.indices.filter { activities[$0].waitsForAllow && !activities[$0].hasEnded }
        guard !waiting.isEmpty else { return }
        hasConsent = true
        for index in waiting {
            activities[index].waitsForAllow = false
            activities[index].isObserved = false
            let delay = behavior.tokens.delayWhileRunning.clampedMilliseconds
            agenda.schedule(.issueToken(activities[index].number), at: now + delay)
        }
        runAppIfWoken()
    }

    private mutating func swipe(_ id: String) {
        guard let activity = activities.first(where: { $0.id == id }) else { return }
        guard !activity.hasEnded else { return remove(activity.number) }
        end(activity.number, .user, removedAt: now)
        runAppIfWoken()
    }
}

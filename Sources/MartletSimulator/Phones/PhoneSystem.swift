// SPDX-License-Identifier: Apache-2.0

internal import MartletCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The system of a phone and the app on it, without I/O or a clock; times are in milliseconds since 1970.
struct PhoneSystem: Sendable {
    let app: SimulatedPhone.App
    let behavior: SimulatedPhone.Behavior
    var now: Int64
    var generator: SplitMix64
    var permissions: SimulatedPhone.Permissions
    var appState = SimulatedPhone.AppState.absent
    var isOnline = true
    var isLowPower = false
    /// Whether the user has allowed Live Activities on a card.
    var hasConsent = false
    var tokens = PhoneTokens()
    /// The activities with a card on the screen, oldest first.
    var activities: [PhoneActivity] = []
    /// The number of activities so far.
    var activityCount = 0
    var notifications = ShownNotifications()
    var budgets: PhoneBudgets
    /// The broadcasts that APNs stores for activities that start later.
    var storedBroadcasts: [ChannelID: DeliveredPush] = [:]
    var agenda = PhoneAgenda()
    var reports: ReportQueue
    /// The ends of activities that the app has not reported.
    var endings: [SimulatedPhone.Report.Ending] = []
    var account = SimulatedPhone.Account()

    init(
        _ app: SimulatedPhone.App,
        _ permissions: SimulatedPhone.Permissions,
        _ behavior: SimulatedPhone.Behavior,
        _ generator: SplitMix64,
        at now: Int64
    ) {
        self.app = app
        self.permissions = permissions
        self.behavior = behavior
        self.generator = generator
        self.now = now
        budgets = PhoneBudgets(behavior.limits, allowsFrequentUpdates: permissions.frequentUpdates, at: now)
        reports = ReportQueue(behavior.reports)
    }

    /// The time by the phone's clock.
    var phoneTime: Int64 {
        let hundredYears = 100 * 365 * 86_400
        return now + Int64(min(max(behavior.clockOffset, -hundredYears), hundredYears)) * 1_000
    }

    /// Performs the next action that is due at a time, and moves the clock to its time; returns false when none is due.
    mutating func performNext(by end: Int64) -> Bool {
        guard let (time, action) = agenda.next(by: end) else { return false }
        now = max(now, time)
        switch action {
        case .take(let push): apply(push)
        case .issueToken(let number): issueToken(of: number)
        case .render(let number): render(number)
        case .expire(let number):
            guard activities.contains(where: { $0.number == number && !$0.hasEnded }) else { break }
            self.end(number, .system, removedAt: now + ActivityPresentation.longestStay)
            runAppIfWoken()
        case .remove(let number): remove(number)
        case .rotate(let purpose, let token): rotate(purpose, token)
        }
        return true
    }

    // MARK: The app

    /// Whether the app is in memory.
    var isInMemory: Bool { appState == .foreground || appState == .suspended }

    /// Returns whether the system gives the app time to run, which it does in the foreground, and in the background
    /// with a probability.
    mutating func wakesApp() -> Bool {
        let probability =
            switch appState {
            case .absent: 0.0
            case .foreground: 1.0
            case .suspended: behavior.tokens.wakeWhileSuspended
            case .terminated: behavior.tokens.wakeWhileTerminated
            case .forceQuit: behavior.tokens.wakeAfterForceQuit
            }
        guard generator.decides(probability) else { return false }
        if appState != .foreground { appState = .suspended }
        return true
    }

    mutating func runAppIfWoken() {
        if wakesApp() { runApp() }
    }

    /// Runs the app, which ends duplicates, observes and reports all other activities, and reports at its launch also
    /// the version of the system and the tokens.
    mutating func runApp(isLaunch: Bool = false) {
        if isLaunch || !tokens.visibleStart.isStreamSilent { tokens.readStartToken() }
        for number in behavior.endsDuplicates ? duplicates : [] { end(number, .app, removedAt: now) }
        for index in activities.indices { activities[index].isObserved = true }
        var contents = isLaunch ? registrations : []
        if let token = tokens.visibleStart.token { contents.append(.pushToStartToken(token)) }
        contents.append(.permissions(permissions))
        contents += endings.map(SimulatedPhone.Report.Content.ended)
        endings = []
        let active = activities.filter { !$0.hasEnded }
        contents.append(
            .activities(
                active.map { $0.report(token: tokens[.activity($0.number)], clockOffset: phoneTime - now) }
            )
        )
        for content in contents { reports.add(content, madeAt: Date(millisecondsSince1970: phoneTime)) }
        if isOnline { reports.send(at: now, using: &generator) }
    }

    /// The reports of the version of the system, and of the tokens for alerts, widgets and controls.
    private var registrations: [SimulatedPhone.Report.Content] {
        let controls = app.controls.compactMap { kind in
            tokens[.control(kind)].map { SimulatedPhone.Report.Control(kind: kind, token: $0) }
        }
        let contents: [SimulatedPhone.Report.Content?] = [
            .systemVersion(behavior.systemVersion),
            tokens[.device].map { .deviceToken($0) },
            tokens[.widgets].map { .widgetToken($0, kinds: app.widgets) },
            controls.isEmpty ? nil : .controlTokens(controls),
        ]
        return contents.compactMap(\.self)
    }

    // MARK: Tokens

    /// Issues a token for a purpose, in place of an earlier one.
    ///
    /// - Parameters:
    ///   - purpose: The purpose.
    ///   - refusesEarlier: Whether APNs refuses pushes to the earlier token; nil for a random decision.
    mutating func issueToken(for purpose: PhoneTokens.Purpose, refusesEarlier: Bool? = nil) {
        let isRefused = refusesEarlier ?? generator.decides(behavior.tokens.refusalOfInvalid)
        let token = tokens.issue(purpose, refusesEarlier: isRefused, at: now, using: &generator)
        guard let token, let interval = rotation(of: purpose)?.interval else { return }
        agenda.schedule(.rotate(purpose, token), at: now + interval)
    }

    /// Replaces a token with the probability of one interval; no effect for one that is no longer valid.
    private mutating func rotate(_ purpose: PhoneTokens.Purpose, _ token: DeviceToken) {
        guard tokens[purpose] == token, let (interval, probability) = rotation(of: purpose) else { return }
        guard generator.decides(probability) else {
            agenda.schedule(.rotate(purpose, token), at: now + interval)
            return
        }
        issueToken(for: purpose)
        runAppIfWoken()
    }

    /// Returns the interval and the probability with which the system replaces a token; nil when it does not.
    private func rotation(of purpose: PhoneTokens.Purpose) -> (interval: Int64, probability: Double)? {
        switch purpose {
        case .start where behavior.tokens.startRotation > 0: (86_400_000, behavior.tokens.startRotation)
        case .activity where behavior.tokens.updateRotation > 0: (3_600_000, behavior.tokens.updateRotation)
        case .device, .start, .activity, .widgets, .control: nil
        }
    }
}

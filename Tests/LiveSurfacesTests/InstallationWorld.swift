// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore

@testable import LiveSurfaces

/// A phone whose users, tokens and storage change while its network fails, from a seed.
///
/// At the end the network works. Then the relay must have exactly what the phone has, and no installation of another
/// user may have a token of the phone.
struct InstallationWorld {
    struct Violation: Error, CustomStringConvertible {
        let description: String
    }

    /// The result of sending a request.
    private enum Network: CaseIterable {
        case works, losesRequest, losesAnswer, isUnavailable, endsWithApp
    }

    private static let slots: [PushTokenSlot] = [
        .device, .widgets, .start(attributesType: "Order"), .start(attributesType: "a/b~c"), .control(kind: "bell"),
    ]

    private var random: SplitMix64
    private let tell: ((String) -> Void)?
    private var relay = ModelRelay()
    // What is true on the phone.
    private var environment = InstallationClient.Environment.production
    private var user: String?
    private var tokens: [PushTokenSlot: String] = [:]
    private var activities: [String: ReportedActivity] = [:]
    private var locale = "en"
    private var permitsAlerts = true
    // What the client knows.
    private var state = InstallationState()
    private var stored: InstallationState?
    private var backup: InstallationState?
    private var count = 0
    /// Whether the client cannot know what the relay has before the next launch.
    private var isChangedByBackEnd = false

    init(seed: UInt64, tell: ((String) -> Void)? = nil) {
        random = SplitMix64(state: seed)
        self.tell = tell
    }

    mutating func run() throws {
        try issueTokens()
        for _ in 0..<Int.random(in: 5...40, using: &random) { try act() }
        if isChangedByBackEnd { try launch() }
        // Everything that failed is repeated.
        for _ in 0..<100 where state.nextStep != nil { try step(.works) }
        try check()
    }

    private mutating func act() throws {
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<9: try step(Network.allCases.randomElement(using: &random) ?? .works)
        case 9..<14: changePhone()
        case 14: try launch()
        case 15: backup = stored
        case 16:
            // The system issues other tokens after a backup is restored, and after the app is installed again.
            stored = Bool.random(using: &random) ? backup : nil
            try issueTokens()
        case 17:
            environment = environment == .production ? .development : .production
            try issueTokens()
        case 18:
            relay.installations.keys.sorted().randomElement(using: &random).map { relay.forget($0) }
            isChangedByBackEnd = true
        default:
            state.installation.map { relay.set(.text("xx"), at: MemberPath("locale"), of: $0.secret) }
            isChangedByBackEnd = true
        }
    }

    /// Changes something that the app notices while it runs.
    private mutating func changePhone() {
        switch Int.random(in: 0..<11, using: &random) {
        case 0..<3:
            user = ["anna", "bert", nil].randomElement(using: &random) ?? nil
            tell?("user \(user ?? "none")")
            state.setUser(user)
        case 3..<5:
            let slot = Self.slots.randomElement(using: &random) ?? .device
            issue(slot)
            state.set(tokens[slot].map(MemberValue.text), at: slot.path)
        case 5, 6: changeActivity()
        default:
            locale = locale == "en" ? "de" : "en"
            permitsAlerts = Bool.random(using: &random)
            reportAttributes()
        }
    }

    /// An activity starts, gets a token or ends.
    private mutating func changeActivity() {
        count += 1
        let known = activities.keys.sorted().randomElement(using: &random)
        switch (known, Int.random(in: 0..<3, using: &random)) {
        case (let id?, 0):
            activities[id]?.token = "token \(count)"
            state.setToken("token \(count)", ofActivity: id)
        case (let id?, 1):
            activities[id] = nil
            let cause = ActivityEndCause.allCases.randomElement(using: &random) ?? .user
            state.endActivity(id, by: cause, at: Int64(count))
        default:
            let id = "activity \(count)"
            let starter = ActivityStarter.allCases.randomElement(using: &random) ?? .app
            let started = ReportedActivity(surface: "order \(count)", startedAt: Int64(count), startedBy: starter)
            activities[id] = started
            state.reportActivity(id, of: started.surface, startedAt: Int64(count), by: starter)
        }
    }

    // MARK: The app

    private mutating func issue(_ slot: PushTokenSlot) {
        count += 1
        tokens[slot] = "token \(count)"
    }

    /// Issues all tokens, without Live Activities, and launches the app.
    private mutating func issueTokens() throws {
        tokens = [:]
        activities = [:]
        for slot in Self.slots { issue(slot) }
        try launch()
    }

    /// Launches the app with the state that is stored.
    private mutating func launch() throws {
        tell?("launch")
        isChangedByBackEnd = false
        state =
            try stored.map {
                try JSONDecoder().decode(InstallationState.self, from: try JSONEncoder().encode($0))
            } ?? InstallationState()
        state.configure(environment, bundleID: "com.example.orders")
        state.setUser(user)
        // The system may list the activities only after the launch.
        let listed: Set<String> = Bool.random(using: &random) ? Set(activities.keys) : []
        state.endActivities(except: listed, at: Int64(count))
        for (slot, token) in tokens { state.set(.text(token), at: slot.path) }
        for (id, activity) in activities {
            // The app finds an activity again without knowledge of its start.
            state.reportActivity(id, of: activity.surface, startedAt: Int64(count), by: .push)
            if let token = activity.token { state.setToken(token, ofActivity: id) }
        }
        reportAttributes()
    }

    private mutating func reportAttributes() {
        state.set(.text(locale), at: MemberPath("locale"))
        state.set(.flag(permitsAlerts), at: MemberPath("permissions", "alerts"))
    }

    // MARK: The client

    /// Performs the next step of the client.
    private mutating func step(_ network: Network) throws {
        guard let step = state.nextStep else { return }
        let request =
            switch step {
            case .send(let request): request
            case .enroll(let user): state.enrollment(of: user, with: relay.ticket(for: user))
            }
        state.begin(request)
        stored = state
        tell?("\(request.method) \(String(decoding: request.body, as: UTF8.self)): \(network)")
        let isReceived = network != .losesRequest && network != .isUnavailable
        let answer = isReceived ? relay.answer(request) : nil
        // The phone changes while the request is under way.
        if network != .works || Bool.random(using: &random) { changePhone() }
        switch network {
        case .works:
            guard let answer else { return }
            _ = state.receive(answer, to: request, jitter: 1)
            stored = state
        case .losesRequest, .losesAnswer:
            _ = state.retry(because: "no answer", jitter: 1)
        case .isUnavailable:
            let answer = InstallationAnswer(status: 503, retryAfter: "5", body: [])
            let delay = state.receive(answer, to: request, jitter: 1)
            guard delay >= .seconds(5) else { throw Violation(description: "the delay after 503 is \(delay)") }
        case .endsWithApp:
            try launch()
        }
    }

    // MARK: Checks

    private func check() throws {
        if let step = state.nextStep { throw Violation(description: "the client does not settle: \(step)") }
        guard state.user == user else { throw Violation(description: "the client has another user") }
        var expected: [MemberPath: MemberValue] = [
            .environment: .text(environment.rawValue), .bundleID: .text("com.example.orders"),
            MemberPath("locale"): .text(locale), MemberPath("permissions", "alerts"): .flag(permitsAlerts),
        ]
        for (slot, token) in tokens { expected[slot.path] = .text(token) }
        for (id, activity) in activities {
            // A start is lost if the app ends before the state is stored, and the app finds the activity later.
            let known = state.members[.activity(id)]
            guard known?.activity?.surface == activity.surface, known?.activity?.token == activity.token else {
                throw Violation(description: "the client has \(known as Any) instead of \(activity)")
            }
            expected[.activity(id)] = known
        }
        if let user {
            var own = state.installation.flatMap { relay.installations[$0.secret] }
            let running = own?.members.filter { $0.value.activity?.end == nil }
            own?.members = running ?? [:]
            guard own == ModelRelay.Installation(user: user, members: expected) else {
                throw Violation(description: "the relay has \(own as Any) instead of \(expected)")
            }
        } else if state.installation != nil {
            throw Violation(description: "the client has an installation without a user")
        }
        guard state.members.values.allSatisfy({ $0.activity?.end == nil }) else {
            throw Violation(description: "the client reports an end that the relay has confirmed")
        }
        let current = Set((tokens.values + activities.values.compactMap(\.token)).map(MemberValue.text))
        for (secret, other) in relay.installations where secret != state.installation?.secret {
            guard other.tokens.isDisjoint(with: current) else {
                throw Violation(description: "the installation of \(other.user) has tokens of the phone")
            }
        }
    }
}

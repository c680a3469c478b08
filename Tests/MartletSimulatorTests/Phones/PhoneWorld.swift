// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import MartletSimulator

/// Two days of a phone with random behavior, user and pushes, from a seed, which checks what always holds.
struct PhoneWorld {
    struct Violation: Error, CustomStringConvertible {
        var description: String
    }

    /// The state after an event, by which two runs are compared.
    struct Step: Hashable {
        let answer: SimulatedPhone.Answer?
        let reports: [SimulatedPhone.Report]
        let cards: [SimulatedPhone.Card]
        let account: SimulatedPhone.Account
    }

    private static let topic: Topic = "com.example.app"

    private(set) var steps: [Step] = []
    private var generator: SplitMix64
    private var phone: SimulatedPhone
    private let begin = Date(timeIntervalSince1970: 1_790_000_000)
    private var now: Date
    private let areUpdatesFrequent: Bool
    /// The tokens that the app has reported, also those that have ended.
    private var tokens: [DeviceToken] = []
    private var timestamp: Int64 = 1_790_000_000
    private var startsOfApp = 0
    /// The times of the updates with priority 10 that had an effect.
    private var urgentUpdates: [Date] = []
    private let tell: ((String) -> Void)?

    init(seed: UInt64, tell: ((String) -> Void)? = nil) {
        var generator = SplitMix64(state: seed)
        areUpdatesFrequent = Bool.random(using: &generator)
        var behavior = SimulatedPhone.Behavior()
        behavior.tokens.waitForAllow = Bool.random(using: &generator)
        behavior.tokens.updateRotation = Double.random(in: 0...0.2, using: &generator)
        behavior.tokens.silenceAfterSystemUpdate = Double.random(in: 0...1, using: &generator)
        behavior.limits.storesByCollapseID = Bool.random(using: &generator)
        behavior.endsDuplicates = Bool.random(using: &generator)
        behavior.keepsActivitiesInSystemUpdate = Bool.random(using: &generator)
        behavior.clockOffset = Int.random(in: -600...600, using: &generator)
        phone = SimulatedPhone(
            app: SimulatedPhone.App(topic: PhoneWorld.topic, widgets: ["orders"], controls: ["pause"]),
            permissions: SimulatedPhone.Permissions(frequentUpdates: areUpdatesFrequent),
            behavior: behavior,
            seed: seed,
            at: begin
        )
        now = begin
        self.generator = generator
        self.tell = tell
    }

    mutating func run() throws(Violation) {
        for event: SimulatedPhone.Event in [.install, .launch, .leave] { try handle(event) }
        for _ in 0..<300 {
            now += Double(Int.random(in: 0...1_200, using: &generator)) / 2
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<3: try handle(nextEvent())
            case 3: expectSomething()
            default: try push()
            }
        }
        now += 14 * 3_600
        try handle(.setOnline(true))
        now += 14 * 3_600
        phone.advance(to: now)
        guard phone.cards.isEmpty, phone.account.waiting == 0 else {
            throw Violation(description: "left at the end: \(phone.cards), \(phone.account)")
        }
    }

    // MARK: Events

    private mutating func handle(_ event: SimulatedPhone.Event) throws(Violation) {
        tell?("\(now) \(event)")
        phone.advance(to: now)
        let count = phone.account.cardsStarted
        phone.handle(event, at: now)
        if case .start = event { startsOfApp += phone.account.cardsStarted - count }
        try check(nil)
    }

    private mutating func nextEvent() -> SimulatedPhone.Event {
        let card = phone.cards.randomElement(using: &generator)?.id ?? ""
        let events: [SimulatedPhone.Event] = [
            .launch, .launch, .leave, .leave, .terminate, .forceQuit, .updateSystem, .allow, .allow, .swipe(card),
            .setOnline(true), .setOnline(true), .setOnline(false), .setLowPower(Bool.random(using: &generator)),
            .start(surface: surface(), content: content()), .end(surface: surface()), .install, .launch,
            .setPermissions(
                SimulatedPhone.Permissions(
                    alerts: Bool.random(using: &generator),
                    liveActivities: Int.random(in: 0..<4, using: &generator) > 0,
                    frequentUpdates: areUpdatesFrequent
                )
            ),
        ]
        return events.randomElement(using: &generator) ?? .launch
    }

    private mutating func surface() -> String { "order-\(Int.random(in: 1...4, using: &generator))" }

    private mutating func content() -> JSONValue {
        ["n": .number(JSONNumber(Int.random(in: 1...5, using: &generator)))]
    }

    private mutating func expectSomething() {
        let expected: JSONValue? = Bool.random(using: &generator) ? content() : nil
        phone.expect(surface(), expected, since: now)
    }

    // MARK: Pushes

    private mutating func push() throws(Violation) {
        guard let token = tokens.suffix(12).randomElement(using: &generator) else { return }
        timestamp = max(timestamp, Int64(now.timeIntervalSince1970)) + Int64.random(in: -2...3, using: &generator)
        let kinds: [PushType] = [.liveActivity, .liveActivity, .liveActivity, .alert, .widgets, .controls]
        let type = kinds.randomElement(using: &generator) ?? .alert
        let isUrgent = Bool.random(using: &generator)
        let expirations: [Int64?] = [nil, 0, Int64(now.timeIntervalSince1970) + 600]
        let expiration: Int64? = expirations.randomElement(using: &generator) ?? nil
        let headers = PushHeaders(
            pushType: type.rawValue,
            expiration: expiration.map { String($0) },
            priority: isUrgent ? "10" : "5",
            topic: PhoneWorld.topic.qualified(for: type).rawValue,
            collapseID: surface()
        )
        let event = ["start", "update", "update", "update", "end"].randomElement(using: &generator) ?? "update"
        let aps: JSONValue = type == .liveActivity ? activity(event) : ["alert": "Ready", "content-changed": true]
        let payload: JSONValue = ["aps": aps]
        phone.advance(to: now)
        let before = phone.account.effective
        let answer = phone.receive(payload.encoded(), headers: headers, to: token, at: now)
        tell?("\(now) \(type.rawValue) \(event) to \(token): \(answer)")
        if isUrgent, event == "update", type == .liveActivity, phone.account.effective > before {
            urgentUpdates.append(now)
        }
        try check(answer)
    }

    private mutating func activity(_ event: String) -> JSONValue {
        [
            "timestamp": .number(JSONNumber(timestamp)), "event": .string(event), "content-state": content(),
            "attributes-type": "SurfaceActivityAttributes", "attributes": ["surfaceId": .string(surface())],
            "alert": "Order",
        ]
    }

    // MARK: Invariants

    private mutating func check(_ answer: SimulatedPhone.Answer?) throws(Violation) {
        let reports = phone.takeReports()
        try check(reports)
        let account = phone.account
        let results = [
            account.refused, account.toInvalidTokens, account.effective, account.lost, account.wasted, account.waiting,
        ]
        try require(account.pushes == results.reduce(0, +), "the results of pushes do not add up: \(account)")
        try require(results.allSatisfy { $0 >= 0 }, "a negative result of pushes: \(account)")
        let cards = phone.cards
        try require(account.cardsStarted - account.cardsRemoved == cards.count, "cards do not add up: \(account)")
        let active = cards.filter { $0.state != .ended }
        try require(active.count <= 5, "\(active.count) activities")
        try require(active.allSatisfy { now < $0.startedAt + 8 * 3_600 }, "active for more than eight hours")
        try require(cards.allSatisfy { now < $0.startedAt + 12 * 3_600 }, "visible for more than twelve hours")
        try require(account.longestReachableStaleness <= account.longestStaleness, "reachable staleness is too long")
        let starts = Double(account.cardsStarted - startsOfApp)
        try require(starts <= 11 + now.timeIntervalSince(begin) / 8_640, "\(starts) push starts")
        let hour = urgentUpdates.count { $0 > now - 3_600 }
        try require(hour <= (areUpdatesFrequent ? 481 : 31), "\(hour) urgent updates in an hour")
        steps.append(Step(answer: answer, reports: reports, cards: cards, account: account))
    }

    private mutating func check(_ reports: [SimulatedPhone.Report]) throws(Violation) {
        for report in reports {
            try require(report.arrival <= now, "a report from the future")
            for token in report.content.tokens { add(token) }
        }
    }

    /// Makes a token the last one of those that pushes go to.
    private mutating func add(_ token: DeviceToken) {
        tokens.removeAll { $0 == token }
        tokens.append(token)
    }

    private func require(_ holds: Bool, _ rule: @autoclosure () -> String) throws(Violation) {
        if !holds { throw Violation(description: "\(now): \(rule())") }
    }
}

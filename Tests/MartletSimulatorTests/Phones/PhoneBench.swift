// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import MartletSimulator

/// A phone with an app, and a back end that stores its reports and sends pushes.
struct PhoneBench {
    static let topic: Topic = "com.example.app"

    private(set) var phone: SimulatedPhone
    private(set) var now = Date(timeIntervalSince1970: 1_790_000_000)
    private(set) var reports: [SimulatedPhone.Report] = []
    /// The timestamp of the last push, which rises with each.
    private var timestamp: Int64 = 0

    /// Creates a phone whose user has installed, opened and left the app.
    init(
        _ behavior: SimulatedPhone.Behavior = .reliable,
        permissions: SimulatedPhone.Permissions = SimulatedPhone.Permissions(),
        widgets: [String] = [],
        controls: [String] = []
    ) {
        let app = SimulatedPhone.App(topic: PhoneBench.topic, widgets: widgets, controls: controls)
        phone = SimulatedPhone(app: app, permissions: permissions, behavior: behavior, seed: 7, at: now)
        for event: SimulatedPhone.Event in [.install, .launch, .leave] { handle(event) }
    }

    // MARK: The phone

    mutating func handle(_ event: SimulatedPhone.Event) {
        phone.handle(event, at: now)
        reports += phone.takeReports()
    }

    mutating func wait(_ seconds: Double) {
        now += seconds
        phone.advance(to: now)
        reports += phone.takeReports()
    }

    mutating func expect(_ content: JSONValue?, of surface: String = "order-1") {
        phone.expect(surface, content, since: now)
    }

    /// The content of each card.
    var contents: [JSONValue] { phone.cards.map(\.content) }

    func dropped(_ cause: SimulatedPhone.DropCause) -> Int { phone.account.dropped[cause] ?? 0 }

    // MARK: The back end

    /// The push-to-start token that the app reported last.
    var startToken: DeviceToken? {
        for report in reports.reversed() { if case .pushToStartToken(let token) = report.content { return token } }
        return nil
    }

    var deviceToken: DeviceToken? {
        for report in reports.reversed() { if case .deviceToken(let token) = report.content { return token } }
        return nil
    }

    /// The activities that the app reported last.
    var activities: [SimulatedPhone.Report.Activity] {
        for report in reports.reversed() { if case .activities(let activities) = report.content { return activities } }
        return []
    }

    /// The ends of activities that the app has reported.
    var endings: [SimulatedPhone.Report.Ending] {
        reports.compactMap { if case .ended(let ending) = $0.content { ending } else { nil } }
    }

    /// The update token of the oldest activity that the app reported last.
    var updateToken: DeviceToken? { activities.first?.token }

    @discardableResult
    mutating func start(
        _ surface: String = "order-1",
        _ content: JSONValue = ["n": 1],
        without key: String? = nil,
        type: String = "SurfaceActivityAttributes",
        expiration: Int64? = nil,
        collapseID: String? = nil,
        channel: ChannelID? = nil
    ) -> SimulatedPhone.Answer {
        let aps: JSONValue = [
            "timestamp": nextTimestamp(), "event": "start", "content-state": content, "attributes-type": .string(type),
            "attributes": ["surfaceId": .string(surface)], "alert": ["title": "Order"],
        ]
        var members = (aps.members ?? []).filter { $0.name != key }
        if let channel { members.append(.init("input-push-channel", .string(channel.rawValue))) }
        return send(.object(members), to: startToken, expiration: expiration, collapseID: collapseID)
    }

    @discardableResult
    mutating func update(
        _ content: JSONValue,
        timestamp: Int64? = nil,
        priority: Int = 10,
        staleDate: Date? = nil
    ) -> SimulatedPhone.Answer {
        let time: JSONValue = if let timestamp { .number(JSONNumber(timestamp)) } else { nextTimestamp() }
        var members: [JSONValue.Member] = [
            .init("timestamp", time), .init("event", "update"), .init("content-state", content),
        ]
        if let staleDate { members.append(.init("stale-date", seconds(staleDate))) }
        return send(.object(members), to: updateToken, priority: priority)
    }

    @discardableResult
    mutating func end(
        timestamp: Int64? = nil,
        dismissalDate: Date? = Date(timeIntervalSince1970: 1)
    ) -> SimulatedPhone.Answer {
        let time: JSONValue = if let timestamp { .number(JSONNumber(timestamp)) } else { nextTimestamp() }
        var members: [JSONValue.Member] = [
            .init("timestamp", time), .init("event", "end"), .init("content-state", ["n": 0]),
        ]
        if let dismissalDate { members.append(.init("dismissal-date", seconds(dismissalDate))) }
        return send(.object(members), to: updateToken)
    }

    /// Sends a broadcast that updates the activities on a channel, or ends them without content.
    mutating func broadcast(_ content: JSONValue?, on channel: ChannelID, expiration: Int64 = 0) {
        var members: [JSONValue.Member] = [
            .init("timestamp", nextTimestamp()), .init("event", content == nil ? "end" : "update"),
            .init("content-state", content ?? [:]),
        ]
        if content == nil { members.append(.init("dismissal-date", .number(JSONNumber(1)))) }
        let payload: JSONValue = ["aps": .object(members)]
        let headers = PushHeaders(
            pushType: PushType.liveActivity.rawValue,
            expiration: String(expiration),
            priority: "10"
        )
        phone.receive(payload.encoded(), headers: headers, on: channel, at: now)
        reports += phone.takeReports()
    }

    /// Sends a push to a token; `aps` is its content.
    @discardableResult
    mutating func send(
        _ aps: JSONValue,
        to token: DeviceToken?,
        type: PushType = .liveActivity,
        topic: Topic = PhoneBench.topic,
        priority: Int = 10,
        expiration: Int64? = nil,
        collapseID: String? = nil
    ) -> SimulatedPhone.Answer {
        guard let token else { return .refused(.missingDeviceToken) }
        let payload: JSONValue = ["aps": aps]
        let headers = PushHeaders(
            pushType: type.rawValue,
            expiration: expiration.map { String($0) },
            priority: String(priority),
            topic: topic.qualified(for: type).rawValue,
            collapseID: collapseID
        )
        defer { reports += phone.takeReports() }
        return phone.receive(payload.encoded(), headers: headers, to: token, at: now)
    }

    private func seconds(_ date: Date) -> JSONValue { .number(JSONNumber(Int64(date.timeIntervalSince1970))) }

    private mutating func nextTimestamp() -> JSONValue {
        timestamp = max(timestamp + 1, Int64(now.timeIntervalSince1970))
        return .number(JSONNumber(timestamp))
    }
}

// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import MartletCore
import MartletOutbox
import MartletSimulator
import TestSupport
import Testing

@testable import MartletRelay

/// Changes of surfaces that leave what a phone shows as it was.
@Suite(.timeLimit(.minutes(10))) struct ContentChangeTests {
    private let channel = SurfaceChannel.test()

    /// Returns a bench whose phone shows a notification or a widget.
    private func shown(_ content: SurfaceContent) throws -> SurfaceSessionBench {
        var bench = SurfaceSessionBench()
        try bench.stored.add(.device, "device", at: bench.now)
        bench.put(content)
        #expect(bench.plan.sends.count == 1)
        bench.now += 1
        try bench.settle()
        return bench
    }

    /// Returns a bench whose phone shows a Live Activity in revision 1.
    private func live(on channel: SurfaceChannel? = nil) throws -> SurfaceSessionBench {
        var bench = SurfaceSessionBench()
        guard let channel else {
            try bench.goLive()
            return bench
        }
        try bench.goLive(on: channel)
        return bench
    }

    // MARK: Other kinds

    @Test(arguments: SurfaceKind.allCases.filter { $0 != .liveActivity })
    func `a change of audience or priority sends nothing`(kind: SurfaceKind) throws {
        var content = SurfaceContent.examples(of: kind)
        var bench = try shown(content)
        let since = bench.now * 1_000
        for priority in [false, true, true] {
            bench.now += 60
            content.isUrgent = priority
            bench.put(content)
            #expect(bench.plan.sends.isEmpty && bench.plan.cancelled.isEmpty)
        }
        let account = try bench.account(kind)
        #expect(account.state == .current && account.desiredRevision == 4 && account.shownRevision == 4)
        #expect(account.since == since)
    }

    @Test(arguments: SurfaceKind.allCases.filter { $0 != .liveActivity })
    func `another form of a time sends nothing, and another time does`(kind: SurfaceKind) throws {
        let content = SurfaceContent.examples(of: kind)
        var bench = try shown(content)
        for text in ["2026-05-12T18:31Z", "2026-05-12T20:31:00.0+02:00"] {
            let same = try content.merging(["updatedAt": .string(text)])
            #expect(try same.fingerprint() == content.fingerprint())
            bench.put(same)
            #expect(bench.plan.sends.isEmpty, "\(text)")
        }
        let later = try content.merging(["updatedAt": "2026-05-12T18:31:00.001Z"])
        #expect(try later.fingerprint() != content.fingerprint())
        bench.put(later)
        // No payload of a notification has the time.
        #expect(bench.plan.sends.count == (kind == .notification ? 0 : 1))
    }

    @Test func `a content that comes back is a change`() throws {
        let first = SurfaceContent.examples(of: .notification)
        var bench = try shown(first)
        let second = try first.merging(["notification": ["title": "At the door"]])
        for content in [second, first] {
            bench.put(content)
            #expect(bench.plan.sends.count == 1)
            try bench.settle()
        }
        bench.put(first)
        #expect(bench.plan.sends.isEmpty)
    }

    @Test func `a push that waits is not cancelled by a change without another content`() throws {
        var bench = SurfaceSessionBench()
        try bench.stored.add(.device, "device", at: bench.now)
        bench.put(.examples(of: .widget))
        let due = try #require(bench.plan.dueAt)
        bench.put(.examples(of: .widget))
        #expect(bench.plan.sends.isEmpty && bench.plan.cancelled.isEmpty && bench.plan.dueAt == due)
    }

    @Test func `a new phone gets the content of an earlier revision once`() throws {
        var bench = try shown(.examples(of: .widget))
        bench.put(.examples(of: .widget))
        bench.state = SurfaceSessionState()
        bench.step()
        #expect(bench.plan.sends.map(\.content) == [.background])
        try bench.settle()
        #expect(bench.plan.sends.isEmpty)
        #expect(try bench.account(.widget).shownRevision == 2)
    }

    @Test func `a refused content is not sent again with the next revision`() throws {
        var bench = SurfaceSessionBench()
        try bench.stored.add(.device, "device", at: bench.now)
        bench.put(.examples(of: .widget))
        try bench.settle(.refused, 400)
        bench.put(.examples(of: .widget))
        #expect(bench.plan.sends.isEmpty)
        #expect(try bench.account(.widget).reason == .refused)
    }

    @Test func `another name of the control reloads it`() throws {
        var content = SurfaceContent.examples(of: .control)
        var bench = try shown(content)
        try bench.stored.add(.control, "control", of: "com.example.garage", at: bench.now)
        content.control = "com.example.garage"
        bench.put(content)
        #expect(bench.plan.sends.map(\.content) == [.control])
    }

    // MARK: Live Activities

    @Test func `members that no update has send nothing`() throws {
        var bench = try live()
        for patch: JSONValue in [
            ["liveActivity": ["statusLine": "Late"]], ["liveActivity": ["contextLabel": "Two parcels"]],
            ["liveActivity": ["actionLabel": "Call"]], ["liveActivity": ["deepLink": "shop://orders/8"]],
            ["id": "order-7@1b"], ["updatedAt": "2026-05-12T19:31:00.000Z"], ["state": "paused"],
        ] {
            bench.now += 60
            let content = try SurfaceContent.activity(1, isUrgent: true).merging(patch)
            bench.put(content)
            #expect(bench.plan.sends.isEmpty, "\(patch)")
        }
        let account = try bench.account(.liveActivity)
        #expect(account.state == .current && account.shownRevision == 8 && account.reason == nil)
    }

    @Test func `attributes that are fixed at the start are a reason`() throws {
        for channel in [nil, channel] {
            var bench = try live(on: channel)
            let content = SurfaceContent.activity(1, isUrgent: true, on: channel)
            bench.put(try content.merging(["liveActivity": ["modeLabel": "Pickup"]]))
            #expect(bench.plan.sends.isEmpty)
            let account = try bench.account(.liveActivity)
            #expect(account.state == .current && account.shownRevision == 2 && account.reason == .attributesFixed)
            // The card was started with these.
            bench.put(content)
            #expect(bench.plan.sends.isEmpty)
            #expect(try bench.account(.liveActivity).reason == nil)
        }
    }

    @Test func `the next card has the attributes of the surface`() throws {
        var bench = try live()
        bench.put(try SurfaceContent.activity(1).merging(["liveActivity": ["modeLabel": "Pickup"]]))
        bench.now += 27_000
        bench.step()
        try bench.settle()
        bench.now += 5
        let card = ActivityWorld.CardReport(id: "next", token: "other", startedAt: bench.now, isStartedByPush: true)
        try bench.report([.cards([card])])
        #expect(try bench.account(.liveActivity).reason == nil)
    }

    @Test func `a refused start is repeated with other attributes only`() throws {
        var bench = SurfaceSessionBench()
        try bench.report([.startToken("start")])
        bench.put(.activity(1))
        try bench.settle(.refused, 400)
        bench.put(.activity(1, isUrgent: true))
        #expect(bench.plan.sends.isEmpty)
        #expect(try bench.account(.liveActivity).reason == .refused)
        bench.put(try SurfaceContent.activity(1).merging(["liveActivity": ["modeLabel": "Pickup"]]))
        #expect(bench.plan.sends.map(\.content) == [.start(timestamp: bench.now + 1)])
        try bench.settle(.refused, 400)
        bench.step()
        #expect(bench.plan.sends.isEmpty)
    }

    @Test func `an update on its way stays on it`() throws {
        var bench = try live()
        bench.put(.activity(2, isUrgent: true))
        let update = try #require(bench.plan.sends.first?.id)
        bench.put(.activity(2))
        #expect(bench.plan.sends.isEmpty && bench.plan.cancelled.isEmpty)
        bench.step([SessionResult(id: update, state: .delivered, status: 200, endedAt: bench.now * 1_000 + 421)])
        let account = try bench.account(.liveActivity)
        #expect(account.state == .current && account.shownRevision == 3 && account.since == bench.now * 1_000 + 421)
    }

    @Test func `an earlier update that waits is urgent with the surface`() throws {
        var bench = try live()
        bench.put(.activity(2))
        #expect(bench.plan.sends.isEmpty)
        bench.put(.activity(2, isUrgent: true))
        #expect(bench.plan.sends.count == 1)
    }

    @Test func `the staleness begins with the change of the content`() throws {
        var bench = try live()
        bench.put(.activity(2))
        bench.now += 5
        bench.put(.activity(2, isUrgent: true))
        let id = try #require(bench.plan.sends.first?.id)
        let result = SessionResult(id: id, state: .delivered, status: 200, endedAt: bench.now * 1_000)
        #expect(bench.state.staleness(of: [result]) == [.liveActivity: 5_000])
    }

    @Test func `a card shows a revision after its change`() throws {
        var bench = SurfaceSessionBench()
        try bench.report([.startToken("start")])
        bench.show(.activity(1))
        bench.changedAt += 421
        let id = try #require(bench.plan.sends.last?.id)
        bench.step([SessionResult(id: id, state: .delivered, status: 200, endedAt: bench.changedAt + 7)])
        #expect(try bench.account(.liveActivity).since == bench.changedAt + 7)
        // The app reports the time of the phone, which may be behind.
        try bench.report([bench.card("update")])
        #expect(try bench.account(.liveActivity).since == bench.changedAt + 7)
    }

    @Test(arguments: [false, true])
    func `a phone that joins shows the content after the change`(isAcceptedFirst: Bool) throws {
        var bench = SurfaceSessionBench()
        bench.put(.activity(1))
        bench.now += 60
        try bench.report([.startToken("start")])
        // The phone joins with a revision that has left the content as it was.
        bench.state = SurfaceSessionState()
        bench.put(.activity(1))
        bench.changedAt += 421
        let id = try #require(bench.plan.sends.last?.id)
        let accepted = SessionResult(id: id, state: .delivered, status: 200, endedAt: bench.changedAt + 7)
        if isAcceptedFirst { bench.step([accepted]) }
        try bench.report([bench.card("update")])
        if !isAcceptedFirst { bench.step([accepted]) }
        let account = try bench.account(.liveActivity)
        #expect(account.state == .current && account.shownRevision == 2)
        let since = try #require(account.since)
        #expect(since >= bench.changedAt)
    }

    @Test func `the notification in place of a Live Activity is sent once`() throws {
        var bench = SurfaceSessionBench()
        try bench.report([.allowed(false)])
        try bench.stored.add(.device, "device", at: bench.now)
        let first = SurfaceContent.activity(1, isUrgent: true)
        bench.put(first)
        #expect(bench.plan.sends.map(\.content) == [.notification])
        try bench.settle()
        bench.put(first)
        #expect(bench.plan.sends.isEmpty)
        // No card shows the link, and the notification does.
        bench.put(try first.merging(["liveActivity": ["deepLink": "shop://orders/8"]]))
        #expect(bench.plan.sends.map(\.content) == [.notification])
    }

    // MARK: Channels

    @Test func `a change without another content is not broadcast`() throws {
        var bench = try live(on: channel)
        bench.put(.activity(2, isUrgent: true, on: channel))
        #expect(bench.broadcast?.update.generation == 2)
        bench.now += 60
        bench.put(.activity(2, on: channel))
        #expect(bench.plan.sends.isEmpty && bench.plan.cancelled.isEmpty)
    }

    @Test func `sessions agree on a broadcast, whichever revisions they have seen`() throws {
        var first = try live(on: channel)
        var second = first
        let content = SurfaceContent.activity(2, isUrgent: true, on: channel)
        first.put(content)
        let broadcast = try #require(first.broadcast)
        for _ in 0..<2 {
            first.now += 5
            first.put(content)
        }
        // The other session takes no step before the last revision.
        (second.content, second.revision) = (first.content, first.revision)
        (second.changedAt, second.now) = (first.changedAt, first.now)
        second.step()
        let other = try #require(second.broadcast)
        #expect(other.update.generation == broadcast.update.generation && other.age == broadcast.age)
        #expect(other.channel == broadcast.channel && first.plan.sends.isEmpty)
    }

    @Test func `a card that has joined late gets the broadcast of an earlier revision`() throws {
        var bench = SurfaceSessionBench()
        try bench.report([.startToken("start")])
        bench.put(.activity(1, on: channel))
        let start = try #require(bench.plan.sends.first?.id)
        bench.put(.activity(2, isUrgent: true, on: channel))
        let changedAt = bench.now
        bench.now += 12
        bench.put(.activity(2, isUrgent: true, on: channel))
        bench.step([SessionResult(id: start, state: .delivered, status: 200, endedAt: bench.now * 1_000)])
        #expect(bench.broadcast?.update.generation == 2 && bench.broadcast?.age == 0)
        #expect(bench.plan.dueAt == (changedAt + 30) * 1_000)
    }

    // MARK: The stored form

    @Test func `the unchanged kinds are those of one revision`() throws {
        let first = SurfaceContent.examples(of: .widget)
        let second = first.stored(after: first, with: ContentChange(revision: 4, changedAt: 40))
        let read = try SurfaceContent(stored: second.stored)
        #expect(read.unchanged == second.unchanged)
        let unchanged = read.change(of: .widget, until: ContentChange(revision: 5, changedAt: 50))
        #expect(unchanged == ContentChange(revision: 4, changedAt: 40))
        // Another change came between the comparison and this one.
        let later = ContentChange(revision: 6, changedAt: 60)
        #expect(read.change(of: .widget, until: later) == later)
        let third = first.stored(after: read, with: ContentChange(revision: 5, changedAt: 50))
        let last = third.change(of: .widget, until: ContentChange(revision: 6, changedAt: 60))
        #expect(last == ContentChange(revision: 4, changedAt: 40))
    }

    @Test func `a state of an earlier version can be read`() throws {
        var bench = try live()
        bench.put(.activity(2, isUrgent: true))
        let added = ["attributes", "acceptedAt", "notification"]
        let text = String(decoding: bench.state.stored, as: UTF8.self)
        #expect(text.contains(#""attributes":"#))
        let stored = try JSONReader.read(Array(text.utf8)).without(added).encoded()
        bench.state = try SurfaceSessionState(stored: stored)
        bench.step()
        #expect(bench.plan.sends.isEmpty && bench.plan.cancelled.isEmpty)
        #expect(try bench.account(.liveActivity).reason == nil)
    }

    // MARK: The interface

    private static let path = "/v1/apps/orders/surfaces/order-7"

    private static let time = "2026-05-12T18:31:00.000Z"

    private static func body(
        _ more: String = "",
        to: String = #""user":"anna""#,
        at time: String = Self.time
    ) -> String {
        let example = SurfaceExample.json(of: "notification").replacing("order-17-notification", with: "order-7")
        return #"{"to":{\#(to)},"snapshots":[\#(example.replacing(Self.time, with: time))]\#(more)}"#
    }

    @Test func `a request with another form of a time changes nothing`() async throws {
        let bench = try await RelayBench()
        #expect(await bench.ask("PUT", Self.path, Self.body()).status == 201)
        let same = await bench.ask("PUT", Self.path, Self.body(at: "2026-05-12T20:31:00+02:00"))
        #expect(same.status == 200 && same.json["revision"] == 1, "\(same.text)")
        let later = await bench.ask("PUT", Self.path, Self.body(at: "2026-05-12T18:32:00Z"))
        #expect(later.json["revision"] == 2, "\(later.text)")
        let shown = await bench.ask("GET", Self.path)
        #expect(shown.json["unchanged"] == nil, "\(shown.text)")
        await bench.stop()
    }

    @Test func `a change of audience, end or priority repeats no notification`() async throws {
        let bench = try await SurfaceBench()
        _ = try await bench.phones.enroll("anna", #","tokens":{"device":"a1"}"#)
        _ = try await bench.phones.enroll("bert", #","tokens":{"device":"a2"}"#)
        #expect(await bench.relay.ask("PUT", Self.path, Self.body()).status == 201)
        try await bench.expect(["alert On its way"], by: "a1")
        let both = #""users":["anna","bert"]"#
        for more in ["", #","ends-at":99999999999"#, #","priority":5"#] {
            let answer = await bench.relay.ask("PUT", Self.path, Self.body(more, to: both))
            #expect(answer.status == 200, "\(answer.text)")
        }
        try await bench.expect(["alert On its way"], by: "a2")
        try await eventually("both phones are right") {
            let answer = await bench.relay.ask("GET", Self.path + "/installations").json
            let accounts = (answer["installations"]?.elements ?? []).compactMap { $0["kinds"]?["notification"] }
            return accounts.map { $0["state"] } == ["current", "current"]
                && accounts.allSatisfy { $0["assumed-revision"] == 4 } && answer["spreading"] == false
        }
        _ = await bench.relay.parts.surfaces.run()
        #expect(await bench.relay.apple.pushCount == 2)
        await bench.stop()
    }
}

extension JSONValue {
    /// Returns the value without members of some names, at any depth.
    fileprivate func without(_ names: [String]) -> JSONValue {
        switch self {
        case .array(let elements): .array(elements.map { $0.without(names) })
        case .object(let members):
            .object(members.filter { !names.contains($0.name) }.map { Member($0.name, $0.value.without(names)) })
        case .null, .bool, .number, .string: self
        }
    }
}

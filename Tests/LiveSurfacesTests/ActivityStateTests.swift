// SPDX-License-Identifier: Apache-2.0

import MartletCore
import Testing

@testable import LiveSurfaces

/// Tests of the reports about Live Activities, without a network.
@Suite struct ActivityStateTests {
    private static let hour: Int64 = 3_600_000

    /// Returns a phone that is enrolled.
    private func enrolled() -> ModelPhone {
        var phone = ModelPhone()
        _ = phone.settle()
        return phone
    }

    @Test func `a start, a token and an end are reported once`() {
        var phone = enrolled()
        phone.state.reportActivity("A", of: "order-1", startedAt: 100, by: .push)
        let start = #""surface":"order-1","started-at":100,"started-by":"push""#
        #expect(phone.settle() == [#"PATCH {"activities":{"A":{\#(start),"ended":null}}}"#])
        phone.state.setToken("ab12", ofActivity: "A")
        let token = start.replacing(#","started-at""#, with: #","token":"ab12","started-at""#)
        #expect(phone.settle() == [#"PATCH {"activities":{"A":{\#(token),"ended":null}}}"#])
        phone.state.setToken("ab12", ofActivity: "A")
        phone.state.reportActivity("A", of: "order-1", startedAt: 200, by: .push)
        #expect(phone.settle() == [])
        phone.state.endActivity("A", by: .user, at: 300)
        #expect(phone.settle() == [#"PATCH {"activities":{"A":{\#(start),"ended":{"cause":"user","at":300}}}}"#])
        #expect(phone.state.members[.activity("A")] == nil && phone.state.isSettled)
        #expect(phone.activities["A"]?.end?.cause == .user)
        // The system removes the activity from the screen later.
        phone.state.endActivity("A", isDismissed: true, at: 400)
        #expect(phone.settle() == [])
    }

    @Test func `an end is reported until the relay has confirmed it`() throws {
        var phone = enrolled()
        phone.state.reportActivity("A", of: "order-1", startedAt: 100, by: .app)
        _ = phone.settle()
        phone.state.endActivity("A", by: .app, at: 200)
        let request = try phone.request()
        phone.state.begin(request)
        // The answer is lost, and the app is launched again.
        _ = phone.relay.answer(request)
        try phone.launch()
        phone.state.endActivities(except: [], at: 300)
        #expect(phone.settle() == ["PATCH " + String(decoding: request.body, as: UTF8.self)])
        #expect(phone.settle() == [] && phone.state.members[.activity("A")] == nil)
    }

    @Test func `a token is reported once in each run of the app`() throws {
        var phone = enrolled()
        phone.state.reportActivity("A", of: "order-1", startedAt: 100, by: .app)
        phone.state.setToken("ab12", ofActivity: "A")
        _ = phone.settle()
        try phone.launch()
        phone.state.reportActivity("A", of: "order-1", startedAt: 900, by: .push)
        #expect(phone.settle() == [])
        phone.state.setToken("ab12", ofActivity: "A")
        #expect(phone.settle().count == 1)
        #expect(phone.activities["A"]?.startedAt == 100 && phone.activities["A"]?.startedBy == .app)
    }

    @Test func `the app's report replaces what was found`() {
        var phone = enrolled()
        phone.state.reportActivity("A", of: "A", startedAt: 100, by: .push)
        phone.state.reportActivity("A", of: "order-1", startedAt: 90, by: .channel)
        _ = phone.settle()
        // At the next launch the app finds the activity without knowledge of its surface.
        phone.state.reportActivity("A", of: "A", startedAt: 200, by: .push)
        #expect(phone.settle() == [])
        let expected = ReportedActivity(surface: "order-1", startedAt: 90, startedBy: .channel)
        #expect(phone.activities == ["A": expected])
    }

    @Test func `a token of an activity that was not reported is ignored`() {
        var phone = enrolled()
        phone.state.setToken("ab12", ofActivity: "A")
        phone.state.endActivity("A", by: .user, at: 100)
        #expect(phone.settle() == [] && phone.activities.isEmpty)
    }

    @Test func `the first report about an end counts`() {
        var phone = enrolled()
        phone.state.reportActivity("A", of: "order-1", startedAt: 100, by: .app)
        phone.state.endActivity("A", by: .app, at: 200)
        phone.state.endActivity("A", isDismissed: true, at: 300)
        _ = phone.settle()
        #expect(phone.activities["A"]?.end == ReportedActivity.End(cause: .app, time: 200))
    }

    @Test(
        arguments: [
            (true, 3_600_000, .user), (false, 3_600_000, .app), (true, 28_800_000, .system),
            (false, 28_800_000, .system),
            (true, 28_500_000, .system), (true, 28_499_999, .user), (true, -1, .user), (true, .max, .system),
            (true, .min, .user),
        ] as [(Bool, Int64, ActivityEndCause)]
    )
    func `a cause follows from the state and the time`(isDismissed: Bool, time: Int64, cause: ActivityEndCause) {
        #expect(ActivityEndCause(isDismissed: isDismissed, startedAt: 0, endedAt: time) == cause)
        #expect(ActivityEndCause(isDismissed: isDismissed, startedAt: nil, endedAt: time) != .system)
        _ = ActivityEndCause(isDismissed: isDismissed, startedAt: .max, endedAt: time)
    }

    @Test func `activities that are gone at a launch have ended`() throws {
        var phone = enrolled()
        phone.state.reportActivity("A", of: "order-1", startedAt: 0, by: .push)
        phone.state.reportActivity("B", of: "order-2", startedAt: 7 * Self.hour, by: .push)
        phone.state.reportActivity("C", of: "order-3", startedAt: 0, by: .push)
        _ = phone.settle()
        try phone.launch()
        phone.state.endActivities(except: ["C"], at: 9 * Self.hour)
        _ = phone.settle()
        #expect(phone.activities.mapValues { $0.end?.cause } == ["A": .system, "B": .user, "C": nil])
    }

    @Test(arguments: [false, true])
    func `an activity that is found again has not ended`(isConfirmed: Bool) {
        var phone = enrolled()
        phone.state.reportActivity("A", of: "order-1", startedAt: 100, by: .push)
        phone.state.setToken("ab12", ofActivity: "A")
        _ = phone.settle()
        // The system does not list the activity yet.
        phone.state.endActivities(except: [], at: 200)
        if isConfirmed { _ = phone.settle() }
        phone.state.reportActivity("A", of: "order-1", startedAt: 300, by: .push)
        phone.state.setToken("ab12", ofActivity: "A")
        _ = phone.settle()
        // The phone forgets an activity whose end the relay has confirmed.
        let start: Int64 = isConfirmed ? 300 : 100
        let expected = ReportedActivity(surface: "order-1", startedAt: start, startedBy: .push, token: "ab12")
        #expect(phone.activities == ["A": expected])
    }

    @Test func `the relay's activity that the phone does not know is removed`() throws {
        var phone = enrolled()
        let secret = try #require(phone.state.installation?.secret)
        let (running, ended) = (ReportedActivity(surface: "order-1"), ReportedActivity.End(cause: .user, time: 1))
        phone.relay.set(.activity(running), at: .activity("A"), of: secret)
        phone.relay.set(.activity(ReportedActivity(surface: "order-2", end: ended)), at: .activity("B"), of: secret)
        try phone.launch()
        phone.state.set(.text("fr"), at: MemberPath("locale"))
        #expect(phone.settle() == [#"PATCH {"locale":"fr"}"#, #"PATCH {"activities":{"A":null}}"#])
        #expect(Array(phone.activities.keys) == ["B"])
    }

    @Test func `a token that the relay has lost is not reported again`() throws {
        var phone = enrolled()
        phone.state.reportActivity("A", of: "order-1", startedAt: 100, by: .app)
        phone.state.setToken("ab12", ofActivity: "A")
        _ = phone.settle()
        let secret = try #require(phone.state.installation?.secret)
        let without = ReportedActivity(surface: "order-1", startedAt: 100, startedBy: .app)
        phone.relay.set(.activity(without), at: .activity("A"), of: secret)
        try phone.launch()
        phone.state.set(.text("fr"), at: MemberPath("locale"))
        #expect(phone.settle() == [#"PATCH {"locale":"fr"}"#])
    }

    @Test func `an end that the relay refuses is forgotten`() throws {
        var phone = enrolled()
        phone.state.reportActivity("A", of: "order 1", startedAt: 100, by: .app)
        let refusal = InstallationAnswer(
            status: 400,
            body: Array(#"{"errors":[{"pointer":"/activities/A/surface"}]}"#.utf8)
        )
        for _ in 0..<2 {
            let request = try phone.request()
            phone.state.begin(request)
            _ = phone.state.receive(refusal, to: request, jitter: 1)
            if phone.state.members[.activity("A")] != nil { #expect(phone.nextRequest() == nil) }
            phone.state.endActivity("A", by: .user, at: 200)
        }
        #expect(phone.state.members[.activity("A")] == nil)
    }

    @Test func `without a user an end is not kept`() {
        var phone = enrolled()
        for id in ["A", "B"] { phone.state.reportActivity(id, of: "order", startedAt: 100, by: .app) }
        phone.state.endActivity("A", by: .user, at: 200)
        phone.state.setUser(nil)
        phone.state.endActivity("B", by: .user, at: 200)
        #expect(phone.state.members.values.allSatisfy { $0.activity == nil })
    }

    @Test func `the newest ends are kept while the relay cannot be reached`() {
        var phone = enrolled()
        for number in 1...20 as ClosedRange<Int64> {
            phone.state.reportActivity("\(number)", of: "order", startedAt: number, by: .app)
            phone.state.endActivity("\(number)", by: .user, at: number)
        }
        _ = phone.settle()
        #expect(Set(phone.activities.keys) == Set((5...20).map { "\($0)" }))
    }

    @Test func `another environment leaves the activities without tokens`() {
        var phone = enrolled()
        phone.state.reportActivity("A", of: "order-1", startedAt: 100, by: .app)
        phone.state.setToken("ab12", ofActivity: "A")
        _ = phone.settle()
        phone.state.configure(.development, bundleID: nil)
        #expect(phone.settle().count == 1)
        #expect(phone.activities == ["A": ReportedActivity(surface: "order-1", startedAt: 100, startedBy: .app)])
    }
}

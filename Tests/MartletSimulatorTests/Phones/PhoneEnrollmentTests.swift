// SPDX-License-Identifier: Apache-2.0

import MartletCore
import Testing

@testable import MartletSimulator

/// The requests of a simulated phone to a relay.
@Suite struct PhoneEnrollmentTests {
    private static func report(_ number: Int, _ change: JSONValue) -> PhoneReport {
        PhoneReport(number: number, phone: 1, time: 0, change: change)
    }

    /// An enrolled phone, whose relay has confirmed `{"tokens": {"device": "aa"}}`.
    private func enrolled() throws -> PhoneEnrollment {
        var enrollment = PhoneEnrollment()
        enrollment.add(Self.report(1, ["tokens": ["device": "aa"]]))
        #expect(enrollment.receive(201, ["ticket": "mtk"], to: .ticket) == nil)
        let request = try #require(enrollment.nextRequest)
        #expect(enrollment.receive(201, ["secret": "mri"], to: request) == nil)
        let report = try #require(enrollment.nextRequest)
        #expect(enrollment.receive(200, [:], to: report) == nil)
        return enrollment
    }

    @Test func `a phone enrolls with a ticket before it reports`() throws {
        var enrollment = PhoneEnrollment()
        #expect(enrollment.nextRequest == nil)
        enrollment.add(Self.report(1, ["tokens": ["device": "aa"]]))
        #expect(enrollment.nextRequest == .ticket)
        _ = enrollment.receive(201, ["ticket": "mtk"], to: .ticket)
        #expect(enrollment.nextRequest == .enrollment(ticket: "mtk"))
        _ = enrollment.receive(201, ["secret": "mri"], to: .enrollment(ticket: "mtk"))
        let change: JSONValue = ["tokens": ["device": "aa"]]
        #expect(enrollment.nextRequest == .report(change, secret: "mri"))
        #expect(try enrolled().nextRequest == nil)
    }

    @Test func `a failed request is sent again with later reports`() throws {
        var enrollment = try enrolled()
        enrollment.add(Self.report(2, ["permissions": ["alerts": true]]))
        let first = try #require(enrollment.nextRequest)
        enrollment.add(Self.report(3, ["permissions": ["alerts": false], "tokens": ["device": "bb"]]))
        #expect(enrollment.receive(503, ["detail": "draining"], to: first) == "the relay answers 503: draining")
        let change: JSONValue = ["permissions": ["alerts": false], "tokens": ["device": "bb"]]
        #expect(enrollment.nextRequest == .report(change, secret: "mri"))
    }

    @Test func `reports that arrive during a request are sent after it`() throws {
        var enrollment = try enrolled()
        enrollment.add(Self.report(2, ["tokens": ["device": "bb"]]))
        let first = try #require(enrollment.nextRequest)
        enrollment.add(Self.report(3, ["tokens": ["device": "cc"]]))
        #expect(enrollment.receive(200, [:], to: first) == nil)
        #expect(enrollment.nextRequest == .report(["tokens": ["device": "cc"]], secret: "mri"))
    }

    @Test func `a removed installation enrolls again with all reports`() throws {
        var enrollment = try enrolled()
        enrollment.add(Self.report(2, ["permissions": ["alerts": true]]))
        let request = try #require(enrollment.nextRequest)
        #expect(enrollment.receive(401, [:], to: request) != nil)
        #expect(enrollment.nextRequest == .ticket)
        _ = enrollment.receive(201, ["ticket": "mtk"], to: .ticket)
        _ = enrollment.receive(201, ["secret": "mri2"], to: .enrollment(ticket: "mtk"))
        let change: JSONValue = ["tokens": ["device": "aa"], "permissions": ["alerts": true]]
        #expect(enrollment.nextRequest == .report(change, secret: "mri2"))
    }

    @Test func `a phone that enrolls again leaves out ended activities`() throws {
        var enrollment = try enrolled()
        let activities: JSONValue = ["activity-1": ["surface": "a"], "activity-2": ["surface": "b"]]
        enrollment.add(Self.report(2, ["activities": activities]))
        enrollment.add(Self.report(3, ["activities": ["activity-1": ["surface": "a", "ended": ["cause": "user"]]]]))
        let request = try #require(enrollment.nextRequest)
        #expect(enrollment.receive(401, [:], to: request) != nil)
        _ = enrollment.receive(201, ["ticket": "mtk"], to: .ticket)
        _ = enrollment.receive(201, ["secret": "mri2"], to: .enrollment(ticket: "mtk"))
        let change: JSONValue = ["tokens": ["device": "aa"], "activities": ["activity-2": ["surface": "b"]]]
        #expect(enrollment.nextRequest == .report(change, secret: "mri2"))
    }

    @Test func `a change that the relay refuses is not sent again`() throws {
        var enrollment = try enrolled()
        enrollment.add(Self.report(2, ["tokens": ["device": "none"]]))
        let request = try #require(enrollment.nextRequest)
        #expect(enrollment.receive(400, ["detail": "no"], to: request) == "the relay answers 400: no")
        #expect(enrollment.nextRequest == nil)
    }

    @Test func `a ticket that is void is replaced`() {
        var enrollment = PhoneEnrollment()
        enrollment.add(Self.report(1, ["tokens": ["device": "aa"]]))
        _ = enrollment.receive(201, ["ticket": "mtk"], to: .ticket)
        #expect(enrollment.receive(401, [:], to: .enrollment(ticket: "mtk")) != nil)
        #expect(enrollment.nextRequest == .ticket)
    }
}

// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MartletCore

@Suite struct NearestNameTests {
    private let names = ["--topic", "--title", "--to", "--team-id", "--collapse-id"]

    @Test func `a number has no nearest name`() {
        #expect(NearestName.of("7", among: ["10", "5", "1"]) == nil)
        #expect(NearestName.of("11", among: ["10", "5", "1"]) == nil)
    }

    @Test(arguments: [
        ("--topc", "--topic"), ("--topci", "--topic"), ("--titel", "--title"), ("--teamid", "--team-id"),
        ("--collapse", "--collapse-id"), ("--COLLAPSE_ID", "--collapse-id"), ("--banana", nil), ("x", nil),
    ])
    func `the nearest name is suggested`(typed: String, name: String?) {
        #expect(NearestName.of(typed, among: names) == name)
    }

    @Test func `the first of several names that are equally near is suggested`() {
        #expect(NearestName.of("sent", among: ["send", "sens"]) == "send")
    }

    @Test func `a long name is not compared`() {
        let name = String(repeating: "a", count: 41)
        #expect(NearestName.of(name, among: [name]) == nil)
    }

    @Test func `a hint is empty without a near name`() {
        #expect(NearestName.hint(for: "alret", among: ["alert", "badge"]) == "; did you mean alert?")
        #expect(NearestName.hint(for: "banana", among: ["alert", "badge"]).isEmpty)
    }
}

// SPDX-License-Identifier: Apache-2.0

import MartletCore
import TestSupport
import Testing

@Suite struct JSONFieldTests {
    private struct Problem: JSONFieldError, Equatable {
        let message: String
        let pointer: String

        init(_ message: String, at path: JSONPath) {
            self.message = message
            pointer = path.pointer
        }
    }

    private static let json: JSONValue = [
        "apps": [["name": "orders", "rate": "fast", "tags": ["a", 1]]], "count": 7, "share": 2, "flag": 1, "empty": "",
        "long": "a secret that nobody may read in a log", "list": [],
    ]
    private let root = JSONField<Problem>(json, named: "the body")

    private func message<Value>(_ read: () throws -> Value) -> String? {
        do {
            _ = try read()
            return nil
        } catch {
            return (error as? Problem)?.message
        }
    }

    @Test func `an error has the path, the rule and the value`() {
        let rate = root["apps"]
        let problem = #expect(throws: Problem.self) {
            try rate.elements()[0]["rate"].integer(in: 1...Int.max)
        }
        #expect(problem?.message == "apps[0].rate must be a positive integer (found \"fast\")")
        #expect(problem?.pointer == "/apps/0/rate")
        #expect(message { try root["count"].integer(in: 0...5) } == "count must be an integer from 0 to 5 (found 7)")
        #expect(message { try root["count"].text() } == "count must be a string (found 7)")
        #expect(message { try root["share"].number(in: 0...1) } == "share must be a number from 0 to 1 (found 2)")
        #expect(message { try root["flag"].bool() } == "flag must be true or false (found 1)")
        #expect(message { try root["empty"].nonemptyText() }?.hasSuffix("(found an empty string)") == true)
        #expect(
            message { try root["apps"].elements()[0]["tags"].texts() }?.hasPrefix("apps[0].tags[1] must be") == true
        )
    }

    @Test func `a long string is not quoted`() {
        #expect(message { try root["long"].bool() } == "long must be true or false (found a string of 38 characters)")
        let text = JSONValue.string(String(repeating: "é", count: 65))
        #expect(text.mismatch("text of 1 to 128 bytes").hasSuffix("(found a string of 65 characters, 130 bytes)"))
    }

    @Test func `a short secret is not quoted`() {
        let field = JSONField<Problem>(["app": "mrt_short"], named: "the body")["app"]
        #expect(message { try field.bool() } == "app must be true or false (found a string of 9 characters)")
    }

    @Test func `a missing value is reported`() {
        #expect(message { try root["name"].text() } == "name is missing: it must be a string")
        #expect(root["name"].ifPresent == nil && !root["name"].isPresent)
        #expect(root["count"].ifPresent != nil)
    }

    @Test func `an unknown member is reported with the nearest name`() {
        let names = ["apps", "counts", "share", "flag", "empty", "long", "list"]
        #expect(message { try root.checkMembers(names) } == "count is unknown; did you mean counts?")
        #expect(message { try root["count"].checkMembers([]) } == "count must be an object (found 7)")
        let other = JSONField<Problem>(["xyz": 1], named: "the body")
        #expect(
            message { try other.checkMembers(["apps", "flag"]) } == "xyz is unknown: the known members are apps, flag"
        )
        #expect(
            message { try JSONField<Problem>([], named: "the body").text() }
                == "the body must be a string (found an array)"
        )
    }

    @Test func `fields are read as integers, numbers and texts`() throws {
        #expect(try root["count"].integer(in: 0...10) == 7)
        #expect(try root["count"].number(in: 0...10) == 7)
        #expect(try root["apps"].elements()[0]["name"].nonemptyText() == "orders")
        #expect(try root["list"].texts().isEmpty)
        #expect(try root["apps"].elements()[0]["name"].parsed { $0.count } == 6)
    }

    @Test func `members are read with their paths`() throws {
        let members = try #require(root["apps"][0].members)
        #expect(members.map(\.name) == ["name", "rate", "tags"])
        #expect(try members[0].field.text() == "orders")
        #expect(message { try members[1].field.bool() } == "apps[0].rate must be true or false (found \"fast\")")
        #expect(root["count"].members == nil && root["missing"].members == nil)
    }

    @Test func `members are read in linear time`() throws {
        func time(of count: Int) throws -> Duration {
            let object = JSONValue.object((0..<count).map { JSONValue.Member("name \($0)", .null) })
            let field = JSONField<Problem>(object, named: "the body")
            // The fastest of some runs: the others include what the system did meanwhile.
            let times = (0..<5).map { _ in processorTime { _ = field.members?.count } }
            #expect(field.members?.count == count)
            return try #require(times.min())
        }
        // Linear work takes 16 times as long, quadratic work 256 times.
        let (few, many) = (try time(of: 1_000), try time(of: 16_000))
        #expect(many < few * 100, "\(few) for 1000 members, \(many) for 16000")
    }
}

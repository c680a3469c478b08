// SPDX-License-Identifier: Apache-2.0

import MartletCore
import Testing

@testable import MartletSimulator

/// The language that pushes are looked for in.
@Suite struct PushQueryTests {
    private let push = ReceivedPush(
        number: 42,
        time: 1_790_000_000_000,
        arrival: 1_790_000_000_000,
        connection: 1,
        deviceToken: "5d3a6a1c8f9a42d6",
        channel: nil,
        app: nil,
        namespace: nil,
        headers: PushHeaders(
            pushType: "alert",
            id: "123e4567-e89b-12d3-a456-4266554400a0",
            priority: "10",
            topic: "com.example.app",
            collapseID: "order-42"
        ),
        payload: Array(
            (#"{"aps":{"alert":{"title":"Order ready","body":"Tap to \"open\" it."},"badge":3,"thread-id":"t"},"#
                + #""n":{"a":"b"}}"#).utf8
        ),
        status: 410,
        reason: .unregistered,
        id: "123e4567-e89b-12d3-a456-4266554400a0",
        fault: "respond"
    )

    @Test(arguments: [
        "", "  ", "topic:example", "type:alert status:410", #"title:"order ready""#, #""Order ready""#, "ready",
        "number:42", "device:5d3a", "priority:10", "collapse:order", "thread:t", "reason:unreg", "body:open",
        "id:123e4567-e89b-12d3-a456-4266554400a0", "id:123E4567-E89B-12D3-A456-4266554400A0", "key:n.a", "key:n.a=b",
        "key:aps.badge=3", "-status:200",
        "!type:voip",
        "is:refused", "is:faulted", "-is:silent", "-is:broadcast", "-has:error", #"key:aps.thread-id="t""#,
        "-nowhere", "number:40-", "number:1,42", "number:7,40-43", "app:com.example",
        "app:=com.example.app", "thread:=t",
        #"title:="Order ready""#, "-is:composed", "verdict:refused", "-verdict:shown", "-is:shown", "-is:stored",
        "-is:ignored", "-is:unanswered", "-is:pinned", "-tag:a", "-rule:badge", "order-42", "123e4567",
        "123E4567-E89B-12D3-A456-4266554400A0", "5d3a6a1c", "5D3A6A1C8F9A42D6", "after:2026-09-21T14:13",
        "status:400 OR status:410", "type:voip OR -type:voip ready", "nowhere OR elsewhere OR ready type:alert",
        #"ready "OR" OR ready"#, "size:1-", "size:110", "connection:1", "connection:0-3", "-is:no-sound",
        "-is:duplicate",
        "-after:2026-09-22", "before:2026-09-21T14:13:21", "-before:2026-09-21T14:13:20", "after:2026-09-21",
    ])
    func `a query with true terms matches the push`(text: String) throws {
        #expect(try PushQuery(text).matches(push), "\(text)")
    }

    @Test func `an accepted alert without a sound is found`() throws {
        var accepted = push
        accepted.status = 200
        #expect(try PushQuery("is:no-sound").matches(accepted))
    }

    @Test(arguments: [
        "topic:other", "status:41", "number:4", "type:alert status:200", "key:n.b", "key:aps.badge=4", "-topic:example",
        "is:accepted", "is:silent", "has:error", "channel:x", "nowhere",
        "verdict:shown", "is:unanswered", "is:pinned", "tag:a", "rule:badge-negative", "123e456", "5d3a6a1",
        "8f9a42d6", "before:2026-09-21", "after:2026-09-21T14:13:21",
        "status:400 OR status:404", "ready OR body:open type:voip", "size:0-9", "connection:2-", "is:duplicate",
        "number:43-", "number:1-41,43", "app:=com.example", "title:=Order", "collapse:=Order-42", "is:composed",
        #""ready order""#, "priority:1",
    ])
    func `a query with a false term does not match the push`(text: String) throws {
        #expect(try !PushQuery(text).matches(push), "\(text)")
    }

    @Test(arguments: [
        ("colour:red", "unknown name colour:"), (#"title:"op"#, "is not closed"),
        ("size:large", "size:3,7-9"), ("connection:", "connection:3,7-9"),
        ("number:x", "number:3,7-9"), ("number:9-7", "number:3,7-9"), ("number:", "must be numbers"),
        ("is:loud", "silent"),
        ("has:nothing", "warning"), ("verdict:lost", "not-shown"), ("after:noon", "must be a time"),
        ("before:2026-02-29", "2026-11-25T08:00"), ("after:24:00", "10m, 2h or 3d"), ("after:", "must be a time"),
        ("after:99999999d", "must be a time"), ("before:08:3", "must be a time"), ("isnt:x", "unknown name"),
    ])
    func `invalid queries are refused with the reason`(text: String, word: String) throws {
        let error = try #require(throws: PushQueryError.self) { try PushQuery(text) }
        #expect(error.description.contains(word), "\(error)")
        #expect(error.term == text)
    }

    @Test(arguments: ["mrt_short:x", "is:mrt_short", "after:mrt_short", "number:mrt_short", #"title:"mrt_short"#])
    func `a term that may be a secret is not shown`(text: String) throws {
        let error = try #require(throws: PushQueryError.self) { try PushQuery(text) }
        #expect(error.description.contains("text of ") && !error.description.contains("mrt_"), "\(error)")
    }

    @Test(arguments: ["OR", "OR ready", "ready OR", "ready OR OR late"])
    func `alternatives need a term on each side`(text: String) throws {
        let error = try #require(throws: PushQueryError.self) { try PushQuery(text) }
        #expect(error.term == "OR" && error.description.contains("between two terms"), "\(error)")
    }

    @Test func `alternatives that do not match are one text`() throws {
        let query = try PushQuery("topic:example status:1 OR status:2 title:late")
        #expect(query.misses(push) == ["status:1 OR status:2", "title:late"])
        #expect(query.description == "topic:example status:1 OR status:2 title:late")
        #expect(query.groups.map(\.count) == [1, 2, 1])
    }

    @Test func `an error names the term at fault`() throws {
        let error = try #require(throws: PushQueryError.self) { try PushQuery("type:alert -verdict:x ready") }
        #expect(error.term == "-verdict:x")
    }

    @Test func `times count from the clock of the query`() throws {
        func finds(_ text: String, at now: Int64 = 1_790_000_600_000, offset: Int64 = 0) throws -> Bool {
            try PushQuery(text, at: now, offset: offset).matches(push)
        }
        // The push arrived at 14:13:20 UTC.
        #expect(try finds("after:10m") && !finds("after:599s") && finds("before:599s") && finds("after:1h after:1d"))
        #expect(try finds("after:14:13") && !finds("after:14:14") && finds("before:14:13:21 after:14:13:20"))
        #expect(try finds("after:16:13", offset: 7_200_000) && !finds("after:16:14", offset: 7_200_000))
        #expect(try finds("after:2026-09-21T16:13", offset: 7_200_000))
    }

    @Test func `labels and decoded texts are found`() throws {
        var push = ReceivedPush.sample(
            channel: "c2NvcmVz",
            headers: PushHeaders(pushType: "alert", topic: "app"),
            #"{"aps":{"alert":{"title":"Gr\u00fc\u00dfe"},"badge":-1}}"#
        )
        push.labels.tags = ["checkout", "slow path"]
        push.labels.deviceName = "Anna's phone"
        push.labels.isPinned = true
        for text in [
            "tag:check", "tag:=checkout", #"tag:"slow path""#, "anna", "device:anna", "checkout", "c2NvcmVz",
            "grüße", "is:pinned", "rule:badge-neg", "rule:=badge-negative", "verdict:shown", "is:shown", "-tag:=check",
        ] {
            #expect(try PushQuery(text).matches(push), "\(text)")
        }
    }

    @Test func `every name has a summary and a valid example`() throws {
        for field in PushQuery.Field.allCases {
            let query = try PushQuery(field.example)
            #expect(query.groups.joined().map(\.field) == [field] && !field.summary.isEmpty)
            for value in field.values ?? [] { #expect(try PushQuery("\(field.rawValue):\(value)").groups.count == 1) }
        }
    }

    @Test func `the terms that do not match are returned as written`() throws {
        let query = try PushQuery(#"topic:example -status:410 title:"Order late""#)
        #expect(query.misses(push) == ["-status:410", #"title:"Order late""#])
        #expect(query.description == #"topic:example -status:410 title:"Order late""#)
    }

    @Test(arguments: ["a\r\u{354}b", "\u{600}\nb", "-\u{301} \"\u{301}\""])
    func `the description of a query is an equal query`(text: String) throws {
        let query = try PushQuery(text)
        #expect(try PushQuery(query.description) == query)
    }

    @Test func `random text does not trap`() {
        var random = SplitMix64(state: 5)
        let letters = Array(#"a:"-! =.key is has 3"#)
        for _ in 0..<20_000 {
            let length = Int.random(in: 0..<12, using: &random)
            let text = String((0..<length).map { _ in letters[Int.random(in: 0..<letters.count, using: &random)] })
            _ = try? PushQuery(text).matches(push)
        }
    }
}

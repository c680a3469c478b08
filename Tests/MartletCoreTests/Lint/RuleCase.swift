// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import Testing

/// A push, with headers that suit its type unless it says otherwise.
struct LintedPush: Sendable {
    var headers: PushHeaders
    var payload: String
    var time: Int64?

    init(
        _ type: String? = "alert",
        _ payload: String = #"{"aps":{"alert":"Hi"}}"#,
        id: String? = nil,
        priority: String? = nil,
        expiration: String? = nil,
        topic: String? = nil,
        collapseID: String? = nil,
        time: Int64? = nil
    ) {
        let mdmTopic = type == "mdm" ? "com.apple.mgmt.External.1b2c" : nil
        let isQuiet = type == "background" || type == "liveactivity"
        let app: Topic = "com.example.app"
        headers = PushHeaders(
            pushType: type,
            id: id,
            expiration: expiration,
            priority: priority ?? (isQuiet ? "5" : "10"),
            topic: topic ?? mdmTopic ?? type.map { app.qualified(for: PushType(rawValue: $0)) }?.rawValue
                ?? app.rawValue,
            collapseID: collapseID
        )
        self.payload = payload
        self.time = time
    }

    /// The same with a header changed, or left out.
    func with<Value>(_ field: WritableKeyPath<PushHeaders, Value>, _ value: Value) -> LintedPush {
        var push = self
        push.headers[keyPath: field] = value
        return push
    }

    var findings: [PushLint.Finding] {
        PushLint.check(headers: headers, payload: Array(payload.utf8), at: time.map(Date.init(secondsSince1970:)))
    }

    /// A push whose `aps` has these members.
    static func aps(_ members: String, _ type: String = "alert") -> LintedPush {
        LintedPush(type, #"{"aps":{\#(members)}}"#)
    }

    /// An alert that is an object of these members.
    static func alert(_ members: String) -> LintedPush {
        aps(#""alert":{\#(members)}"#)
    }

    /// An alert with a text, and these members of `aps` beside it.
    static func beside(_ members: String) -> LintedPush {
        aps(#""alert":"Hi",\#(members)"#)
    }

    /// A push about a Live Activity whose `aps` has these members.
    static func activity(_ members: String, time: Int64? = nil) -> LintedPush {
        LintedPush("liveactivity", #"{"aps":{\#(members)}}"#, time: time)
    }

    /// The update of a Live Activity with these members of `aps` more.
    static func update(_ members: String, time: Int64? = nil) -> LintedPush {
        activity(#""timestamp":1700000000,"event":"update","content-state":{"n":1},\#(members)"#, time: time)
    }

    /// The update of a Live Activity with this content.
    static func state(_ members: String) -> LintedPush {
        activity(#""timestamp":1700000000,"event":"update","content-state":{\#(members)}"#)
    }

    /// The start of a Live Activity, but for these members.
    static func start(_ members: String) -> LintedPush {
        activity(#""timestamp":1700000000,"event":"start","content-state":{"n":1},\#(members)"#)
    }

    /// An alert that carries this text for the app.
    static func custom(_ text: String, key: String = "note") -> LintedPush {
        LintedPush(
            "alert",
            #"{"aps":{"alert":"Hi"},"\#(key)":\#(String(decoding: JSONValue.string(text).encoded(), as: UTF8.self))}"#
        )
    }
}

/// A push that breaks one rule, and one that nearly does.
struct RuleCase: Sendable, CustomTestStringConvertible {
    var rule: String
    var place: String
    var push: LintedPush
    var near: LintedPush
    /// Other rules that the push cannot help breaking.
    var others: [String]

    var testDescription: String { "\(rule) at \(place)" }

    init(_ rule: String, _ place: String, _ push: LintedPush, near: LintedPush, others: [String] = []) {
        self.rule = rule
        self.place = place
        self.push = push
        self.near = near
        self.others = others
    }
}

// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletHTTPServer
import MartletOutbox
import Testing

@testable import MartletRelay

/// The values of the users of a push request, without a relay.
@Suite struct PersonalValuesTests {
    private static func request(
        _ values: String,
        _ payload: String = #"{"aps":{"alert":"Hi {{name}}"}}"#,
        to audience: String = #"{"users":["anna","bob"]}"#,
        _ more: String = ""
    ) throws -> PushRequest {
        let text = #"{"to":\#(audience),"payload":\#(payload),"values":\#(values)\#(more)}"#
        return try PushRequest(try JSONReader.read(Array(text.utf8)))
    }

    @Test(
        arguments: [
            ("Hi", [], "Hi"), ("", [], ""), ("{{a}}", ["a"], "<1>"),
            ("{{a}}{{b}}, {{a}}!", ["a", "b"], "<1><22>, <1>!"),
            ("{ {a}} {a} }}", [], "{ {a}} {a} }}"), ("é{{A-1_z}}é", ["A-1_z"], "éé"), ("{", [], "{"),
        ] as [(String, Set<String>, String)]
    )
    func `placeholders are found and filled`(text: String, names: Set<String>, expected: String) {
        let template = PayloadTemplate(Array(text.utf8))
        #expect(template.isWellFormed && Set(template.counts.keys) == names)
        let texts = ["a": Array("<1>".utf8), "b": Array("<22>".utf8)]
        #expect(String(decoding: template.filled(with: texts), as: UTF8.self) == expected)
        #expect(template.byteCount(with: texts) == expected.utf8.count)
    }

    @Test(
        arguments: [
            "{{", "{{}}", "{{a", "{{a}", "{{ a }}", "{{{a}}}", "{{a.b}}", "{{é}}", "a {{b}} {{",
            "{{" + String(repeating: "a", count: 65) + "}}",
        ]
    )
    func `braces without a name are malformed`(text: String) {
        #expect(!PayloadTemplate(Array(text.utf8)).isWellFormed)
    }

    @Test(
        arguments: [
            (#""Anna""#, "Anna"), (#""a\"b\\\n""#, "a\"b\\\n"), (#""{{name}}""#, "{{name}}"), ("7", "7"),
            ("1e2", "1e2"), (#""é 你好""#, "é 你好"), ("\"\"", ""),
        ] as [(String, String)]
    )
    func `a value takes the place of its placeholder`(value: String, expected: String) throws {
        let values = #"{"bob":{"name":"Bob"},"anna":{"name":\#(value)}}"#
        let locales = #","locales":{"de":{"n":"{{name}}-{{name}}"}}"#
        var requests = PersonalRequests(try Self.request(values, #"{"aps":{"alert":["Hi {{name}}"]}}"#, locales))
        for (user, locale, name) in [("anna", "de", expected), ("bob", "de-AT", "Bob"), ("anna", "fr", expected)] {
            let request = requests.request(for: .of(user, locale: locale))
            guard case .payload(let payload)? = request?.content else {
                Issue.record("the user has no payload")
                return
            }
            let json = try JSONReader.read(payload)
            #expect(json["aps"] == ["alert": [JSONValue.string("Hi " + name)]])
            #expect(json["n"] == (locale == "fr" ? nil : JSONValue.string("\(name)-\(name)")))
        }
    }

    @Test(
        arguments: [
            ("[]", "/values", "must be an object"),
            (#"{"anna":{"name":"A"}}"#, "/values", #"a member for each user in to ("bob" has none)"#),
            (#"{"anna":{"name":"A"},"carl":{"name":"C"}}"#, "/values/carl", "to has no such user"),
            (#"{"anna":1}"#, "/values/anna", "must be an object"),
            (#"{"anna":{}}"#, "/values/anna", #"have the member "name", for the placeholder in payload.aps.alert"#),
            (#"{"anna":{"name":"A","more":"B"}}"#, "/values/anna/more", "no text of payload or locales has"),
            (#"{"anna":{"name":null}}"#, "/values/anna/name", "a string of at most 1024 bytes, or a number"),
            (#"{"anna":{"name":"\#(String(repeating: "a", count: 1_025))"}}"#, "/values/anna/name", "1,025 characters"),
        ] as [(String, String, String)]
    )
    func `a mistake in the values is named with its rule`(values: String, pointer: String, message: String) throws {
        let error = #expect(throws: APIProblem.self) { try Self.request(values) }
        #expect(error?.pointer == pointer && error?.detail.contains(message) == true, "\(error?.detail ?? "")")
    }

    @Test(
        arguments: [
            (#"{"aps":{"alert":{"body":"{{na me}}"}}}"#, "", "/payload/aps/alert/body", "must have placeholders of {{"),
            (#"{"aps":["{{"]}"#, "", "/payload/aps/0", "must have placeholders of {{"),
            (#"{"a":{"{{name}}":1}}"#, "", "/payload/a", "not in names"),
            ("{}", #","locales":{"de":{"n":"{{"}}"#, "/locales/de/n", "must have placeholders of {{"),
        ] as [(String, String, String, String)]
    )
    func `a mistake in a placeholder is named with its place`(
        payload: String,
        more: String,
        pointer: String,
        message: String
    ) throws {
        let error = #expect(throws: APIProblem.self) { try Self.request("{}", payload, more) }
        #expect(error?.pointer == pointer && error?.detail.contains(message) == true, "\(error?.detail ?? "")")
    }

    @Test(arguments: [#""ab12""#, #"{"installation":"0199f2c4-0000-7000-8000-000000000000"}"#])
    func `only a push to users or to many has values`(audience: String) throws {
        let error = #expect(throws: APIProblem.self) { try Self.request("{}", to: audience) }
        #expect(error?.pointer == "/values" && error?.detail.contains("unless to has user, users, tag") == true)
    }

    // MARK: Defaults

    private static let twoNames = #"{"aps":{"alert":"{{name}}: {{count}}"}}"#

    /// The text of the alert for a user of a request; nil for a user without one.
    private static func alert(for user: String, of request: PushRequest) throws -> String? {
        var requests = PersonalRequests(request)
        guard case .payload(let payload)? = requests.request(for: .of(user))?.content else { return nil }
        return try JSONReader.read(payload)["aps"]?["alert"]?.stringValue
    }

    @Test(
        arguments: [
            ("", nil), (#","default-values":{}"#, nil), (#","default-values":{"name":"you"}"#, nil),
            (#","default-values":{"name":"you","count":0}"#, "you: 0"),
        ] as [(String, String?)]
    )
    func `users of a job without values have the defaults, or no push`(more: String, expected: String?) throws {
        let values = #"{"anna":{"name":"Anna","count":2}}"#
        let request = try Self.request(values, Self.twoNames, to: #"{"all":true}"#, more)
        #expect(try Self.alert(for: "anna", of: request) == "Anna: 2")
        #expect(try Self.alert(for: "bob", of: request) == expected)
    }

    @Test func `a default replaces a value that a user does not have`() throws {
        let request = try Self.request(
            #"{"anna":{"name":"Anna"}}"#,
            Self.twoNames,
            #","default-values":{"name":"you","count":0}"#
        )
        #expect(try Self.alert(for: "anna", of: request) == "Anna: 0")
        #expect(try Self.alert(for: "bob", of: request) == "you: 0")
    }

    @Test(
        arguments: [
            (#"{"anna":{}}"#, "", "/values/anna", #"have the member "name""#),
            ("{}", #","default-values":[]"#, "/default-values", "must be an object"),
            ("{}", #","default-values":{"more":1}"#, "/default-values/more", "no text of payload or locales has"),
            ("{}", #","default-values":{"name":true}"#, "/default-values/name", "a string of at most 1024 bytes"),
        ] as [(String, String, String, String)]
    )
    func `a mistake in the values of a job is named`(
        values: String,
        more: String,
        pointer: String,
        message: String
    ) throws {
        let error = #expect(throws: APIProblem.self) { try Self.request(values, to: #"{"tag":"vip"}"#, more) }
        #expect(error?.pointer == pointer && error?.detail.contains(message) == true, "\(error?.detail ?? "")")
    }

    @Test func `the values of one user are removed from a stored request`() {
        let text = #"{"payload":{"n":"{{n}}"},"to":{"all":true},"values":{"anna":{"n":1.50},"bob":{"n":2}}}"#
        let request = Array(text.utf8)
        let rest = PersonalValues.request(request, without: "anna").map { String(decoding: $0, as: UTF8.self) }
        #expect(rest == #"{"payload":{"n":"{{n}}"},"to":{"all":true},"values":{"bob":{"n":2}}}"#)
        #expect(PersonalValues.request(request, without: "carl") == nil)
        #expect(PersonalValues.request(Array(#"{"payload":{},"to":{"all":true}}"#.utf8), without: "anna") == nil)
    }

    /// A request that has only defaults.
    private static func request(to audience: String, defaults: String) throws -> PushRequest {
        let text = #"{"to":\#(audience),"payload":\#(twoNames),"default-values":\#(defaults)}"#
        return try PushRequest(try JSONReader.read(Array(text.utf8)))
    }

    @Test(arguments: [#"{"users":["anna","bob"]}"#, #"{"all":true}"#])
    func `users have the defaults in a push without values`(audience: String) throws {
        let request = try Self.request(to: audience, defaults: #"{"name":"you","count":0}"#)
        #expect(try Self.alert(for: "bob", of: request) == "you: 0")
        let error = #expect(throws: APIProblem.self) { try Self.request(to: audience, defaults: #"{"name":"you"}"#) }
        #expect(error?.pointer == "/default-values")
        #expect(error?.detail.contains(#"must have the member "count", for the placeholder"#) == true)
    }

    @Test func `a push to tokens has no defaults`() throws {
        let error = #expect(throws: APIProblem.self) { try Self.request(to: #""ab12""#, defaults: "{}") }
        #expect(error?.pointer == "/default-values" && error?.detail.contains("unless to has user, users, tag") == true)
    }

    @Test(arguments: [(PersonalValues.jobUserLimit + 1, 1), (130, 1_005)])
    func `the values of a job are limited`(users: Int, length: Int) throws {
        let name = String(repeating: "a", count: length)
        let values = (0..<users).map { #""\#($0)":{"name":"\#(name)"}"# }
        let all = #"{"all":true}"#
        #expect(throws: Never.self) { try Self.request("{\(values.dropLast().joined(separator: ","))}", to: all) }
        let error = #expect(throws: APIProblem.self) {
            try Self.request("{\(values.joined(separator: ","))}", to: all)
        }
        #expect(error?.detail.contains("at most 1000 users and 131072 bytes") == true, "\(error?.detail ?? "")")
    }

    @Test func `a request has at most 20 names`() throws {
        let texts = (0...PersonalValues.nameLimit).map { #""{{n\#($0)}}""# }
        let error = #expect(throws: APIProblem.self) {
            try Self.request("{}", #"{"a":[\#(texts.joined(separator: ","))]}"#)
        }
        #expect(error?.detail == "values must have at most 20 names (the placeholders have 21)")
    }

    @Test func `braces are ordinary text without values`() throws {
        let text = #"{"to":{"user":"anna"},"payload":{"aps":{"alert":"{{ {{name}}"}}}"#
        let request = try PushRequest(try JSONReader.read(Array(text.utf8)))
        var requests = PersonalRequests(request)
        guard case .payload(let payload)? = requests.request(for: .of("anna"))?.content else { return }
        #expect(String(decoding: payload, as: UTF8.self) == #"{"aps":{"alert":"{{ {{name}}"}}"#)
    }
}

extension AudienceMember {
    /// An installation of a user.
    static func of(_ user: String, locale: String? = nil) -> AudienceMember {
        var generator = SplitMix64(state: 1)
        return AudienceMember(
            number: 1,
            installation: InstallationID(milliseconds: 1, using: &generator),
            user: user,
            environment: .production,
            bundleID: "com.example.orders",
            permissions: [:],
            token: nil,
            locale: locale,
            timeZone: nil,
            appVersion: nil,
            systemVersion: nil
        )
    }
}

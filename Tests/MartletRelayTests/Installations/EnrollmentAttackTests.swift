// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import MartletTransport
import TestSupport
import Testing

@testable import MartletHTTPServer
@testable import MartletRelay

/// Tests of hostile apps, stolen credentials and hostile back ends.
@Suite(.timeLimit(.minutes(10))) struct EnrollmentAttackTests {
    private static let body = #"{"environment":"production"}"#
    private static let methods = ["GET", "PATCH", "DELETE"]

    @Test func `all forged tickets are refused with the same answer`() async throws {
        let bench = try await EnrollmentBench()
        let ticket = try await bench.ticket()
        let start = String(ticket.dropLast())
        let other = ticket.hasSuffix("a") ? "b" : "a"
        let letters = String(repeating: "a", count: 52)
        let quotes = String(repeating: "'", count: 52)
        var answers: Set<String> = []
        let forgeries: [String] = [
            "\(start)\(other)", start, "\(ticket)a", ticket.uppercased(), "mri_\(ticket.dropFirst(4))", "mtk_", "",
            "mtk_\(letters)", "mtk_\(quotes)", RelayBench.callerKey, EnrollmentBench.key,
        ]
        for forged in forgeries {
            let answer = await bench.phone("POST", Self.body, with: forged)
            #expect(answer.status == 401, "\(forged): \(answer.text)")
            answers.insert(answer.text)
        }
        #expect(await bench.phone("POST", Self.body, with: nil).status == 401)
        #expect(answers.count == 1 && !answers.contains { $0.contains("mtk_") })
        #expect(await bench.installations().isEmpty)
        #expect(await bench.phone("POST", Self.body, with: ticket).status == 201)
        await bench.stop()
    }

    @Test func `a ticket is invalid after its end, and after its use if single-use`() async throws {
        let clock = TestClock()
        let bench = try await EnrollmentBench(clock: clock.wall)
        let short = try await bench.ticket(for: "anna", #","seconds":5"#)
        let once = try await bench.ticket(for: "anna")
        let often = try await bench.ticket(for: "anna", #","single-use":false"#)
        #expect(await bench.phone("POST", Self.body, with: once).status == 201)
        let used = await bench.phone("POST", Self.body, with: once)
        clock.advance(by: 5)
        let expired = await bench.phone("POST", Self.body, with: short)
        #expect(used.status == 401 && expired.status == 401 && used.text == expired.text)
        for _ in 0..<2 { #expect(await bench.phone("POST", Self.body, with: often).status == 201) }
        clock.advance(by: 595)
        #expect(await bench.phone("POST", Self.body, with: often).status == 401)
        // A rejected request does not use the ticket.
        let careful = try await bench.ticket()
        #expect(await bench.phone("POST", #"{"environment":"moon"}"#, with: careful).status == 400)
        #expect(await bench.phone("POST", Self.body, with: careful).status == 201)
        await bench.stop()
    }

    @Test func `a ticket enrolls in its own app, whatever the request says`() async throws {
        let bench = try await EnrollmentBench()
        let ticket = try await bench.ticket()
        for member in [
            #""bundle-id":"com.example.rides""#, #""app":"rides""#, #""user":"bert""#, #""tags":["vip"]"#,
            #""id":"123e4567-e89b-42d3-a456-426655440000""#,
        ] {
            let answer = await bench.phone("POST", #"{"environment":"production",\#(member)}"#, with: ticket)
            #expect(answer.status == 400, "\(member): \(answer.text)")
        }
        let enrolled = await bench.phone("POST", Self.body, with: ticket).json["installation"]
        #expect(enrolled?["app"] == "orders" && enrolled?["user"] == "anna" && enrolled?["tags"] == [])
        // A back end of another app can neither issue a ticket for this one nor see its installations.
        let foreign = await bench.relay.ask("POST", "/v1/apps/orders/tickets", #"{"user":"anna"}"#, key: "mrt_rides")
        #expect(foreign.status == 403)
        let id = enrolled?["id"]?.stringValue ?? ""
        for method in Self.methods {
            for app in ["orders", "rides"] {
                let path = "/v1/apps/\(app)/installations/\(id)"
                let answer = await bench.relay.ask(method, path, "{}", key: "mrt_rides")
                #expect(answer.status == (app == "orders" ? 403 : 404), "\(method) \(app): \(answer.text)")
            }
        }
        #expect(await bench.relay.ask("DELETE", "/v1/apps/rides/users/anna", key: "mrt_rides").status == 200)
        #expect(await bench.installations().count == 1)
        await bench.stop()
    }

    @Test func `a secret gives access to its own installation only`() async throws {
        let bench = try await EnrollmentBench()
        let mallory = try await bench.enroll("mallory")
        let anna = try await bench.enroll("anna")
        let before = await bench.ask("GET", "/installations/\(anna.id)").json
        for route in RelayAPI.routes where !route.path.hasPrefix("/v1/installation") && route.access != .anyone {
            let path = route.path.replacing("{app}", with: "orders").replacing("{id}", with: anna.id)
                .replacing("{user}", with: "anna").replacing("{token}", with: "dead00ff")
                .replacing("{environment}", with: "production").replacing("{node}", with: "1")
            let answer = await bench.relay.ask(route.method, path, #"{"user":"anna"}"#, key: mallory.secret)
            #expect(answer.status == 401, "\(route.method) \(path): \(answer.text)")
        }
        for member in [
            #""id":"\#(anna.id)""#, #""user":"anna""#, #""tags":["vip"]"#, #""app":"rides""#, #""seen-at":0"#,
            #""replaces":"\#(anna.secret)""#,
        ] {
            let answer = await bench.phone("PATCH", "{\(member)}", with: mallory.secret)
            #expect(answer.status == 400, "\(member): \(answer.text)")
        }
        let ticket = try await bench.ticket()
        for credential in [RelayBench.callerKey, EnrollmentBench.key, ticket, anna.id] {
            for method in Self.methods {
                #expect(await bench.phone(method, "{}", with: credential).status == 401, "\(method)")
            }
            #expect(await bench.surfaces(with: credential).status == 401)
        }
        #expect(await bench.phone("POST", Self.body, with: anna.secret).status == 401, "a secret is no ticket")
        #expect(await bench.ask("GET", "/installations/\(anna.id)").json == before)
        await bench.stop()
    }

    @Test func `a key without the scope neither issues tickets nor sees an installation`() async throws {
        let bench = try await EnrollmentBench()
        let anna = try await bench.enroll("anna")
        for route in RelayAPI.installationRoutes {
            let path = route.path.replacing("{app}", with: "orders").replacing("{id}", with: anna.id)
                .replacing("{user}", with: "anna")
            // It may send, read and manage.
            let answer = await bench.relay.ask(route.method, path, #"{"user":"anna"}"#)
            #expect(answer.status == 403 && answer.text.contains("scope installations"), "\(route.method) \(path)")
        }
        for (method, path) in [("POST", "/v1/pushes"), ("GET", "/v1/status"), ("POST", "/v1/drain")] {
            #expect(await bench.relay.ask(method, path, key: EnrollmentBench.key).status == 403, "\(path)")
        }
        await bench.stop()
    }

    /// A change, the pointer of its problem, and a part of the message.
    static let rejected: [(change: String, pointer: String, message: String)] = [
        (#"{"tokens":{"device":"xyz"}}"#, "/tokens/device", "hexadecimal"),
        (#"{"tokens":{"device":""}}"#, "/tokens/device", "must be a string that is not empty"),
        (#"{"tokens":{"device":17}}"#, "/tokens/device", "(found 17)"),
        (#"{"tokens":{"device":["ab"]}}"#, "/tokens/device", "(found an array)"),
        (#"{"tokens":{"device":"\#(String(repeating: "ab", count: 513))"}}"#, "/tokens/device", "at most 512 bytes"),
        (#"{"tokens":{"devices":"ab"}}"#, "/tokens/devices", "did you mean device"),
        (#"{"tokens":{"start":"ab"}}"#, "/tokens/start", "must be an object or null"),
        (#"{"tokens":{"start":{"a b":"ab"}}}"#, "/tokens/start", "visible ASCII"),
        (#"{"tokens":{"start":{"":"ab"}}}"#, "/tokens/start", "visible ASCII"),
        (#"{"tokens":{"activities":{}}}"#, "/tokens/activities", "unknown"),
        (#"{"tokens":{"controls":{"\#(String(repeating: "x", count: 129))":"ab"}}}"#, "/tokens/controls", "1 to 128"),
        (#"{"tokens":null}"#, "/tokens", "must be an object (found null)"),
        (#"{"environment":"staging"}"#, "/environment", "production"),
        (#"{"environment":"development"}"#, "/environment", "for which the app orders is configured"),
        (#"{"environment":null}"#, "/environment", "production"),
        (#"{"bundle-id":"com.example.rides"}"#, "/bundle-id", "bundle identifier of the app orders"),
        (#"{"locale":"de\u0000CH"}"#, "/locale", "1 to 40 ASCII letters"),
        (#"{"locale":""}"#, "/locale", "(found an empty string)"),
        (#"{"locale":"ｄｅ"}"#, "/locale", "ASCII"),
        (#"{"time-zone":"Europe/Zürich"}"#, "/time-zone", "ASCII"),
        (#"{"time-zone":1e400}"#, "/time-zone", "(found 1e400)"),
        (#"{"app-version":"\#(String(repeating: "9", count: 65))"}"#, "/app-version", "1 to 64"),
        (#"{"model":"a\nb"}"#, "/model", "without control characters"),
        (#"{"permissions":true}"#, "/permissions", "must be an object"),
        (#"{"permissions":{"alerts":1}}"#, "/permissions/alerts", "true or false"),
        (#"{"permissions":{"alert":true}}"#, "/permissions/alert", "did you mean alerts"),
        (#"{"secret":"mri_"}"#, "/secret", "unknown"),
        ("[]", "", "must be an object"),
    ]

    @Test func `hostile values are refused with their place, and change nothing`() async throws {
        let bench = try await EnrollmentBench()
        let (secret, id) = try await bench.enroll("anna", #","tokens":{"device":"ab12"}"#)
        let before = await bench.phone("GET", with: secret).json
        for (change, pointer, message) in Self.rejected {
            let own = await bench.phone("PATCH", change, with: secret)
            let theirs = await bench.ask("PATCH", "/installations/\(id)", change)
            for answer in [own, theirs] {
                #expect(answer.status == 400 && answer.text.contains(message), "\(change): \(answer.text)")
                let found = answer.json["errors"]?.elements?.first?["pointer"]?.stringValue
                #expect(found == pointer, "\(change): \(answer.text)")
            }
        }
        let deep = String(repeating: "[", count: 1_000)
        let broken: [String] = ["", "{", #"{"locale":"de","locale":"en"}"#, deep, "{}\u{FEFF}"]
        for broken in broken {
            #expect(await bench.phone("PATCH", broken, with: secret).status == 400, "\(broken.prefix(9))")
        }
        let long = #"{"locale":"\#(String(repeating: "a", count: 64 << 10))"}"#
        #expect(await bench.phone("PATCH", long, with: secret).status == 413)
        #expect(await bench.phone("GET", with: secret).json == before)
        await bench.stop()
    }

    @Test func `hostile tickets and users are refused`() async throws {
        let bench = try await EnrollmentBench()
        let many = (0...50).map { "\"t\($0)\"" }.joined(separator: ",")
        let refused: [(body: String, message: String)] = [
            (#"{}"#, "is missing: it must be text of 1 to 128 bytes"), (#"{"user":""}"#, "(found an empty string)"),
            (#"{"user":"\#(String(repeating: "ä", count: 65))"}"#, "(found a string of 65 characters, 130 bytes)"),
            (#"{"user":"a\u0000"}"#, "control"), (#"{"user":"a\u0085"}"#, "control"), (#"{"user":7}"#, "(found 7)"),
            (#"{"user":"a","seconds":0}"#, "an integer from 1 to 86400"),
            (#"{"user":"a","seconds":86401}"#, "from 1 to 86400"),
            (#"{"user":"a","seconds":9223372036854775807}"#, "from 1 to 86400"),
            (#"{"user":"a","seconds":-9223372036854775809}"#, "from 1 to 86400"),
            (#"{"user":"a","seconds":1.5}"#, "from 1 to 86400"), (#"{"user":"a","single-use":1}"#, "true or false"),
            (#"{"user":"a","tags":["ok","not ok"]}"#, "tags[1]"), (#"{"user":"a","tags":["vip && !x"]}"#, "tags[0]"),
            (#"{"user":"a","tags":["\#(String(repeating: "t", count: 121))"]}"#, "1 to 120"),
            (#"{"user":"a","tags":["vіp"]}"#, "ASCII"), (#"{"user":"a","tags":[\#(many)]}"#, "at most 50 tags"),
            (#"{"user":"a","tags":"vip"}"#, "must be an array"), (#"{"user":"a","app":"rides"}"#, "app is unknown"),
        ]
        for (body, message) in refused {
            let answer = await bench.ask("POST", "/tickets", body)
            let detail = answer.json["detail"]?.stringValue ?? ""
            #expect(answer.status == 400 && detail.contains(message), "\(body): \(answer.text)")
        }
        let long = String(repeating: "a", count: 129)
        let paths: [String] = [
            "/users/%00", "/users/%ff", "/users/\(long)", "/users/a%0Ab", "/installations?user=%00",
            "/installations?user=%ff", "/installations?user=", "/installations?tag=a%20b",
            "/installations?user=a&tag=b",
            "/installations?after=-1", "/installations?limit=1001", "/installations?limit=99999999999999999999",
            "/installations/1", "/installations/123E4567-E89B-42D3-A456-426655440000",
        ]
        for path in paths {
            let answer = await bench.ask("GET", path)
            #expect(answer.status == 400, "\(path): \(answer.text)")
        }
        await bench.stop()
    }

    @Test func `a path that is not UTF-8 removes no user`() async throws {
        let bench = try await EnrollmentBench()
        _ = try await bench.enroll("\u{FFFD}")
        let refused = await bench.ask("DELETE", "/users/%ff")
        #expect(refused.status == 400 && refused.text.contains("must be UTF-8"), "\(refused.text)")
        #expect(await bench.installations().count == 1)
        #expect(await bench.ask("DELETE", "/users/%EF%BF%BD").status == 200)
        #expect(await bench.installations().isEmpty)
        await bench.stop()
    }

    @Test func `an installation cannot have more tokens of a kind than the limit`() async throws {
        let bench = try await EnrollmentBench()
        let (secret, _) = try await bench.enroll()
        func tokens(_ range: Range<Int>) -> String {
            range.map { "\"a\($0)\":\"ab\($0 + 10)\"" }.joined(separator: ",")
        }
        let full = await bench.phone("PATCH", #"{"tokens":{"start":{\#(tokens(0..<16))}}}"#, with: secret)
        #expect(full.status == 200)
        let over = await bench.phone("PATCH", #"{"tokens":{"start":{\#(tokens(16..<17))}}}"#, with: secret)
        #expect(over.status == 400 && over.text.contains("tokens.start must have at most 16"), "\(over.text)")
        let replaced = #"{"tokens":{"start":{"a0":null,\#(tokens(16..<17))}}}"#
        #expect(await bench.phone("PATCH", replaced, with: secret).status == 200)
        await bench.stop()
    }

    @Test func `an installation cannot have more bytes of tokens than the limit`() async throws {
        let bench = try await EnrollmentBench()
        let (secret, id) = try await bench.enroll()
        func tokens(_ kind: String, _ range: Range<Int>) -> String {
            let digits = String(repeating: "ab", count: 200)
            let name = String(repeating: "n", count: 120)
            let members = range.map { "\"\(name)\($0)\":\"\(digits)\"" }.joined(separator: ",")
            return #"{"tokens":{"\#(kind)":{\#(members)}}}"#
        }
        #expect(await bench.phone("PATCH", tokens("controls", 0..<31), with: secret).status == 200)
        let over = await bench.phone("PATCH", tokens("start", 0..<1), with: secret)
        #expect(over.status == 400, "\(over.text)")
        let rule = "tokens and activities must have at most 16384 bytes with their names"
        #expect(over.text.contains(rule), "\(over.text)")
        #expect(over.json["errors"]?.elements?.first?["pointer"] == "/tokens")
        let stored = await bench.ask("GET", "/installations/\(id)").json["tokens"]
        #expect(stored?["controls"]?.members?.count == 31 && stored?["start"]?.members?.first == nil)
        #expect(await bench.phone("PATCH", #"{"tokens":{"controls":null}}"#, with: secret).status == 200)
        #expect(await bench.phone("PATCH", tokens("start", 0..<1), with: secret).status == 200)
        await bench.stop()
    }

    @Test(arguments: [("start", 32), ("controls", 64)])
    func `a change with too many token names is refused`(kind: String, limit: Int) async throws {
        let bench = try await EnrollmentBench()
        let (secret, _) = try await bench.enroll()
        func change(_ count: Int) -> String {
            let names = (0..<count).map { "\"a\($0)\":null" }.joined(separator: ",")
            return #"{"tokens":{"\#(kind)":{\#(names)}}}"#
        }
        #expect(await bench.phone("PATCH", change(limit), with: secret).status == 200)
        for count in [limit + 1, 3_000] {
            let answer = await bench.phone("PATCH", change(count), with: secret)
            let expected = "tokens.\(kind) must have at most \(limit) names in one change (found \(count))"
            #expect(answer.status == 400 && answer.json["detail"]?.stringValue == expected, "\(answer.text)")
        }
        await bench.stop()
    }

    @Test func `one phone cannot keep the store busy`() async throws {
        let clock = TestClock()
        let bench = try await EnrollmentBench(clock: clock.wall)
        let mallory = try await bench.enroll("mallory")
        let anna = try await bench.enroll("anna")
        var statuses: [Int] = []
        for _ in 0...RequestBudget.limit { statuses.append(await bench.phone("GET", with: mallory.secret).status) }
        #expect(statuses == Array(repeating: 200, count: RequestBudget.limit) + [429])
        #expect(await bench.phone("GET", with: anna.secret).status == 200)
        clock.advance(by: 60)
        #expect(await bench.phone("GET", with: mallory.secret).status == 200)
        await bench.stop()
    }

    @Test func `unauthorized bodies are not read, and no secret is shown`() async throws {
        let lines = LogLines()
        let relay = try await RelayBench(log: lines.logger(.debug)) { $0.http = RelayConfiguration.Address(port: 0) }
        let port = try #require(await relay.relay.httpPort)
        let secret = RandomSecret(.ticket).text
        let bearer = "authorization: Bearer \(secret)"
        let requests: [(fields: [String], length: Int, status: Int)] = [
            ([], 60_000, 401), (["authorization: Bearer x"], 60_000, 401), ([bearer], 65_537, 413),
            ([bearer, bearer], 2, 400), ([bearer], 65_536, 401),
        ]
        for (fields, length, status) in requests {
            let body = String(repeating: "x", count: length)
            let request = RawHTTP1.Request("POST", "/v1/installation", fields, body: body)
            let answers = await RawHTTP1.ask([request], at: port)
            #expect(answers.first?.status == status, "\(fields)")
            #expect(answers.allSatisfy { !$0.body.contains(secret) })
        }
        await relay.stop()
        #expect(!lines.all.contains { $0.contains(secret) })
    }

    @Test func `an invented ticket is refused before its body has arrived`() async throws {
        let caller = try RelayConfiguration.Caller(
            key: EnrollmentBench.key,
            apps: ["orders"],
            scopes: [.installations]
        )
        let relay = try await RelayBench { configuration in
            configuration.http = RelayConfiguration.Address(port: 0)
            configuration.callers.append(caller)
        }
        let port = try #require(await relay.relay.httpPort)
        let client = try RawClient(port: port)
        let invented = "authorization: Bearer \(RandomSecret(.ticket).text)"
        let head = ["POST /v1/installation HTTP/1.1", "host: localhost", "content-length: 65536", invented]
        client.send(head.joined(separator: "\r\n") + "\r\n\r\n{")
        let refused = RawHTTP1.answers(in: await client.bytes())
        #expect(refused.map(\.status) == [401])
        // A valid ticket's body is read afterwards.
        let path = "/v1/apps/orders/tickets"
        let issued = await relay.ask("POST", path, #"{"user":"anna"}"#, key: EnrollmentBench.key)
        let ticket = try #require(issued.json["ticket"]?.stringValue, "\(issued.text)")
        let fields = ["authorization: Bearer \(ticket)"]
        let request = RawHTTP1.Request("POST", "/v1/installation", fields, body: Self.body)
        #expect(await RawHTTP1.ask([request], at: port).map(\.status) == [201])
        await relay.stop()
    }

    @Test func `a long body is refused before its ticket is looked up`() async throws {
        let bench = try await EnrollmentBench()
        let invented = RandomSecret(.ticket).text
        for (length, status) in [(65_536, 401), (65_537, 413)] {
            let answer = await bench.phone("POST", String(repeating: "x", count: length), with: invented)
            #expect(answer.status == status, "\(answer.text)")
        }
        await bench.stop()
    }

    @Test func `a body that arrives slowly or never ends is refused`() async throws {
        let slow = HTTP1Body { [UInt8(ascii: "x")] }
        let late = await #expect(throws: APIProblem.self) { try await RelayAPI.appBody(from: slow, within: .zero) }
        #expect(late?.status == 408)
        let endless = HTTP1Body { [UInt8](repeating: 0, count: 1 << 10) }
        let long = await #expect(throws: APIProblem.self) { try await RelayAPI.appBody(from: endless) }
        #expect(long?.status == 413)
        let broken = HTTP1Body { () throws(HTTP1Body.Broken) -> [UInt8]? in throw HTTP1Body.Broken() }
        let partial = await #expect(throws: APIProblem.self) { try await RelayAPI.appBody(from: broken) }
        #expect(partial?.status == 400)
    }

    @Test func `an app that the relay no longer serves cannot enroll`() async throws {
        let bench = try await EnrollmentBench()
        let secret = try await bench.enroll().secret
        let ticket = try await bench.ticket()
        var configuration = await bench.relay.relay.context.configuration
        configuration.apps.removeFirst()
        configuration.callers = []
        try await bench.relay.relay.reload(configuration)
        #expect(await bench.phone("POST", Self.body, with: ticket).status == 403)
        #expect(await bench.phone("PATCH", "{}", with: secret).status == 403)
        // Signing out is always possible.
        #expect(await bench.phone("DELETE", with: secret).status == 204)
        await bench.stop()
    }
}

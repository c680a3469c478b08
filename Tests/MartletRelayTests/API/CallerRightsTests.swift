// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCore
import MartletHTTPServer
import MartletOutbox
import MartletTransport
import TestSupport
import Testing

@testable import MartletRelay

/// Tests of the rights of callers, also with respect to the apps of others.
@Suite(.timeLimit(.minutes(10))) struct CallerRightsTests {
    private static let id = "123e4567-e89b-42d3-a456-426655440000"

    private func bench(_ change: (inout RelayConfiguration) -> Void = { _ in }) async throws -> RelayBench {
        let both = try RelayConfiguration.Caller(key: "both", apps: ["orders", "rides"], scopes: [.send, .read])
        return try await RelayBench {
            $0.callers.append(both)
            $0.http = RelayConfiguration.Address(port: 0)
            change(&$0)
        }
    }

    @Test(arguments: [
        (#""app":"rides""#, #""app":"meals""#),
        (#""bundle-id":"com.example.rides""#, #""bundle-id":"com.example.meals""#),
        (
            #""app":"orders","bundle-id":"com.example.rides""#, #""app":"orders","bundle-id":"com.example.meals""#
        ),
    ])
    func `an app of another caller is refused like one that does not exist`(
        theirs: String,
        nobodys: String
    ) async throws {
        let bench = try await bench()
        var answers: [String] = []
        for members in [theirs, nobodys] {
            let answer = await bench.ask("POST", "/v1/pushes", #"{"to":"5d3a6a1c","payload":{},\#(members)}"#)
            #expect(answer.status == 403, "\(answer.text)")
            answers.append(answer.text.replacing("meals", with: "rides"))
        }
        #expect(answers[0] == answers[1])
        await bench.stop()
    }

    @Test(arguments: [
        ("POST", "/v1/apps/%/lanes/production/pause", "", 403), ("GET", "/v1/apps/%/dead-letters", "", 403),
        ("POST", "/v1/pushes", #"{"app":"%","to":"5d3a6a1c","payload":{}}"#, 403),
        ("POST", "/v1/pushes", #"{"bundle-id":"%","to":"5d3a6a1c","payload":{}}"#, 403),
        ("POST", "/v1/pushes", #"{"channel":"dGVzdA==","push-type":"%","payload":{}}"#, 400),
        ("POST", "/v1/pushes", #"{"to":{"installation":"%"},"payload":{}}"#, 400),
        ("POST", "/v1/pushes", #"{"environment":"%","to":"5d3a6a1c","payload":{}}"#, 400),
        ("GET", "/v1/pushes?app=%&token=5d3a6a1c", "", 403), ("GET", "/v1/pushes?%=1", "", 400),
        ("GET", "/v1/pushes/%", "", 400), ("PUT", "/v1/pushes/%", "", 405), ("GET", "/v1/%", "", 404),
        ("POST", "/v1/apps/orders/lanes/%/pause", "", 404), ("POST", "/v1/nodes/%/drain", "", 404),
        ("GET", "/v1/apps/orders/channels?bundle-id=%", "", 404),
        ("GET", "/v1/apps/orders/installations/%", "", 400),
    ])
    func `a secret in place of a name is not repeated`(method: String, path: String, body: String, status: Int)
        async throws
    {
        let scopes = Set(Caller.Scope.allCases)
        let all = try Caller(key: "all", apps: ["orders", "rides"], scopes: scopes)
        let one = try Caller(key: "one", apps: ["orders"], scopes: scopes)
        let bench = try await bench { $0.callers += [all, one] }
        for secret in ["mrt_short", "mri_short"] {
            let key = path.hasPrefix("/v1/nodes") ? "all" : "one"
            let target = path.replacing("%", with: secret)
            let answer = await bench.ask(method, target, body.replacing("%", with: secret), key: key)
            #expect(answer.status == status && !answer.text.contains("short"), "\(answer.text)")
        }
        await bench.stop()
    }

    @Test func `an identifier of pushes of several apps needs the app`() async throws {
        let bench = try await bench()
        let later = bench.parts.now / 1_000 + 3_600
        for app in ["orders", "rides"] {
            let order = #"{"app":"\#(app)","id":"\#(Self.id)","to":"5d3a6a1c","not-before":\#(later),"payload":{}}"#
            #expect(await bench.ask("POST", "/v1/pushes", order, key: "both").status == 202)
        }
        let path = "/v1/pushes/" + Self.id
        for method in ["GET", "DELETE"] {
            let answer = await bench.ask(method, path, key: "both")
            #expect(
                answer.status == 400
                    && answer.text.contains("(orders, rides) have this identifier: choose one with ?app="),
                "\(answer.text)"
            )
        }
        #expect(await bench.ask("GET", path).json["app"] == "orders", "the key of one app need not say which")
        #expect(await bench.ask("DELETE", path + "?app=rides", key: "both").json["state"] == "cancelled")
        #expect(await bench.ask("GET", path + "?app=rides", key: "both").json["app"] == "rides")
        #expect(await bench.ask("GET", path + "?app=orders", key: "both").json["state"] == "accepted")
        for app in ["rides", "meals"] { #expect(await bench.ask("GET", path + "?app=" + app).status == 403) }
        await bench.stop()
    }

    /// Asks at the address of `listen`.
    private func askListener(_ bench: RelayBench, _ path: String) async throws -> String {
        let port = try #require(await bench.relay.ports[.production])
        let key = "authorization: bearer " + RelayBench.callerKey
        return try await ProgramRun.curl(["--http2-prior-knowledge", "-H", key, "http://127.0.0.1:\(port)\(path)"]).text
    }

    @Test func `administration is answered only over http by default`() async throws {
        let bench = try await bench()
        let path = "/v1/apps/orders/dead-letters"
        #expect(try await askListener(bench, path).contains("manage-over-listen"))
        #expect(
            try await askListener(bench, "/v1/apps/orders/unregistered-tokens").contains(#""unregistered-tokens":[]"#)
        )
        #expect(await bench.ask("GET", path).status == 200)
        var new = await bench.relay.context.configuration
        new.managesOverListeners = true
        try await bench.relay.reload(new)
        #expect(try await askListener(bench, path).contains(#""dead-letters":[]"#))
        await bench.stop()
    }

    @Test func `readiness names apps to their own callers only`() async throws {
        let bench = try await bench()
        let unnamed = await bench.ask("GET", "/readyz?verbose", key: nil)
        #expect(unnamed.status == 200 && unnamed.text.contains("outbox: ok") && !unnamed.text.contains("orders"))
        let own = await bench.ask("GET", "/readyz?verbose")
        #expect(own.text.contains("orders production: ok") && !own.text.contains("rides"), "\(own.text)")
        await bench.stop()
    }

    @Test func `a request is answered for the caller that was identified before`() async throws {
        let bench = try await bench()
        let api = RelayAPI(bench.parts)
        func status(_ fields: HTTPFields, as identification: RelayAPI.Identification) async -> Int {
            let target = "/v1/status"
            let request = HTTPRequest(method: "GET", scheme: "http", authority: "a", target: target, fields: fields)
            guard case .whole(let response) = await api.answer(request, from: nil, identification) else { return 0 }
            return response.status
        }
        let fields: HTTPFields = ["authorization": "Bearer " + RelayBench.callerKey]
        let known = try bench.parts.server.caller(fields["authorization"])
        #expect(await status([:], as: .caller(known)) == 200)
        #expect(await status(fields, as: .refused(CallerRefusal(cause: .unknownAPIKey))) == 401)
        await bench.stop()
    }

    @Test func `a caller that is rejected is logged with its address`() async throws {
        let lines = LogLines()
        let bench = try await RelayBench(log: lines.logger())
        #expect(throws: CallerRefusal.self) { try bench.parts.server.caller("Bearer mrt_wrong", from: "192.0.2.7") }
        try await eventually("the rejected caller is counted", in: bench.parts.server) {
            $0.counts.rejectedCallers == 1
        }
        #expect(lines.objects.contains { $0["peer"] == "192.0.2.7" })
        await bench.stop()
    }

    @Test(arguments: ["GET", "POST"]) func `two credentials are refused`(method: String) async throws {
        let bench = try await bench()
        let port = try #require(await bench.relay.httpPort)
        let fields = ["authorization: Bearer " + RelayBench.callerKey, "Authorization: Bearer mrt_other"]
        let body = method == "POST" ? "{}" : ""
        for fields in [fields, fields.reversed()] {
            let path = method == "POST" ? "/v1/pushes" : "/v1/status"
            let answer = await RawHTTP1.ask([.init(method, path, fields, body: body)], at: port).first
            #expect(answer?.status == 400 && answer?.body.contains("authorization was sent more than once") == true)
        }
        await bench.stop()
    }

    @Test func `the refusal of a backup does not mention a shutdown`() async throws {
        let bench = try await bench()
        let answer = await bench.ask("POST", "/v1/backup")
        #expect(answer.status == 403 && answer.text.contains("for all apps") && !answer.text.contains("shut"))
        await bench.stop()
    }

    private typealias Caller = RelayConfiguration.Caller

    private func caller(_ name: String, _ hash: String, _ apps: Set<String>, _ scopes: Set<Caller.Scope>) -> Caller {
        Caller(name: name, hash: hash, apps: apps, scopes: scopes)
    }

    private func configuration(_ callers: [Caller], key: SigningKey) -> RelayConfiguration {
        let app = RelayConfiguration.App(name: "orders", bundleIDs: ["com.example.orders"], key: key)
        var configuration = RelayConfiguration(data: .file(""), apps: [app], listeners: [:])
        configuration.callers = callers
        return configuration
    }

    @Test func `a reload revokes access that is no longer granted`() throws {
        let key = try SigningKey.ephemeral()
        let old = [
            caller("a", "0A", ["orders", "rides"], [.send, .read]), caller("b", "0b", ["rides"], [.read]),
            caller("c", "0c", ["rides"], [.manage]), caller("d", "0d", ["rides"], [.read]),
        ]
        let new = [
            // The key is the same, whatever its name and the case of its digits.
            caller("renamed", "0a", ["orders"], [.read, .manage]), caller("b", "0e", ["rides"], [.read]), old[3],
        ]
        let revoked = RevokedAccess(from: configuration(old, key: key), to: configuration(new, key: key))
        #expect(revoked.apps(of: "a", for: .send) == ["orders", "rides"])
        #expect(revoked.apps(of: "a", for: .read) == ["rides"])
        #expect(revoked.apps(of: "b", for: .read) == ["rides"], "the key is another one")
        #expect(revoked.apps(of: "c", for: .manage) == ["rides"], "the caller is gone")
        #expect(revoked.apps(of: "d", for: .read).isEmpty && revoked.losses.count == 4)
        let same = configuration(new, key: key)
        #expect(RevokedAccess(from: same, to: same).losses.isEmpty)
    }

    @Test func `a client that signs with a replaced key loses its access`() throws {
        let old = configuration([], key: try .ephemeral(keyID: "ABC123DEFG"))
        for key in [try SigningKey.ephemeral(keyID: "ABC123DEFG"), try .ephemeral(keyID: "OTHERKEY00")] {
            let revoked = RevokedAccess(from: old, to: configuration([], key: key))
            #expect(revoked.losses == [.init(caller: "key ABC123DEFG", scope: .send, apps: ["orders"])])
        }
    }

    @Test func `a reload logs revoked access`() async throws {
        let lines = LogLines()
        let bench = try await RelayBench(log: lines.logger())
        var new = await bench.relay.context.configuration
        new.callers[0].scopes = [.send]
        try await bench.relay.reload(new)
        let revoked = lines.objects.filter { $0["msg"] == "access revoked" }
        #expect(revoked.map { $0["scope"] } == ["read", "manage"] && revoked[0]["apps"] == ["orders"])
        await bench.stop()
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import MartletCore
import MartletHTTPServer
import MartletOutbox
import MartletSimulator
import MartletTransport
import TestSupport
import Testing

@testable import MartletRelay

/// Tests of access rights: every route of the table, with every method, at every listener.
@Suite(.timeLimit(.minutes(10))) struct SecurityTests {
    private static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"]
    /// The paths that need no key: health, the description, and a page that shows nothing before it has a key.
    private static let open: Set = [
        "/livez", "/readyz", "/openapi.json", "/", "/page/Runbook.md", "/page/components.css", "/page/components.js",
        "/page/dialog.js", "/page/dom.js", "/page/expired.js", "/page/figures.js", "/page/fleet.js",
        "/page/icons.js", "/page/incidents.js", "/page/jobs.js", "/page/lanes.js", "/page/letters.js", "/page/list.js",
        "/page/phones.js", "/page/plot.js", "/page/relay.js", "/page/runbook.js", "/page/status.css",
        "/page/status.js", "/page/style.css", "/page/texts.js", "/page/users.js",
    ]
    private static let stranger = "mrt_stranger"

    /// The paths of the table, with values for the placeholders.
    private static func paths(app: String = "orders", id: String = "123e4567-e89b-42d3-a456-426655440000") -> [String] {
        let all = Set(RelayAPI.routes.filter { $0.access != .anyone }.map(\.path)).sorted()
        return all.map {
            $0.replacing("{app}", with: app).replacing("{id}", with: id).replacing("{token}", with: "dead00ff")
                .replacing("{user}", with: "anna")
        }
    }

    private func bench() async throws -> RelayBench {
        let rider = try RelayConfiguration.Caller(
            key: Self.stranger,
            apps: ["rides"],
            scopes: Set(RelayConfiguration.Caller.Scope.allCases)
        )
        let others = try [("nobody", []), ("sender", [.send]), ("reader", [.read])].map { name, scopes in
            try RelayConfiguration.Caller(key: "mrt_" + name, apps: ["orders"], scopes: scopes)
        }
        return try await RelayBench {
            $0.callers += [rider] + others
            $0.http = RelayConfiguration.Address(port: 0)
        }
    }

    @Test(arguments: [nil, "Bearer mrt_wrong", "Bearer ", "Basic bXJ0Og==", "mrt_0123456789abcdefghijklmnopqrstuv"])
    func `only health is answered without a key, over HTTP/1.1`(authorization: String?) async throws {
        let bench = try await bench()
        let port = try #require(await bench.relay.httpPort)
        let fields = authorization.map { ["authorization: \($0)"] } ?? []
        for path in Self.paths() + ["/v1", "/nothing", "//metrics", "/v1/pushes/../apps"] {
            // The answer to HEAD has a length and no body, which the others would be taken for.
            let methods = Self.methods.filter { $0 != "HEAD" } + ["HEAD"]
            let answers = await RawHTTP1.ask(methods.map { RawHTTP1.Request($0, path, fields) }, at: port)
            #expect(answers.map(\.status) == methods.map { _ in 401 }, "\(path): \(answers)")
        }
        let health = await RawHTTP1.ask(["/livez", "/readyz"].map { RawHTTP1.Request("GET", $0, fields) }, at: port)
        #expect(health.map(\.status) == [200, 200])
        await bench.stop()
    }

    @Test(arguments: [nil, "Bearer mrt_wrong"])
    func `only health is answered without a key, over HTTP/2`(authorization: String?) async throws {
        let bench = try await bench()
        let asker = try HTTP2Asker(port: try #require(await bench.relay.ports[.production]))
        let fields: HTTPFields = authorization.map { ["authorization": $0] } ?? [:]
        for path in Self.paths() {
            for method in Self.methods {
                #expect(try await asker.status(method, path, fields) == 401, "\(method) \(path)")
            }
        }
        // A path of neither interface is answered as APNs answers it.
        for path in ["/v1", "/nothing", "/3/devices/5d3a", "/1/apps", "//metrics"] {
            for method in Self.methods {
                #expect(try await asker.status(method, path, fields) == 404, "\(method) \(path)")
            }
        }
        for path in ["/3/device/5d3a", "/4/broadcasts/apps/com.example.orders", "/1/apps/com.example.orders/channels"] {
            for method in Self.methods {
                #expect(try await asker.status(method, path, fields) == 403, "\(method) \(path)")
            }
        }
        #expect(try await asker.status("GET", "/livez", fields) == 200)
        await asker.close()
        await bench.stop()
    }

    @Test func `the routes without a key are a fixed list`() async throws {
        let bench = try await bench()
        let files = PageFile.relay.map(\.path) + RelayAPI.routes.filter { $0.access == .anyone }.map(\.path)
        #expect(Set(files) == Self.open)
        for path in files { #expect(await bench.ask("GET", path, key: nil).status == 200) }
        await bench.stop()
    }

    @Test func `no answer permits a page of another origin to read it`() async throws {
        let bench = try await bench()
        for path in Self.paths() + Self.open where path != "/v1/events" {
            for method in ["GET", "OPTIONS", "POST"] {
                let request = HTTPRequest(
                    method: method,
                    scheme: "http",
                    authority: "other.example",
                    target: path,
                    fields: ["origin": "https://other.example", "access-control-request-method": "POST"],
                    body: []
                )
                guard case .whole(let answer) = await RelayAPI(bench.parts).answer(request) else { continue }
                #expect(answer.fields["access-control-allow-origin"] == nil, "\(method) \(path)")
                #expect(answer.fields["set-cookie"] == nil, "\(method) \(path)")
            }
        }
        await bench.stop()
    }

    @Test func `a key without scopes is refused on every protected route`() async throws {
        let bench = try await bench()
        for route in RelayAPI.routes where route.access != .anyone {
            let path = route.path.replacing("{app}", with: "orders").replacing("{token}", with: "dead00ff")
            let answer = await bench.ask(route.method, path, #"{"to":"5d3a6a1c","payload":{}}"#, key: "mrt_nobody")
            let status = if case .ownCredential = route.access { 401 } else { 403 }
            #expect(answer.status == status, "\(route.method) \(path): \(answer.text)")
        }
        await bench.stop()
    }

    @Test func `a key of one app has no access to the data of another app`() async throws {
        let bench = try await bench()
        await bench.apple.unregister(
            try DeviceToken(hex: "dead00ff"),
            since: Date(timeIntervalSince1970: 1_790_000_000)
        )
        #expect(await bench.push(to: "dead00ff").json["state"] == "refused")
        let later = #","not-before":\#(bench.parts.now / 1_000 + 3_600)"#
        let order = #"{"app":"orders","to":"5d3a6a1c","payload":{"aps":{"alert":"Secret"}}\#(later)}"#
        let waiting = await bench.ask("POST", "/v1/pushes", order)
        let id = try #require(waiting.json["id"]?.stringValue, "\(waiting.text)")
        let bodies = ["/v1/pushes": order, "/v1/pushes:batch": order]
        for route in RelayAPI.routes where route.access != .anyone {
            let path = route.path.replacing("{app}", with: "orders").replacing("{id}", with: id)
                .replacing("{token}", with: "dead00ff")
            let query = route.method + path == "GET/v1/pushes" ? "?app=orders&token=5d3a6a1c" : ""
            let answer = await bench.ask(route.method, path + query, bodies[path] ?? "", key: Self.stranger)
            switch route.path {
            case "/v1/installation", "/v1/installation/surfaces": #expect(answer.status == 401, "\(answer.text)")
            case "/v1/pushes/{id}": #expect(answer.status == 404, "\(answer.text)")
            case "/v1/pushes:batch", "/v1/events": continue
            case _ where route.path.contains("{app}"), "/v1/pushes", "/v1/drain", "/v1/backup",
                "/v1/nodes/{node}/drain":
                #expect(answer.status == 403, "\(route.method) \(path): \(answer.text)")
            default:
                #expect(answer.status == 200, "\(route.method) \(path): \(answer.text)")
                #expect(!answer.text.contains("orders"), "\(path) tells of another's app")
            }
        }
        #expect(await bench.batch([order], key: Self.stranger).map { $0["status"] } == [403])
        // All is as it was.
        #expect(await bench.ask("GET", "/v1/pushes/\(id)").json["state"] == "accepted")
        #expect(
            await bench.ask("GET", "/v1/apps/orders/unregistered-tokens").json["unregistered-tokens"]?.elements?.count
                == 1
        )
        #expect(await bench.apple.pushCount == 1)
        await bench.stop()
    }

    @Test func `events are sent to the callers of the app only`() async throws {
        let bench = try await bench()
        let theirs = try await bench.parts.intake.listen(for: RelayBench.listener(to: "rides"), after: nil)
        let ours = try await bench.parts.intake.listen(for: RelayBench.listener(to: "orders"), after: nil)
        #expect(await bench.push().json["state"] == "delivered")
        let ride = await bench.ask(
            "POST",
            "/v1/pushes?wait=60",
            #"{"to":"5d3a6a1c","payload":{"aps":{"alert":"Hi"}}}"#,
            key: Self.stranger
        )
        #expect(ride.json["state"] == "delivered")
        await bench.stop()
        for (events, app) in [(theirs, "rides"), (ours, "orders")] {
            let texts = await events.reduce(into: []) { $0.append(String(decoding: $1, as: UTF8.self)) }
            let outcomes = texts.filter { $0.contains("event: outcome") }
            #expect(outcomes.count == 1 && outcomes[0].contains(#""app":"\#(app)""#), "\(texts)")
        }
    }

    @Test func `over the APNs protocol a caller has access to its own apps only`() async throws {
        let bench = try await bench()
        let asker = try HTTP2Asker(port: try #require(await bench.relay.ports[.production]))
        let (push, channels) = ("/3/device/5d3a6a1c", "/1/apps/com.example.orders/channels")
        let all = "/1/apps/com.example.orders/all-channels"
        for (key, method, path, status) in [
            (Self.stranger, "POST", push, 400), (Self.stranger, "POST", "/4/broadcasts/apps/com.example.orders", 403),
            (Self.stranger, "GET", all, 403), (Self.stranger, "POST", channels, 403),
            (Self.stranger, "DELETE", channels, 403),
            // Of the app's own keys, each does what its scopes are for.
            ("mrt_nobody", "POST", push, 403), ("mrt_nobody", "GET", all, 403), ("mrt_sender", "GET", all, 403),
            ("mrt_sender", "POST", channels, 403), ("mrt_sender", "DELETE", channels, 403),
            ("mrt_reader", "GET", all, 200), ("mrt_reader", "POST", push, 403), ("mrt_reader", "POST", channels, 403),
            (RelayBench.callerKey, "POST", channels, 201), ("mrt_sender", "POST", push, 200),
        ] {
            let fields: HTTPFields = [
                "authorization": "Bearer \(key)", "apns-topic": "com.example.orders", "apns-expiration": "0",
                "apns-push-type": path.hasPrefix("/3") ? "alert" : "LiveActivity", "apns-priority": "5",
                "apns-channel-id": "dHN0LXNyY2gtY2hubA==",
            ]
            let body =
                path == channels
                ? #"{"message-storage-policy":0,"push-type":"LiveActivity"}"# : #"{"aps":{"alert":"Hi"}}"#
            #expect(try await asker.status(method, path, fields, body: body) == status, "\(key): \(method) \(path)")
        }
        #expect(await bench.apple.pushCount == 1)
        await asker.close()
        await bench.stop()
    }

    @Test(arguments: ["", "a", "mrt_0123456789abcdefghijklmnopqrstu", "mrt_0123456789abcdefghijklmnopqrstuw"])
    func `only the complete key is accepted`(text: String) throws {
        let caller = try RelayConfiguration.Caller(key: RelayBench.callerKey, apps: ["orders"], scopes: [.read])
        var configuration = RelayConfiguration(data: .file(""), apps: [], listeners: [:])
        configuration.callers = [caller]
        let callers = try Callers(configuration)
        #expect(callers.caller("Bearer " + text) == nil)
        #expect(callers.caller("bearer " + RelayBench.callerKey)?.name == caller.name)
    }
}

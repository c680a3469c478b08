// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import MartletHTTPServer
import MartletOutbox
import TestSupport
import Testing

@testable import MartletRelay

/// The log lines about administrative requests.
@Suite(.timeLimit(.minutes(10))) struct AuditTests {
    private static let token = "5d3a6a1c8f9a42d6b0e7c41f2a9b8c7d"

    @Test func `every request that changes something is audited, except sending`() {
        let unaudited = RelayAPI.routes.filter { route in
            guard case .scope(_, nil) = route.access else { return false }
            return route.method != "GET"
        }
        // A count changes nothing, and a surface leads to pushes.
        let expected = [
            "/v1/pushes", "/v1/pushes:batch", "/v1/apps/{app}/audiences/count", "/v1/apps/{app}/surfaces/{id}",
        ]
        #expect(unaudited.map(\.path) == expected)
    }

    @Test func `every route that needs manage is audited, except the list of dead letters`() {
        let unaudited = RelayAPI.routes.filter { $0.access == .scope("manage", audit: nil) }
        #expect(unaudited.map(\.path) == ["/v1/apps/{app}/dead-letters"])
    }

    @Test func `the article lists every action`() throws {
        let file = "Sources/MartletRelay/Documentation.docc/OperateTheRelay.md"
        let article = try String(contentsOfFile: file, encoding: .utf8)
        for route in RelayAPI.routes {
            guard case .scope(_, let action?) = route.access else { continue }
            #expect(article.contains("`\(action)`"), "\(action)")
        }
    }

    @Test func `a request for the fields of an audited answer is audited, too`() async throws {
        let lines = LogLines()
        let bench = try await RelayBench(log: lines.logger(.error))
        _ = await bench.ask("HEAD", "/v1/apps/orders/dead-letters/123e4567-e89b-42d3-a456-426655440000")
        await bench.stop()
        #expect(lines.objects.map { $0["action"] } == ["show-dead-letter"], "\(lines.all)")
    }

    @Test func `an administrative request is one line, whatever the level of the log`() async throws {
        let lines = LogLines()
        let reader = try RelayConfiguration.Caller(key: "reader", apps: ["orders"], scopes: [.read])
        let bench = try await RelayBench(log: lines.logger(.error)) { $0.callers.append(reader) }
        let lane = "/v1/apps/orders/lanes/production"
        _ = await bench.ask("POST", lane + "/pause")
        let later = bench.parts.now / 1_000 + 3_600
        let order = #"{"to":"\#(Self.token)","not-before":\#(later),"payload":{"aps":{"alert":"Secret"}}}"#
        var ids: [String] = []
        for _ in 0..<2 { ids.append(await bench.ask("POST", "/v1/pushes", order).json["id"]?.stringValue ?? "") }
        _ = await bench.ask("DELETE", "/v1/pushes/\(ids[0])")
        _ = await bench.ask("POST", lane + "/purge")
        _ = await bench.ask("POST", lane + "/resume", key: "reader")
        _ = await bench.ask("DELETE", "/v1/apps/orders/unregistered-tokens/\(Self.token)")
        _ = await bench.ask("DELETE", "/v1/pushes/\(Self.token)")
        _ = await bench.ask("POST", "/v1/apps/orders/dead-letters:requeue", #"{"ids":["\#(ids[0])"]}"#)
        _ = await bench.ask("POST", "/v1/apps/orders/dead-letters:discard", #"{"ids":["\#(ids[1])"]}"#)
        _ = await bench.ask("POST", "/v1/drain")
        _ = await bench.ask("GET", "/v1/status")
        await bench.stop()
        let entries = lines.objects.filter { $0["msg"] == "audit" }
        #expect(entries.allSatisfy { $0["level"] == "info" })
        let found = entries.map { entry in
            ["caller", "action", "app", "env", "target", "count", "status", "result"].map { name in
                entry[name].map { $0.stringValue ?? String(decoding: $0.encoded(), as: UTF8.self) } ?? "-"
            }.joined(separator: " ")
        }
        #expect(
            found == [
                "back end pause orders production - - 200 done",
                "back end cancel orders production \(ids[0]) - 200 done",
                "back end purge orders production - 1 200 done",
                "reader resume orders production - - 403 failed",
                "back end accept-token orders - 5d3a6a1c… - 404 failed",
                "back end cancel - - - - 400 failed",
                "back end requeue orders - \(ids[0]) 0 200 done",
                "back end discard orders - \(ids[1]) 0 200 done",
                "back end drain - - - - 403 failed",
            ]
        )
        let text = lines.all.joined()
        for secret in [Self.token, "Secret", "mrt_"] { #expect(!text.contains(secret), "\(secret)") }
    }

    @Test func `reading the tokens of users is audited, without users and tokens`() async throws {
        let lines = LogLines()
        let bench = try await EnrollmentBench(log: lines.logger(.error))
        let id = try await bench.enroll("anna", #","tokens":{"device":"\#(Self.token)"}"#).id
        for path in ["/installations?user=anna", "/installations/\(id)", "/users/anna", "/users/anna/overview"] {
            _ = await bench.ask("GET", path)
        }
        _ = await bench.ask("POST", "/installations", #"{"user":"anna","tokens":{"device":"\#(Self.token)"}}"#)
        await bench.stop()
        let entries = lines.objects.filter { $0["msg"] == "audit" && $0["action"] != "issue-ticket" }
        let actions: [JSONValue?] = [
            "list-installations", "show-installation", "export-user", "show-user", "import-installations",
        ]
        #expect(entries.map { $0["action"] } == actions)
        #expect(entries.map { $0["target"] } == [nil, .string(id), nil, nil, nil])
        #expect(entries.allSatisfy { $0["status"] == 200 && $0["app"] == "orders" }, "\(lines.all)")
        let text = lines.all.joined()
        for secret in [Self.token, "anna"] { #expect(!text.contains(secret), "\(secret)") }
    }

    @Test func `a name that the relay does not know is not written`() async throws {
        let lines = LogLines()
        let bench = try await RelayBench(log: lines.logger(.error))
        let name = "mrt_short"
        _ = await bench.ask("POST", "/v1/apps/\(name)/lanes/\(name)/pause")
        _ = await bench.ask("POST", "/v1/nodes/\(name)/drain")
        _ = await bench.ask("GET", "/v1/apps/\(name)/installations")
        _ = await bench.ask("POST", "/v1/apps/rides/channels?environment=\(name)")
        _ = await bench.ask("POST", "/v1/nodes/7/drain")
        await bench.stop()
        let entries = lines.objects.filter { $0["msg"] == "audit" }
        #expect(entries.map { $0["app"] } == ["unknown", nil, "unknown", "rides", nil])
        #expect(entries.map { $0["env"] } == ["unknown", nil, nil, "unknown", nil])
        #expect(entries.map { $0["target"] } == [nil, nil, nil, nil, "7"])
        #expect(!lines.all.joined().contains(name), "\(lines.all)")
    }

    @Test func `an entry has the address of the client`() async throws {
        let lines = LogLines()
        let bench = try await RelayBench(log: lines.logger(.error)) { $0.http = RelayConfiguration.Address(port: 0) }
        let port = await bench.relay.httpPort ?? 0
        let path = "/v1/apps/orders/lanes/production/pause"
        let request = RawHTTP1.Request("POST", path, ["authorization: Bearer \(RelayBench.callerKey)"])
        #expect(await RawHTTP1.ask([request], at: port).map(\.status) == [200])
        #expect(lines.objects[0]["peer"]?.stringValue?.hasPrefix("127.0.0.1:") == true, "\(lines.all)")
        await bench.stop()
    }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import LiveSurfaces
import Martlet
import MartletSimulator
import TestSupport
import Testing

/// Tests of the options for snapshots: the request that each makes, and the combinations that are refused.
@Suite(.timeLimit(.minutes(10))) struct SnapshotOptionTests {
    private let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
    }

    private func file(_ example: SurfaceExample) throws -> String {
        try scratch.write(example.snapshot.json.encoded(), to: example.name + ".json")
    }

    /// Returns the header fields and the payload of the request for an example.
    private func request(_ example: SurfaceExample, _ words: [String]) async throws -> (JSONValue, JSONValue) {
        let send = ["send", "--describe", "--json", "--topic", "com.example.app", "--to", "5d3a", "--snapshot"]
        let run = try await ProgramRun(MartletProcess.program, send + [try file(example)] + words)
        #expect(run.status == 0, "\(run.text)\(run.errorOutput)")
        let request = try JSONReader.read(run.output)
        return (request["fields"] ?? .null, request["payload"] ?? .null)
    }

    // MARK: send

    @Test func `the options for headers apply to an alert`() async throws {
        let words = ["--priority", "5", "--expiration", "1790000000", "--collapse-id", "order-17"]
        for example in [SurfaceExample.notificationAlert, .activityActive] {
            let (fields, _) = try await request(example, words)
            #expect(fields["apns-priority"] == "5" && fields["apns-push-type"] == "alert")
            #expect(fields["apns-expiration"] == "1790000000" && fields["apns-collapse-id"] == "order-17")
        }
        let (fields, _) = try await request(.notificationAlert, [])
        #expect(fields["apns-priority"] == "10" && fields["apns-collapse-id"] == nil)
    }

    @Test func `the options for content apply to a Live Activity`() async throws {
        let words = ["--stale-date", "2026-09-21T13:33:20Z", "--relevance-score", "0.5", "--timestamp", "1789990000"]
        for role in ["start", "update", "end"] {
            let (fields, payload) = try await request(.activityActive, ["--as", role, "--priority", "5"] + words)
            let aps = try #require(payload["aps"])
            #expect(aps["event"]?.stringValue == role && fields["apns-priority"] == "5")
            #expect(aps["stale-date"] == 1_789_997_600 && aps["timestamp"] == 1_789_990_000)
            #expect(aps["relevance-score"]?.encoded() == Array("0.5".utf8))
        }
        let (_, end) = try await request(.activityCompleted, ["--as", "end", "--timestamp", "1789990000"])
        #expect(end["aps"]?["timestamp"] == 1_789_990_000 && end["aps"]?["dismissal-date"] == 1)
    }

    @Test func `--attributes-type names the type of a start`() async throws {
        let (_, own) = try await request(.activityActive, ["--as", "start", "--attributes-type", "OrderAttributes"])
        #expect(own["aps"]?["attributes-type"] == "OrderAttributes")
        let (_, standard) = try await request(.activityActive, ["--as", "start"])
        #expect(standard["aps"]?["attributes-type"] == "SurfaceActivityAttributes")
    }

    @Test func `--mobile-surfaces changes the request to that of the package`() async throws {
        let (fields, start) = try await request(.activityActive, ["--as", "start", "--mobile-surfaces"])
        #expect(fields["apns-priority"] == "5" && start["aps"]?["alert"]?["sound"] == nil)
        #expect(start["aps"]?["attributes-type"] == "MobileSurfacesActivityAttributes")
        let (_, end) = try await request(.activityCompleted, ["--as", "end", "--mobile-surfaces"])
        #expect(end["aps"]?["dismissal-date"] == end["aps"]?["timestamp"])
        let (_, urgent) = try await request(.notificationTimeSensitive, ["--mobile-surfaces"])
        #expect(urgent["aps"]?["interruption-level"] == "timeSensitive")
        let (_, alert) = try await request(.activityActive, ["--mobile-surfaces"])
        #expect(alert["liveSurface"]?["schemaVersion"] == nil && alert["liveSurface"]?["kind"] != nil)
    }

    @Test func `--categories allows the app's categories`() async throws {
        let categories = try NotificationCategories([.init(id: "orders.ready", description: "Ready.")])
        let registry = try scratch.write(categories.json.encoded(), to: "categories.json")
        let text = String(decoding: SurfaceExample.notificationCategory.snapshot.json.encoded(), as: UTF8.self)
        let own = try scratch.write(text.replacing("surface-update", with: "orders.ready"), to: "own.json")
        let send = ["send", "--describe", "--json", "--topic", "com.example.app", "--to", "5d3a", "--snapshot", own]
        let refused = try await ProgramRun(MartletProcess.program, send)
        #expect(refused.status == 2 && refused.text.contains("notification.category"), "\(refused.text)")
        let run = try await ProgramRun(MartletProcess.program, send + ["--categories", registry])
        #expect(run.status == 0 && run.text.contains(#""category":"orders.ready""#), "\(run.errorOutput)")
    }

    @Test(arguments: [
        (["--stale-date", "+1h"], "require --as start, update or end"),
        (["--attributes-type", "X", "--as", "update"], "--attributes-type requires --as start"),
        (["--collapse-id", "x", "--as", "update"], "--collapse-id requires --as device"),
        (["--priority", "1"], "--priority of a snapshot must be 10 or 5"),
        (["--stale-date", "soon", "--as", "update"], "--stale-date"),
        (["--relevance-score", "NaN", "--as", "update"], "--relevance-score"),
        (["--title", "x"], "--snapshot excludes the options for notifications"),
    ])
    func `a combination without effect is refused`(words: [String], message: String) async throws {
        let send = ["send", "--describe", "--topic", "com.example.app", "--to", "5d3a", "--snapshot"]
        let run = try await ProgramRun(MartletProcess.program, send + [try file(.activityActive)] + words)
        #expect(run.status == 2 && run.errorOutput.contains(message), "\(run.text)\(run.errorOutput)")
    }

    @Test(arguments: [["--as", "update"], ["--mobile-surfaces"], ["--stale-date", "+1h"], ["--categories", "x"]])
    func `an option for snapshots needs a snapshot`(words: [String]) async throws {
        let send = ["send", "--describe", "--topic", "com.example.app", "--to", "5d3a", "--body", "x"]
        let run = try await ProgramRun(MartletProcess.program, send + words)
        #expect(run.status == 2 && run.errorOutput.contains("need --snapshot"), "\(run.errorOutput)")
    }

    // MARK: broadcast

    @Test func `the options apply to the broadcast of a snapshot`() async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
        let port = await apns.port
        let server = ["--host", "http://localhost:\(port)", "--topic", "com.example.app"]
        func martlet(_ words: [String]) async throws -> ProgramRun {
            let run = try await ProgramRun(MartletProcess.program, words + server)
            #expect(run.status == 0, "\(words): \(run.text)\(run.errorOutput)")
            return run
        }
        let channel = String(try await martlet(["channels", "create", "--store"]).text.prefix { $0 != "\n" })
        let text = String(decoding: SurfaceExample.activityActive.snapshot.json.encoded(), as: UTF8.self)
        // Editors need the member $schema, and the contract does not have it.
        let file = try scratch.write(#"{"$schema":"surface.schema.json","# + text.dropFirst(), to: "order.json")
        let broadcast = ["broadcast", "--channel", channel, "--snapshot", file]
        let headers = ["--priority", "10", "--expiration", "1790000000", "--timestamp", "1789990000"]
        let content = ["--stale-date", "2026-09-21T13:33:20Z", "--relevance-score", "0.25"]
        _ = try await martlet(broadcast + headers + content)
        _ = try await martlet(broadcast + ["--end", "--relevance-score", "0.75"])
        _ = try await martlet(broadcast + ["--mobile-surfaces"])
        let pushes = await apns.pushes
        let aps = try pushes.map { try JSONReader.read($0.payload)["aps"] ?? .null }
        #expect(pushes.map(\.headers.priority) == ["10", "5", "5"])
        #expect(pushes.first?.headers.expiration == "1790000000" && pushes.last?.headers.expiration == "0")
        #expect(aps.map { $0["event"] } == ["update", "end", "update"])
        #expect(aps[1]["relevance-score"]?.encoded() == Array("0.75".utf8))
        #expect(aps[2].members?.map(\.name) == ["timestamp", "event", "content-state"])
        #expect(aps[0]["stale-date"] == 1_789_997_600 && aps[0]["timestamp"] == 1_789_990_000)
        #expect(aps[0]["relevance-score"]?.encoded() == Array("0.25".utf8))
        #expect(aps[0]["content-state"]?["headline"] == "On its way" && aps[1]["dismissal-date"] == nil)
        await apns.stop()
    }

    @Test(arguments: [
        (["--state", "{}"], "--state and --snapshot exclude each other"),
        (["--priority", "1"], "--priority"),
    ])
    func `a broadcast without effect is refused`(words: [String], message: String) async throws {
        let broadcast = [
            "broadcast", "--host", "http://localhost:1", "--topic", "a", "--channel", "dHN0", "--snapshot",
        ]
        let run = try await ProgramRun(MartletProcess.program, broadcast + [try file(.activityActive)] + words)
        #expect(run.status == 2 && run.errorOutput.contains(message), "\(run.text)\(run.errorOutput)")
    }

    @Test func `--mobile-surfaces of a broadcast needs a snapshot`() async throws {
        let broadcast = ["broadcast", "--host", "http://localhost:1", "--topic", "a", "--channel", "dHN0"]
        let run = try await ProgramRun(MartletProcess.program, broadcast + ["--state", "{}", "--mobile-surfaces"])
        #expect(run.status == 2 && run.errorOutput.contains("--mobile-surfaces needs --snapshot"))
    }

    @Test func `a broadcast needs a Live Activity`() async throws {
        let broadcast = [
            "broadcast", "--host", "http://localhost:1", "--topic", "a", "--channel", "dHN0", "--snapshot",
        ]
        let run = try await ProgramRun(MartletProcess.program, broadcast + [try file(.widgetMedium)])
        #expect(run.status == 2 && run.errorOutput.contains("(found widget)"), "\(run.errorOutput)")
    }
}

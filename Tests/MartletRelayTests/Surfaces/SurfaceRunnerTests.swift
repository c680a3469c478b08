// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import MartletCore
import MartletOutbox
import MartletSimulator
import TestSupport
import Testing

@testable import MartletRelay

/// Surfaces that the running relay brings to phones.
@Suite(.timeLimit(.minutes(10))) struct SurfaceRunnerTests {
    @Test(arguments: SurfaceBench.Store.allCases)
    func `a surface starts, updates and ends a Live Activity`(store: SurfaceBench.Store) async throws {
        var bench = try await SurfaceBench(over: store)
        let first = try await bench.enroll(device: "a1", start: "b1")
        let second = try await bench.enroll(device: "a2", start: "b2")
        _ = try await bench.enroll("bert", device: "a3", start: "b3")
        try await bench.put("Packed")
        for token in ["b1", "b2"] { try await bench.expect(["start Packed"], by: token) }
        try await bench.report("c1", with: first)
        try await bench.restart()
        try await bench.put("On its way")
        try await bench.expect(["update On its way"], by: "c1")
        try await bench.withdraw()
        try await bench.expect(["update On its way", "end On its way"], by: "c1")
        // The app of the other phone reports the activity only now.
        try await bench.report("c2", with: second)
        try await bench.expect(["end On its way"], by: "c2")
        for token in ["b1", "b2"] { #expect(await bench.received(by: token) == ["start Packed"]) }
        for token in ["a1", "a2", "a3", "b3"] { #expect(await bench.received(by: token) == []) }
        await bench.stop()
    }

    @Test(arguments: SurfaceBench.Store.allCases)
    func `one broadcast reaches the phones on a channel, and pushes the others`(
        store: SurfaceBench.Store
    ) async throws {
        var bench = try await SurfaceBench(over: store)
        let channel = try await bench.createChannel()
        var secrets: [String] = []
        for (number, system) in ["18.0", "26.1", "17.6"].enumerated() {
            let more = #","system-version":"\#(system)""#
            secrets.append(try await bench.enroll(device: "a\(number)", start: "b\(number)", more))
        }
        try await bench.put("Packed", on: channel)
        for number in 0..<3 { try await bench.expect(["start Packed"], by: "b\(number)") }
        let starts = await bench.relay.apple.pushes.compactMap { try? JSONReader.read($0.payload)["aps"] }
        #expect(starts.count { $0["input-push-channel"]?.stringValue == channel.id.rawValue } == 2, "\(starts)")
        for secret in secrets.prefix(2) { try await bench.reportActivityOnChannel(with: secret) }
        try await bench.report("c2", with: secrets[2])
        try await bench.put("On its way", on: channel)
        try await bench.expect(["update On its way"], on: channel)
        try await bench.expect(["update On its way"], by: "c2")
        try await bench.restart()
        try await bench.put("At the door", on: channel)
        try await bench.expect(["update On its way", "update At the door"], on: channel)
        try await bench.expect(["update On its way", "update At the door"], by: "c2")
        let path = "/v1/apps/orders/surfaces/\(SurfaceBench.surface)/installations"
        try await eventually("the phones are right") {
            let phones = await bench.relay.ask("GET", path).json["installations"]?.elements ?? []
            let accounts = phones.compactMap { $0["kinds"]?["liveActivity"] }
            return accounts.map { $0["state"] } == ["broadcast", "broadcast", "current"]
                && accounts.map { $0["channel"] } == [true, true, nil]
        }
        try await bench.withdraw()
        try await bench.expect(["update On its way", "update At the door", "end At the door"], on: channel)
        try await bench.expect(["update On its way", "update At the door", "end At the door"], by: "c2")
        #expect(await bench.relay.apple.pushes.count { $0.token != nil } == 6)
        await bench.stop()
    }

    @Test func `a channel that does not exist is a problem until replaced`() async throws {
        let lines = LogLines()
        let bench = try await SurfaceBench(log: lines.logger(.warning))
        try await bench.goLive(on: .test())
        try await bench.put("On its way", on: .test())
        let path = "/v1/apps/orders/surfaces/\(SurfaceBench.surface)"
        try await eventually("the problem is known") {
            let problem = await bench.relay.ask("GET", path).json["problem"]?.stringValue
            return problem?.contains("ChannelNotRegistered: create a channel in the same environment") == true
        }
        try await eventually("the problem is in the log") {
            lines.objects.contains { $0["msg"] == "surface broadcast refused" && $0["surface"] == "order-7" }
        }
        let line = try #require(lines.objects.first { $0["msg"] == "surface broadcast refused" })
        #expect(line["reason"] == "ChannelNotRegistered" && line["status"] == 400, "\(line)")
        #expect(!lines.objects.contains { $0["msg"] == "surface push not built" })
        try await eventually("the refusal is an incident") { await bench.hasRefusedBroadcasts() }
        let channel = try await bench.createChannel()
        try await bench.put("On its way", on: channel)
        try await bench.expect(["start Packed", "start On its way"], by: "b1")
        try await eventually("the incident is over") { await !bench.hasRefusedBroadcasts() }
        #expect(await bench.relay.ask("GET", path).json["problem"] == nil)
        await bench.stop()
    }

    @Test func `a withdrawn surface has no incident`() async throws {
        let bench = try await SurfaceBench()
        try await bench.goLive(on: .test())
        try await bench.put("On its way", on: .test())
        try await eventually("the refusal is an incident") { await bench.hasRefusedBroadcasts() }
        try await bench.withdraw()
        try await eventually("the end is refused, too") {
            await bench.relay.parts.surfaces.counts.problems["orders", default: 0] > 1
        }
        try await eventually("the incident is over") { await !bench.hasRefusedBroadcasts() }
        await bench.stop()
    }

    @Test func `a wrong storage policy is an incident until it is corrected`() async throws {
        let bench = try await SurfaceBench()
        let channel = try await bench.createChannel()
        let wrong = SurfaceChannel.test(channel.id, storesBroadcasts: true)
        try await bench.goLive(on: wrong)
        try await bench.put("On its way", on: wrong)
        try await eventually("the refusal is an incident") { await bench.hasRefusedBroadcasts() }
        let problem = await bench.relay.ask("GET", "/v1/apps/orders/surfaces/\(SurfaceBench.surface)").json["problem"]
        let remedy = "BadExpirationDate: store the surface with message-storage-policy 0"
        #expect(problem?.stringValue?.contains(remedy) == true)
        try await bench.put("At the door", on: channel)
        try await eventually("the broadcast is sent") {
            await bench.received(on: channel).last == "update At the door"
        }
        try await eventually("the incident is over") { await !bench.hasRefusedBroadcasts() }
        await bench.stop()
    }

    @Test(arguments: SurfaceBench.Store.allCases)
    func `a refused broadcast is an incident after a restart`(store: SurfaceBench.Store) async throws {
        var bench = try await SurfaceBench(over: store)
        try await bench.goLive(on: .test())
        try await bench.put("On its way", on: .test())
        try await eventually("the refusal is an incident") { await bench.hasRefusedBroadcasts() }
        // Without a phone, no broadcast is refused again.
        let installations = await bench.phones.installations()
        let id = try #require(installations.first?["id"]?.stringValue)
        #expect(await bench.phones.ask("DELETE", "/installations/\(id)").status == 204)
        try await bench.restart()
        try await eventually("the incident is restored") { await bench.hasRefusedBroadcasts() }
        await bench.stop()
    }

    @Test func `a phone that enrolls later gets the surface`() async throws {
        let bench = try await SurfaceBench()
        try await bench.put("Packed")
        try await eventually("no page is left") {
            try await bench.relay.parts.outbox.surfaces.unfinishedSurfaces(limit: 1).isEmpty
        }
        _ = try await bench.enroll("bert", device: "a1", start: "b1")
        _ = try await bench.enroll(device: "a2", start: "b2")
        try await bench.expect(["start Packed"], by: "b2")
        #expect(await bench.received(by: "b1") == [])
        await bench.stop()
    }

    @Test func `a phone that joins and leaves an expression follows it`() async throws {
        let bench = try await SurfaceBench()
        try await bench.put("Packed", for: .matching(.tag("vip")))
        let secret = try await bench.enroll(device: "a1", start: "b1")
        let installations = await bench.phones.installations()
        let id = try #require(installations.first?["id"]?.stringValue)
        let path = "/installations/\(id)"
        #expect(await bench.phones.ask("PATCH", path, #"{"tags":["vip"]}"#).status == 200)
        try await bench.expect(["start Packed"], by: "b1")
        try await bench.report("c1", with: secret)
        #expect(await bench.phones.ask("PATCH", path, #"{"tags":[]}"#).status == 200)
        try await bench.expect(["end Packed"], by: "c1")
        await bench.stop()
    }

    @Test func `a card that was started for the user before is ended`() async throws {
        let bench = try await SurfaceBench()
        try await bench.put("Packed")
        let secret = try await bench.enroll("bert", device: "a1", start: "b1")
        try await bench.report("c1", with: secret)
        try await bench.expect(["end –"], by: "c1")
        #expect(await bench.received(by: "b1") == [])
        await bench.stop()
    }

    @Test func `a card of a surface that was withdrawn before the app enrolled is ended`() async throws {
        let bench = try await SurfaceBench()
        try await bench.put("Packed")
        try await bench.withdraw()
        let secret = try await bench.enroll(device: "a1", start: "b1")
        try await bench.report("c1", with: secret)
        try await bench.expect(["end –"], by: "c1")
        await bench.stop()
    }

    @Test func `a card that the app has started is left to it while the surface has another audience`() async throws {
        let bench = try await SurfaceBench()
        try await bench.put("Packed", for: .users(["bert"]))
        let secret = try await bench.enroll(device: "a1", start: "b1")
        let activity = #"{"surface":"order-7","token":"c1","started-by":"app"}"#
        #expect(await bench.phones.phone("PATCH", #"{"activities":{"c1":\#(activity)}}"#, with: secret).status == 200)
        try await bench.put("On its way", for: .users(["anna"]))
        try await bench.expect(["update On its way"], by: "c1")
        await bench.stop()
    }

    @Test func `a phone without Live Activities gets a notification`() async throws {
        let bench = try await SurfaceBench()
        _ = try await bench.enroll(device: "a1", start: "b1", #","permissions":{"live-activities":false}"#)
        try await bench.put("Packed")
        try await bench.expect(["alert Packed"], by: "a1")
        try await bench.put("On its way")
        try await bench.expect(["alert Packed", "alert On its way"], by: "a1")
        #expect(await bench.received(by: "b1") == [])
        let collapseIDs = await bench.relay.apple.pushes.map(\.headers.collapseID)
        #expect(collapseIDs == ["notification order-7", "notification order-7"])
        await bench.stop()
    }

    @Test func `each state of a widget is a background push`() async throws {
        let bench = try await SurfaceBench()
        _ = try await bench.enroll(device: "a1", start: "b1")
        try await bench.put("Packed", kinds: [.widget])
        try await bench.expect(["background Packed"], by: "a1")
        let push = try #require(await bench.relay.apple.pushes.first)
        let status = await bench.relay.ask("GET", "/v1/pushes/\(push.id)")
        let installation = await bench.phones.installations().first?["id"]
        #expect(status.json["surface"] == "order-7" && status.json["installation"] == installation, "\(status.text)")
        try await bench.put("On its way", kinds: [.widget])
        try await bench.expect(["background Packed", "background On its way"], by: "a1")
        // The same content is no change.
        try await bench.put("On its way", kinds: [.widget])
        _ = await bench.relay.parts.surfaces.run()
        #expect(await bench.relay.apple.pushCount == 2)
        await bench.stop()
    }

    @Test func `widgets are reloaded, and the phone reads the snapshot`() async throws {
        let bench = try await SurfaceBench()
        let secret = try await bench.phones.enroll("anna", #","tokens":{"device":"a1","widgets":"d1"}"#).secret
        let other = try await bench.phones.enroll("bert").secret
        try await bench.put("Packed", kinds: [.widget])
        try await bench.expect(["widgets "], by: "d1")
        let shown = await bench.phones.surfaces(with: secret)
        let surface = shown.json["surfaces"]?.elements?.first
        #expect(shown.status == 200 && surface?["id"] == "order-7" && surface?["revision"] == 1, "\(shown.text)")
        #expect(surface?["snapshots"] == [SurfaceBench.snapshot(of: .widget, "Packed").json], "\(shown.text)")
        #expect(await bench.phones.surfaces(with: other).json == ["surfaces": []])
        try await bench.put("Secret", for: .users(["bert"]), kinds: [.widget])
        // Before the change has spread, too.
        #expect(await bench.phones.surfaces(with: secret).json == ["surfaces": []])
        #expect(await bench.received(by: "a1") == [])
        await bench.stop()
    }

    @Test func `a content that no phone can get does not stop the next one`() async throws {
        let lines = LogLines()
        let bench = try await SurfaceBench(log: lines.logger(.warning))
        _ = try await bench.enroll(device: "a1", start: "b1")
        try await bench.put(String(repeating: "a", count: 5_000))
        try await eventually("the push is not built") {
            lines.objects.contains { $0["msg"] == "surface push not built" && $0["surface"] == "order-7" }
        }
        try await bench.put("Packed")
        try await bench.expect(["start Packed"], by: "b1")
        #expect(await bench.relay.apple.pushCount == 1)
        await bench.stop()
    }

    @Test func `a surface waits for room in the outbox`() async throws {
        let bench = try await SurfaceBench(over: .model, limit: 2)
        let lanes = "/v1/apps/orders/lanes/production"
        for number in 1...3 { _ = try await bench.enroll(device: "a\(number)", start: "b\(number)") }
        #expect(await bench.relay.ask("POST", lanes + "/pause").status == 200)
        try await bench.put("Packed")
        let parts = bench.relay.parts
        try await eventually("the outbox is full") { try await parts.outbox.backlog().first?.count == 2 }
        #expect(await parts.surfaces.run() > .zero)
        try await bench.put("On its way")
        #expect(await bench.relay.ask("POST", lanes + "/resume").status == 200)
        try await bench.expect(["start On its way"], by: "b3")
        await bench.stop()
    }

    @Test func `a surface is withdrawn at its end`() async throws {
        let bench = try await SurfaceBench()
        let parts = bench.relay.parts
        try await bench.put("Packed", endsAt: parts.now)
        try await eventually("the surface is withdrawn") {
            try await parts.outbox.surfaces.surface(SurfaceBench.surface, of: "orders")?.withdrawnAt != nil
        }
        await bench.stop()
    }

    @Test func `work leaves half of the time to other pushes if there are any`() async throws {
        let (work, free) = (Duration.milliseconds(50), Duration.milliseconds(10))
        #expect(SurfaceRunner.pause(after: work, free: free, others: nil) == .zero)
        #expect(SurfaceRunner.pause(after: work, free: free, others: .seconds(2)) == .zero)
        #expect(SurfaceRunner.pause(after: work, free: free, others: .zero) == .milliseconds(30))
        #expect(SurfaceRunner.pause(after: work, free: work, others: .zero) == .zero)
        let bench = try await SurfaceBench()
        _ = try await bench.enroll(device: "a1", start: "b1")
        try await bench.put("Packed")
        try await bench.expect(["start Packed"], by: "b1")
        #expect(await bench.relay.parts.dispatcher.claims.othersClaimedAt == nil)
        await bench.stop()
    }

    @Test func `the metrics have the pushes and the staleness`() async throws {
        let bench = try await SurfaceBench()
        let secret = try await bench.enroll(device: "a1", start: "b1")
        try await bench.put("Packed")
        try await bench.expect(["start Packed"], by: "b1")
        try await bench.report("c1", with: secret)
        try await eventually("the activity is known") {
            try await bench.relay.parts.outbox.surfaces.dueSessions(at: bench.relay.parts.now, limit: 1).isEmpty
        }
        try await bench.put("On its way")
        for line in [
            #"surfaces{app="orders"} 1"#, #"surface_longest_staleness_seconds{app="orders"} "#,
            #"surfaces_spreading{app="orders"} 0"#, #"surface_pages_total{app="orders"} 2"#,
            #"surface_pushes_total{app="orders"} 2"#, #"surface_problems_total{app="orders"} 0"#,
            #"surface_staleness_seconds_count{app="orders",kind="liveActivity"} 1"#,
        ] {
            try await eventually("the metrics have \(line)") {
                await bench.relay.ask("GET", "/metrics").text.contains("martlet_relay_" + line)
            }
        }
        let figure = await bench.relay.ask("GET", "/v1/status").json["figures"]?.elements?.last
        #expect(figure?["name"] == "Staleness" && figure?["value"] != "–", "\(String(describing: figure))")
        #expect(figure?["note"]?.stringValue?.hasSuffix("; 1 surface") == true)
        await bench.stop()
    }
}

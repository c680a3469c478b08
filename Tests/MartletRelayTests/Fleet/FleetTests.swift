// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import MartletCore
import MartletSimulator
import MartletTransport
import TestSupport
import Testing

@testable import MartletOutbox
@testable import MartletRelay

/// Relays that share a database.
@Suite(.timeLimit(.minutes(10))) struct FleetTests {
    private func place() async throws -> OutboxLocation {
        let server = try await PostgreSQLServer.shared.value
        let address = server.address(of: try await server.makeDatabase())
        try await OutboxSchema.create(in: address)
        return .database(address)
    }

    private func fleet(_ size: Int, _ change: (inout RelayConfiguration) -> Void = { _ in }) async throws
        -> [RelayBench]
    {
        let first = try await RelayBench(data: try await place(), change)
        var benches = [first]
        while benches.count < size { benches.append(try await first.another()) }
        return benches
    }

    private func stop(_ benches: [RelayBench]) async {
        for bench in benches { await bench.relay.stop() }
        await benches.first?.apple.stop()
    }

    @Test func `each push is sent once, and every relay has its outcome`() async throws {
        let benches = try await fleet(2)
        var ids: Set<String> = []
        for number in 0..<40 {
            let answer = await benches[number % 2].push()
            #expect(answer.json["state"] == "delivered", "\(answer)")
            ids.insert(answer.json["id"]?.stringValue ?? "")
            let other = await benches[(number + 1) % 2].ask("GET", "/v1/pushes/\(answer.json["id"]?.stringValue ?? "")")
            #expect(other.json["state"] == "delivered")
        }
        let arrived = await benches[0].apple.pushes.map(\.id)
        #expect(ids.count == 40 && arrived.count == 40 && Set(arrived) == ids)
        await stop(benches)
    }

    @Test func `a caller of one relay is told that another has superseded its push`() async throws {
        let benches = try await fleet(2)
        let later = benches[0].parts.now / 1_000 + 3_600
        let push = #"{"to":"5d3a6a1c","collapse-id":"a","not-before":\#(later),"supersede":true,"payload":{"aps":{}}}"#
        let posted = await benches[0].ask("POST", "/v1/pushes", push)
        let path = "/v1/pushes/\(posted.json["id"]?.stringValue ?? "")"
        async let waiting = benches[0].ask("GET", path + "?wait=60")
        #expect(await benches[1].ask("POST", "/v1/pushes", push).status == 202)
        let answer = await waiting
        #expect(answer.json["state"] == "superseded", "\(answer.text)")
        await stop(benches)
    }

    @Test func `pushes of a relay without a connection are sent by another`()
        async throws
    {
        let works = try await RelayBench(data: try await place())
        let closed = try SilentServer.unusedPort().port
        let cutOff = try await works.another {
            $0.endpoints[.production] = LaneEndpoint(
                APNsEndpoint(host: "127.0.0.1", port: closed, isEncrypted: false)
            )
        }
        for _ in 0..<3 {
            let answer = await cutOff.push()
            #expect(answer.json["state"] == "delivered", "\(answer)")
        }
        let client = try await cutOff.client()
        try await client.send(.alert("Hi"), to: RelayBench.token, topic: "com.example.orders")
        await client.close()
        #expect(await works.apple.pushes.count == 4)
        await stop([works, cutOff])
    }

    @Test func `a pause of a lane applies to all relays`() async throws {
        let benches = try await fleet(2)
        let lane = Lane(app: "orders", environment: .production)
        let place = "/v1/apps/orders/lanes/production/"
        #expect(await benches[0].ask("POST", place + "pause").status == 200)
        try await eventually("the other relay pauses the lane") {
            await benches[1].parts.dispatcher.laneControl.pause(of: lane) != nil
        }
        let order = #"{"to":"5d3a6a1c","payload":{"aps":{"alert":"Hi"}}}"#
        for bench in benches { #expect(await bench.ask("POST", "/v1/pushes", order).status == 202) }
        #expect(await benches[1].ask("POST", place + "purge").json == ["purged": 2])
        #expect(await benches[0].apple.pushCount == 0)
        #expect(await benches[1].ask("POST", place + "resume").json == ["resumed": true])
        try await eventually("the other relay resumes the lane") {
            await benches[0].parts.dispatcher.laneControl.pause(of: lane) == nil
        }
        for bench in benches {
            let answer = await bench.push()
            #expect(answer.json["state"] == "delivered", "\(answer)")
        }
        await stop(benches)
    }

    @Test func `relays share a provider token while the database answers`() async throws {
        let address = try await place()
        guard case .database(let database) = address else { return }
        let outbox = try await PostgreSQLOutbox(address: database)
        let key = try SigningKey.ephemeral()
        let clock = TestClock()
        let fleet = ClockedFleet(outbox.fleet, clock)
        let sources = (0..<2).map { _ in SharedProviderTokenSource(key, sharing: fleet, clock: clock.wall) }
        let first = try await sources[0].token()
        #expect(try await sources[1].token().text == first.text)
        #expect(first.validity == .seconds(60))
        // The first source that is asked after fifty minutes signs for all.
        clock.advance(by: 50 * 60)
        let second = try await sources[1].token()
        #expect(second.issuedAt == first.issuedAt + TimeInterval(3_000))
        #expect(try await sources[0].token().text == second.text)
        // Apple's refusal of a fresh one is the clock's fault, and none of the token's.
        await sources[0].expired(tokenIssuedAt: second.issuedAt)
        #expect(try await sources[0].token().text == second.text)
        clock.advance(by: 20 * 60)
        let third = try await sources[0].token()
        #expect(third.text != second.text)
        #expect(try await sources[1].token().text == third.text)
        // Without the database each keeps the token until it is too old, and signs one of its own then.
        await outbox.close(isInOrder: true)
        clock.advance(by: 60)
        for source in sources { #expect(try await source.token().text == third.text) }
        clock.advance(by: 50 * 60 - 61)
        #expect(try await sources[0].token().text == third.text)
        clock.advance(by: 1)
        let alone = try await sources[0].token()
        #expect(alone.issuedAt == third.issuedAt + TimeInterval(3_000))
        clock.advance(by: 60)
        #expect(try await sources[0].token().text == alone.text)
        await sources[0].expired(tokenIssuedAt: alone.issuedAt)
        #expect(try await sources[0].token().text == alone.text)
    }

    @Test func `a relay whose clock is wrong uses the token of the others`() async throws {
        guard case .database(let database) = try await place() else { return }
        let outbox = try await PostgreSQLOutbox(address: database)
        let key = try SigningKey.ephemeral()
        let (common, wrong) = (TestClock(), TestClock())
        let fleet = ClockedFleet(outbox.fleet, common)
        let sources = [common, wrong].map { SharedProviderTokenSource(key, sharing: fleet, clock: $0.wall) }
        let first = try await sources[0].token()
        for error: Int64 in [3_600, -7_200] {
            wrong.advance(by: error)
            #expect(try await sources[1].token().text == first.text)
        }
        common.advance(by: 50 * 60)
        let second = try await sources[1].token()
        #expect(second.issuedAt == first.issuedAt + TimeInterval(3_000))
        #expect(try await sources[0].token().text == second.text)
        await outbox.close(isInOrder: true)
        for clock in [common, wrong] { clock.advance(by: 60) }
        for source in sources { #expect(try await source.token().text == second.text) }
    }

    @Test func `a token that was signed without the database is shared when it is back`() async throws {
        guard case .database(let database) = try await place() else { return }
        let outbox = try await PostgreSQLOutbox(address: database)
        let server = try await PostgreSQLServer.shared.value
        let name = try #require(database.split(separator: "/").last.map(String.init))
        let clock = TestClock()
        let key = try SigningKey.ephemeral()
        let fleet = ClockedFleet(outbox.fleet, clock)
        let source = SharedProviderTokenSource(key, sharing: fleet, clock: clock.wall)
        let first = try await source.token()
        clock.advance(by: 50 * 60)
        try await server.ask("ALTER TABLE martlet.provider_token RENAME TO away", of: name)
        let alone = try await source.token()
        #expect(alone.text != first.text)
        try await server.ask("ALTER TABLE martlet.away RENAME TO provider_token", of: name)
        clock.advance(by: 60)
        #expect(try await source.token().text == alone.text)
        let another = SharedProviderTokenSource(key, sharing: fleet, clock: clock.wall)
        #expect(try await another.token().text == alone.text)
    }

    @Test func `relays agree that a lane without pushes is not down`() async throws {
        let reserved = try SilentServer.unusedPort()
        let nowhere = LaneEndpoint(APNsEndpoint(host: "127.0.0.1", port: reserved.port, isEncrypted: false))
        let clock = TestClock()
        let first = try await RelayBench(data: try await place(), clock: clock.wall) {
            $0.endpoints = [.production: nowhere]
        }
        let other = try await PushRelay.start(await first.relay.context.configuration, clock: clock.wall)
        let benches = [first, RelayBench(first, other)]
        let lane = Lane(app: "orders", environment: .production)
        let order = #"{"to":"5d3a6a1c","payload":{"aps":{"alert":"Hi"}}}"#
        _ = await first.ask("POST", "/v1/pushes", order)
        // The push is tried by one of them.
        try await eventually("a relay reports the lane as down") {
            for bench in benches where await bench.problem(of: lane) != nil { return true }
            return false
        }
        let place = "/v1/apps/orders/lanes/production/"
        #expect(await first.ask("POST", place + "pause").status == 200)
        for bench in benches {
            try await eventually("each relay pauses the lane", in: bench.parts.dispatcher) {
                $0.laneControl.pause(of: lane) != nil
            }
        }
        for bench in benches {
            try await eventually("no push of the lane is claimed", in: bench.parts.dispatcher) {
                $0.machine.isIdle && !$0.machine.isReturning(lane)
            }
        }
        #expect(await first.ask("POST", place + "purge").json == ["purged": 1])
        #expect(await first.ask("POST", place + "resume").status == 200)
        for bench in benches {
            // A relay samples its lanes every ten seconds, and a lane that is just claiming is not idle.
            try await eventually("no relay reports the lane as down") {
                let state = await bench.ask("GET", "/v1/status").json["lanes"]?.elements?.first?["state"]
                // The relay that has not tried the push knows of no problem.
                if let state, ["not-tried", "ready"].contains(state) { return true }
                clock.advance(by: 20)
                try await eventually("the relay samples its lanes", in: bench.parts.monitor) {
                    !$0.history.wants(at: $0.context.now)
                }
                return false
            }
        }
        await stop(benches)
    }

    @Test func `a key with the same identifier gets another client`() async throws {
        let benches = try await fleet(1)
        var new = await benches[0].relay.context.configuration
        let context = await benches[0].relay.context
        let clients = await benches[0].parts.dispatcher.clients
        #expect(try clients.replacements(for: new, in: context).isEmpty)
        new.apps[0].key = try .ephemeral(keyID: benches[0].key.keyID, teamID: benches[0].key.teamID)
        let fresh = try clients.replacements(for: new, in: context)
        #expect(Array(fresh.keys) == [Lane(app: "orders", environment: .production)])
        for client in fresh.values { await client.close() }
        await stop(benches)
    }

    @Test func `a token that another key with the same identifier has signed is not used`() async throws {
        guard case .database(let database) = try await place() else { return }
        let outbox = try await PostgreSQLOutbox(address: database)
        let clock = TestClock()
        let keys = [try SigningKey.ephemeral(), try SigningKey.ephemeral()]
        let fleet = ClockedFleet(outbox.fleet, clock)
        let sources = keys.map { SharedProviderTokenSource($0, sharing: fleet, clock: clock.wall) }
        let wrong = try await sources[0].token()
        clock.advance(by: 60)
        let right = try await sources[1].token()
        let parsed = try #require(try? ParsedProviderToken(String(decoding: right.text, as: UTF8.self)[...].utf8))
        #expect(try keys[1].publicKey().isValid(signature: parsed.signature, for: parsed.signingInput))
        // Relays that still have the former key do not replace the token of the others, nor the others theirs.
        #expect(try await sources[0].token().text == wrong.text)
        let another = SharedProviderTokenSource(keys[1], sharing: fleet, clock: clock.wall)
        #expect(try await another.token().text == right.text)
        await outbox.close(isInOrder: true)
    }

    @Test(arguments: [Int64.min, -1, .max]) func `a shared token with an impossible time of issue is replaced`(
        issuedAt: Int64
    ) async throws {
        guard case .database(let database) = try await place() else { return }
        let outbox = try await PostgreSQLOutbox(address: database)
        let key = try SigningKey.ephemeral()
        let name = SharedToken.Key(teamID: key.teamID, keyID: key.keyID, fingerprint: try key.fingerprint)
        _ = try await outbox.fleet.share(SharedToken(text: [], issuedAt: issuedAt), of: name, inPlaceOf: nil)
        let lines = LogLines()
        let clock = TestClock()
        let source = SharedProviderTokenSource(
            key,
            sharing: ClockedFleet(outbox.fleet, clock),
            clock: clock.wall,
            log: lines.logger(.warning)
        )
        let token = try await source.token()
        #expect(token.issuedAt == Date(timeIntervalSince1970: Double(clock.wall.secondsSince1970())))
        #expect(try await outbox.fleet.sharedToken(of: name)?.text == token.text)
        let error = try #require(lines.objects.first?["error"]?.stringValue)
        #expect(error.contains("issued_at in martlet.provider_token must be") && error.contains("(found \(issuedAt))"))
        await outbox.close(isInOrder: true)
        _ = try await source.token()
        #expect(lines.objects.last?["msg"] == "provider token not shared")
    }

    @Test func `relays divide the connections to Apple that an app may have`() async throws {
        let faults = [SimulatedAPNs.Fault(.limitStreams(1)), SimulatedAPNs.Fault(.delay(.milliseconds(20)))]
        let place = try await place()
        let first = try await RelayBench(faults: faults, data: place) { $0.apps[0].connections = 2 }
        let second = try await first.another()
        for bench in [first, second] {
            try await eventually("each relay knows of both") {
                _ = await bench.ask("GET", "/v1/status")
                return await bench.parts.dispatcher.fleet.size >= 2
            }
        }
        await withDiscardingTaskGroup { group in
            for number in 0..<100 { group.addTask { _ = await [first, second][number % 2].push() } }
        }
        let arrived = await first.apple.pushes
        #expect(Set(arrived.map(\.id)).count == 100)
        #expect(Set(arrived.map(\.connection)).count <= 2)
        await stop([first, second])
    }

    @Test func `the status has all relays, and one can drain another`() async throws {
        let benches = try await fleet(2) { configuration in
            configuration.node = "first"
            configuration.callers[0].apps = ["orders", "rides"]
        }
        #expect(await benches[0].push(to: "5d3a6a1c", #","app":"orders""#).json["state"] == "delivered")
        var nodes: [JSONValue] = []
        try await eventually("the status has the outcomes of both relays") {
            nodes = await benches[1].ask("GET", "/v1/status").json["nodes"]?.elements ?? []
            return nodes.count >= 2 && nodes.allSatisfy { $0["outcomes"]?["delivered"]?.integerValue != nil }
        }
        #expect(nodes.map { $0["state"] } == ["leads", "ok"] && nodes[0]["name"] == "first", "\(nodes)")
        let number = nodes[0]["number"]?.integerValue ?? 0
        #expect(await benches[1].ask("POST", "/v1/nodes/\(number)/drain").status == 202)
        #expect(await benches[1].ask("POST", "/v1/nodes/\(number + 7)/drain").status == 404)
        await benches[0].relay.waitForShutdownRequest()
        await stop(benches)
    }

    @Test func `another running relay of the same name is reported once`() {
        func node(_ number: Int64, silence: Int64, name: String = "a", isOwn: Bool = false) -> OutboxNode {
            OutboxNode(
                number: number,
                name: name,
                version: "1",
                startedAt: 0,
                silence: silence,
                isToDrain: false,
                isOwn: isOwn,
                publishedData: "[]"
            )
        }
        var view = FleetView()
        let own = node(3, silence: 100, isOwn: true)
        view.update([node(1, silence: 3_000), node(2, silence: 3_000, name: "b"), own], at: 0)
        view.update([node(1, silence: 4_000), node(2, silence: 200, name: "b"), own], at: 1_000)
        #expect(view.takeDuplicates() == [], "a lease without renewals, and another name")
        #expect(view.duplicates.isEmpty)
        view.update([node(1, silence: 300), node(2, silence: 400, name: "b"), own], at: 2_000)
        #expect(view.takeDuplicates() == [1])
        view.update([node(1, silence: 100), own], at: 3_000)
        #expect(view.takeDuplicates() == [])
        #expect(view.duplicates == [FleetView.Duplicate(name: "a", numbers: [1, 3])])
        view.update([own], at: 4_000)
        #expect(view.duplicates.isEmpty)
    }

    @Test func `data that was not updated for ten seconds is outdated`() {
        var view = FleetView()
        #expect(view.outdatedSince(at: 50_000) == nil, "a relay with an outbox in a file")
        view.update([], at: 50_000)
        #expect(view.outdatedSince(at: 60_000) == nil && view.outdatedSince(at: 60_001) == 50_000)
        #expect(view.outdatedSince(at: 10) == nil, "a clock that was set back")
        view.update([], at: 60_001)
        #expect(view.outdatedSince(at: 60_002) == nil)
    }

    @Test func `the counts of other relays are added up and do not decrease`() {
        var view = FleetView()
        let lane = Lane(app: "orders", environment: .production)
        var facts = LaneCounts()
        facts.sent = 7
        facts.rate = 2.5
        facts.outcomes = [.delivered: 6, .refused: 1]
        func node(_ number: Int64, isOwn: Bool = false) -> OutboxNode {
            OutboxNode(
                number: number,
                name: "n",
                version: "1",
                startedAt: 0,
                silence: 0,
                isToDrain: false,
                isOwn: isOwn,
                publishedData: FleetView.text(of: [lane: facts])
            )
        }
        view.update([node(1, isOwn: true), node(2), node(3)], at: 0)
        #expect(view.others(in: lane).sent == 14 && view.others(in: lane).rate == 5)
        #expect(view.others(in: lane).outcomes[.delivered] == 12)
        view.update([node(1, isOwn: true), node(3)], at: 0)
        #expect(view.others(in: lane).sent == 14 && view.others(in: lane).rate == 2.5)
    }

    @Test func `a limit is divided among the relays`() {
        var membership = FleetMembership()
        #expect(membership.share(of: 100) == 100 && membership.isLeader)
        let isOther = membership.update(size: 3, isLeader: false)
        #expect(isOther && !membership.isLeader && membership.share(of: 100) == 33 && membership.share(of: 2) == 1)
        let isSame = !membership.update(size: 3, isLeader: false)
        #expect(isSame)
    }
}

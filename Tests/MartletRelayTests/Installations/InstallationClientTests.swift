// SPDX-License-Identifier: Apache-2.0

import Foundation
import LiveSurfaces
import MartletCore
import MartletOutbox
import Synchronization
import TestSupport
import Testing

@testable import MartletRelay

/// Tests of the phone's client with a relay over HTTP.
@Suite(.timeLimit(.minutes(10))) struct InstallationClientTests {
    /// The storage of a phone, which may fail.
    private final class MemoryStorage: InstallationStorage {
        private struct Locked: Error {}

        private let state = Mutex<[UInt8]?>(nil)
        private let isLocked = Mutex(false)

        func lock(_ isLocked: Bool) {
            self.isLocked.withLock { $0 = isLocked }
        }

        func load() throws -> [UInt8]? {
            guard !isLocked.withLock({ $0 }) else { throw Locked() }
            return state.withLock { $0 }
        }

        func save(_ state: [UInt8]) throws {
            self.state.withLock { $0 = state }
        }
    }

    /// The requests of a phone and the result of its network.
    private final class PhoneNetwork: Sendable {
        private struct Offline: Error {}

        private let port: UInt16
        private let sent = Mutex<[String]>([])
        private let lostAnswers = Mutex(0)

        init(port: UInt16) {
            self.port = port
        }

        /// Loses a number of answers.
        func loseAnswers(_ count: Int) {
            lostAnswers.withLock { $0 = count }
        }

        /// Returns the methods of the requests since the last call.
        func takeSent() -> [String] {
            sent.withLock { sent in
                defer { sent = [] }
                return sent
            }
        }

        func send(_ request: InstallationRequest) async throws -> InstallationAnswer {
            sent.withLock { $0.append(request.method) }
            let message = RawHTTP1.Request(
                request.method,
                request.path,
                ["authorization: \(request.authorization)"],
                body: String(decoding: request.body, as: UTF8.self)
            )
            guard let answer = await RawHTTP1.ask([message], at: port).first else { throw Offline() }
            let isLost = lostAnswers.withLock { count in
                defer { count = max(count - 1, 0) }
                return count > 0
            }
            guard !isLost else { throw Offline() }
            return InstallationAnswer(
                status: answer.status,
                retryAfter: answer.fields["retry-after"],
                body: Array(answer.body.utf8)
            )
        }
    }

    /// A phone with a relay.
    private struct World {
        let bench: EnrollmentBench
        let network: PhoneNetwork
        let storage = MemoryStorage()

        init() async throws {
            bench = try await EnrollmentBench()
            network = PhoneNetwork(port: try #require(await bench.relay.relay.httpPort))
        }

        /// Launches the app.
        func launch() -> InstallationClient {
            let (bench, network) = (bench, network)
            return InstallationClient(
                environment: .production,
                storage: storage,
                gathering: .zero,
                ticket: { user in try await bench.ticket(for: user) },
                send: { request in try await network.send(request) }
            )
        }

        /// Stores a surface for a user, and waits until it has reached the phones; returns its snapshot.
        func putSurface() async throws -> SurfaceSnapshot {
            let snapshot = SurfaceBench.snapshot(of: .widget, "Packed")
            let body: JSONValue = ["to": ["user": "anna"], "snapshots": [snapshot.json]]
            let text = String(decoding: body.encoded(), as: UTF8.self)
            #expect(await bench.relay.ask("PUT", "/v1/apps/orders/surfaces/order-7", text).status == 201)
            try await eventually("the surface has reached the phone") {
                try await bench.relay.parts.outbox.surfaces.unfinishedSurfaces(limit: 1).isEmpty
            }
            return snapshot
        }

        /// Waits until the relay has confirmed everything; returns the methods of the requests.
        func settle(_ client: InstallationClient) async throws -> [String] {
            try await eventually("the relay confirms everything") {
                await client.retryNow()
                return await client.isSettled
            }
            return network.takeSent()
        }

        /// The tokens of the installations of a user.
        func tokens(of user: String) async -> [JSONValue?] {
            await bench.installations("?user=\(user)").map { $0["tokens"] }
        }
    }

    @Test func `a phone enrolls, reports what changes, and signs out`() async throws {
        let world = try await World()
        let client = world.launch()
        await client.report([0xAB, 0x12], for: .device)
        await client.report([0xCD, 0x34], for: .start(attributesType: "OrderAttributes"))
        await client.report([.locale: "de-CH", .timeZone: "Europe/Zurich"])
        await client.report([.alerts: true, .liveActivities: false])
        await client.signIn("anna")
        #expect(try await world.settle(client) == ["POST", "PATCH"])
        let own = try #require(await world.bench.installations("?user=anna").first)
        #expect(own["tokens"] == ["device": "ab12", "start": ["OrderAttributes": "cd34"]])
        #expect(own["locale"] == "de-CH" && own["time-zone"] == "Europe/Zurich")
        #expect(own["permissions"] == ["alerts": true, "live-activities": false])
        await client.report([0xAB, 0x12], for: .device)
        await client.report([.locale: "de-CH"])
        #expect(try await world.settle(client) == [])
        await client.signOut()
        #expect(try await world.settle(client) == ["DELETE"])
        #expect(await world.bench.installations().isEmpty)
        await world.bench.stop()
    }

    @Test func `a phone reports a Live Activity, its token and its end`() async throws {
        let world = try await World()
        let client = world.launch()
        await client.signIn("anna")
        _ = try await world.settle(client)
        let start = Date(timeIntervalSince1970: 1_790_000_000)
        await client.reportActivity("A", of: "order-1", startedAt: start, by: .push)
        #expect(try await world.settle(client) == ["PATCH"])
        await client.report([0xEF, 0x56], forActivity: "A")
        #expect(try await world.settle(client) == ["PATCH"])
        let running: JSONValue = [
            "surface": "order-1", "token": "ef56", "started-at": 1_790_000_000_000, "started-by": "push",
        ]
        #expect(await world.bench.installations().map { $0["activities"] } == [["A": running]])
        await client.endActivities(except: [], at: start + 60)
        #expect(try await world.settle(client) == ["PATCH"])
        let ended = await world.bench.installations().first?["activities"]?["A"]
        #expect(ended?["ended"] == ["cause": "user", "at": 1_790_000_060_000] && ended?["token"] == nil)
        await client.reportEnd(ofActivity: "A", by: .app, at: start + 90)
        #expect(try await world.settle(client) == [])
        await world.bench.stop()
    }

    @Test func `the next user of a phone gets its tokens`() async throws {
        let world = try await World()
        let client = world.launch()
        await client.report([0xAB, 0x12], for: .device)
        await client.signIn("anna")
        _ = try await world.settle(client)
        await client.signIn("bert")
        #expect(try await world.settle(client) == ["DELETE", "POST", "PATCH"])
        #expect(await world.tokens(of: "anna") == [])
        #expect(await world.tokens(of: "bert") == [["device": "ab12"]])
        await world.bench.stop()
    }

    @Test func `a phone continues with its installation after a launch`() async throws {
        let world = try await World()
        let first = world.launch()
        await first.report([0xAB, 0x12], for: .device)
        await first.report([.locale: "de"])
        await first.signIn("anna")
        _ = try await world.settle(first)
        // Before the first unlock the state cannot be read, which is no reason to enroll again.
        world.storage.lock(true)
        let second = world.launch()
        await second.signIn("anna")
        await second.report([0xAB, 0x12], for: .device)
        await second.report([.locale: "de"])
        try await eventually("the storage fails") { await second.problem != nil }
        #expect(world.network.takeSent() == [])
        world.storage.lock(false)
        // The token is reported once in each run of the app.
        #expect(try await world.settle(second) == ["PATCH"])
        #expect(await world.tokens(of: "anna") == [["device": "ab12"]])
        await world.bench.stop()
    }

    @Test func `lost answers leave no token in another installation`() async throws {
        let world = try await World()
        let client = world.launch()
        world.network.loseAnswers(2)
        await client.report([0xAB, 0x12], for: .device)
        await client.signIn("anna")
        let sent = try await world.settle(client)
        #expect(sent == ["POST", "POST", "POST", "PATCH"])
        #expect(await world.tokens(of: "anna") == [[:], [:], ["device": "ab12"]])
        await client.signOut()
        _ = try await world.settle(client)
        #expect(await world.tokens(of: "anna") == [[:], [:]])
        await world.bench.stop()
    }

    @Test func `a phone enrolls again when the relay has removed it`() async throws {
        let world = try await World()
        let client = world.launch()
        await client.report([0xAB, 0x12], for: .device)
        await client.signIn("anna")
        _ = try await world.settle(client)
        #expect(await world.bench.ask("DELETE", "/users/anna").json["installations"] == 1)
        await client.report([.locale: "de"])
        #expect(try await world.settle(client) == ["PATCH", "POST", "PATCH"])
        #expect(await world.tokens(of: "anna") == [["device": "ab12"]])
        await world.bench.stop()
    }

    @Test func `a value that the relay refuses does not delay the others`() async throws {
        let world = try await World()
        let client = world.launch()
        await client.report([0xAB, 0x12], for: .device)
        await client.report([0xCD, 0x34], for: .start(attributesType: "ä"))
        await client.report([.locale: "de CH", .model: "iPhone17,1"])
        await client.signIn("anna")
        _ = try await world.settle(client)
        let own = try #require(await world.bench.installations("?user=anna").first)
        #expect(own["tokens"] == ["device": "ab12"] && own["model"] == "iPhone17,1" && own["locale"] == nil)
        await world.bench.stop()
    }

    @Test func `a phone and its extension read the snapshots to show`() async throws {
        let world = try await World()
        let (network, client) = (world.network, world.launch())
        #expect(try await client.snapshots() == [])
        await client.signIn("anna")
        _ = try await world.settle(client)
        let snapshot = try await world.putSurface()
        #expect(try await client.snapshots() == [snapshot])
        let ofExtension = try await InstallationClient.snapshotsForExtension(storage: world.storage) { request in
            try await network.send(request)
        }
        #expect(ofExtension == [snapshot] && network.takeSent() == ["GET", "GET"])
        #expect(await world.bench.ask("DELETE", "/users/anna").json["installations"] == 1)
        let error = await #expect(throws: RefusedInstallationRequest.self) { try await client.snapshots() }
        #expect(error?.answer.status == 401 && error?.description.hasPrefix("the relay answered 401") == true)
        await client.signOut()
        #expect(try await client.snapshots() == [])
        await world.bench.stop()
    }

    @Test func `a user who signs out during a read gets no snapshots`() async throws {
        let world = try await World()
        let (network, client) = (world.network, world.launch())
        await client.signIn("anna")
        _ = try await world.settle(client)
        _ = try await world.putSurface()
        let snapshots = try await InstallationClient.snapshotsForExtension(storage: world.storage) { request in
            let answer = try await network.send(request)
            #expect(answer.status == 200)
            await client.signOut()
            _ = try await world.settle(client)
            return answer
        }
        #expect(snapshots == [])
        await world.bench.stop()
    }

    @Test func `an extension reports tokens with the app's installation`() async throws {
        let world = try await World()
        let network = world.network
        let client = world.launch()
        let tokens: [PushTokenSlot: [UInt8]] = [.control(kind: "bell"): [0xEF, 0x56]]
        let report = { (storage: MemoryStorage) in
            try await InstallationClient.reportFromExtension(tokens, storage: storage) { request in
                try await network.send(request)
            }
        }
        try await report(world.storage)
        #expect(network.takeSent() == [])
        await client.signIn("anna")
        _ = try await world.settle(client)
        try await report(world.storage)
        #expect(await world.tokens(of: "anna") == [["controls": ["bell": "ef56"]]])
        await world.bench.stop()
    }
}

// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletSQLite
import TestSupport
import Testing

@testable import MartletSimulator

/// Pushes and channels in the data file of a simulator.
@Suite(.timeLimit(.minutes(10))) struct PushArchiveTests {
    private static let token = "5d3a6a1c"

    private func start(_ file: String, storedPushes: Int = 5) async throws -> (SimulatedAPNs, PushClient) {
        let apns = try await SimulatedAPNs.start(
            SimulatedAPNs.Configuration(isEncrypted: false, storedPushes: storedPushes, dataFile: file)
        )
        let endpoint = await apns.endpoint
        return (apns, try PushClient(endpoint, authentication: .token(.ephemeral())))
    }

    private func send(_ count: Int, with client: PushClient) async throws {
        for number in 0..<count {
            try await client.send(.alert("push \(number)"), to: DeviceToken(hex: Self.token), topic: "com.example.app")
        }
    }

    @Test func `pushes, deliveries, numbers and channels are restored`() async throws {
        let scratch = try ScratchDirectory()
        let file = scratch.path + "/pushes.sqlite"
        let (first, client) = try await start(file)
        await first.setOnline(false, try DeviceToken(hex: Self.token))
        try await send(7, with: client)
        await first.forgetPushes(matching: try PushQuery("number:5"))
        let app = client.channels(of: "com.example.app")
        let channel = try await app.create(storing: .mostRecent)
        let other = try await app.create(storing: .nothing)
        try await app.delete(other)
        let kept = await first.pushes
        #expect(kept.map(\.number) == [3, 4, 6, 7])
        await client.close()
        await first.stop()

        let (second, again) = try await start(file)
        #expect(await second.pushes == kept)
        #expect(try await again.channels(of: "com.example.app").list() == [channel])
        try await send(1, with: again)
        #expect(await second.pushes.map(\.number) == [3, 4, 6, 7, 8])
        await again.close()
        await second.stop()

        let (third, last) = try await start(file, storedPushes: 2)
        #expect(await third.pushes.map(\.number) == [7, 8])
        await third.forgetPushes()
        await last.close()
        await third.stop()
        let (fourth, _) = try await start(file)
        #expect(await fourth.pushes.isEmpty)
        #expect(await fourth.pushCount == 8)
        await fourth.stop()
    }

    @Test func `the last pushes are written when the simulator stops`() async throws {
        let scratch = try ScratchDirectory()
        let file = scratch.path + "/pushes.sqlite"
        let (apns, client) = try await start(file, storedPushes: 10_000)
        await client.close()
        let record = ReceivedPush.sample(1, #"{"aps":{"alert":"Hi"}}"#).record
        #expect(await apns.inbox.add(Array(repeating: record, count: 5_000)) == 5_000)
        await apns.stop()
        let (again, _) = try await start(file, storedPushes: 10_000)
        #expect(await again.pushes.count == 5_000)
        await again.stop()
    }

    @Test func `invalid pushes are stored and restored`() async throws {
        let scratch = try ScratchDirectory()
        let file = scratch.path + "/pushes.sqlite"
        let (apns, client) = try await start(file)
        let deep = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        let payloads: [[UInt8]] = [Array(deep.utf8), [0xFF, 0x00], Array("{\"a\":1,\"a\":2}".utf8), []]
        for payload in payloads {
            let raw = PushNotification.opaque(payload, pushType: .alert)
            _ = try? await client.send(raw, to: DeviceToken(hex: Self.token), topic: "com.example.app")
        }
        await client.close()
        await apns.stop()
        let (again, _) = try await start(file)
        #expect(await again.archiveProblem == nil)
        #expect(await again.pushes == apns.pushes)
        await again.stop()
    }

    @Test func `a fault changes an answer, not the stored channels`() async throws {
        let scratch = try ScratchDirectory()
        let file = scratch.path + "/pushes.sqlite"
        let (apns, client) = try await start(file)
        await apns.setFaults([SimulatedAPNs.Fault(.respond(.badRequestParams), count: 1)])
        _ = try? await client.channels(of: "com.example.app").create(storing: .nothing)
        #expect(try await client.channels(of: "com.example.app").list().count == 1)
        await client.close()
        await apns.stop()
        let (again, other) = try await start(file)
        #expect(try await other.channels(of: "com.example.app").list().count == 1)
        await other.close()
        await again.stop()
    }

    @Test func `a data file can be used by one simulator only`() async throws {
        let scratch = try ScratchDirectory()
        let file = scratch.path + "/pushes.sqlite"
        let (apns, client) = try await start(file)
        let error = await #expect(throws: SimulatorError.self) {
            try await SimulatedAPNs.start(SimulatedAPNs.Configuration(dataFile: file))
        }
        #expect(error?.description.contains("is in use by another simulator") == true, "\(error as Any)")
        await client.close()
        await apns.stop()
    }

    @Test func `a file that is not a data file is refused`() async throws {
        let scratch = try ScratchDirectory()
        let text = try scratch.write(Array("martlets have no feet, and never land".utf8), to: "text")
        for file in [text, scratch.path + "/nowhere/pushes.sqlite"] {
            let error = await #expect(throws: SimulatorError.self) {
                try await SimulatedAPNs.start(SimulatedAPNs.Configuration(dataFile: file))
            }
            #expect(error?.description.contains("cannot be used as data file") == true, "\(error as Any)")
        }
        let newer = scratch.path + "/newer.sqlite"
        try Connection(path: newer).setUserVersion(99)
        let error = await #expect(throws: SimulatorError.self) {
            try await SimulatedAPNs.start(SimulatedAPNs.Configuration(dataFile: newer))
        }
        #expect(error?.description.contains("version 99, and this program uses version 1: use a new file") == true)
    }

    @Test func `the data file stays consistent when the simulator is killed`() async throws {
        let scratch = try ScratchDirectory()
        let file = scratch.path + "/pushes.sqlite"
        var seen = 0
        for round in 0..<5 {
            let simulator = try await SimulatorProcess(isEncrypted: false, "--data", file, "--keep", "100000")
            let client = try PushClient(
                APNsEndpoint(host: "localhost", port: simulator.port, isEncrypted: false),
                authentication: .token(.ephemeral())
            )
            try await send(20 + round, with: client)
            simulator.kill()
            await client.close()

            let connection = try Connection(path: file)
            try connection.checkIntegrity()
            let rows = try connection.prepare("SELECT count(*), max(number) FROM pushes")
            #expect(try rows.step())
            let count = Int(rows.integer(at: 0))
            #expect(count >= seen && Int(rows.integer(at: 1)) == count, "none is missing among those that are there")
            seen = count
        }
        #expect(seen > 0)
    }

    @Test func `changes that cannot be written are merged with later ones`() {
        var changes = ArchiveChanges(lastNumber: 3)
        #expect(changes.isEmpty)
        func push(_ number: Int) -> SimulatorEvent { .received(.sample(number)) }
        for number in 4...6 { changes.record(push(number)) }
        changes.record(.forgotten(1...3))
        changes.record(.forgotten(4...4))
        #expect(changes.pushes.keys.sorted() == [5, 6] && changes.forgotten == [1...4])
        var later = ArchiveChanges(lastNumber: 6)
        later.record(push(7))
        later.record(.forgotten(5...5))
        later.putBack(changes)
        #expect(later.pushes.keys.sorted() == [6, 7] && later.forgotten == [1...5] && later.lastNumber == 7)
    }
}

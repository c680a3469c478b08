// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCore
import MartletOutbox
import MartletSimulator
import MartletTransport
import TestSupport
import Testing

@testable import MartletRelay

/// Another configuration while the relay runs.
@Suite(.timeLimit(.minutes(10))) struct ReloadTests {
    @Test func `a reload replaces the callers`() async throws {
        let bench = try await RelayBench()
        #expect(await bench.push().json["state"] == "delivered")
        var new = await bench.relay.context.configuration
        new.callers = [try RelayConfiguration.Caller(key: "other", apps: ["orders", "rides"], scopes: [.read])]
        try await bench.relay.reload(new)
        #expect(await bench.ask("GET", "/v1/status").status == 401)
        #expect(await bench.ask("GET", "/v1/apps", key: "other").json["apps"]?.elements?.count == 2)
        await bench.stop()
    }

    @Test func `a reload replaces the keys of the outbox`() async throws {
        let lines = ["A", "B", "C"].enumerated().map { "\($0 + 1) \($1)\(String(repeating: "A", count: 42))=" }
        let first = try SealingKeys(lines[0])
        let bench = try await RelayBench { $0.sealingKeys = first }
        #expect(await bench.push().json["state"] == "delivered")
        var new = await bench.relay.context.configuration
        new.sealingKeys = try SealingKeys(lines[1] + "\n" + lines[0])
        try await bench.relay.reload(new)
        let records = await bench.relay.context.outbox.records
        #expect(try await records.sealedKey()?.number == 2)
        #expect(await bench.push().json["state"] == "delivered")
        var unknown = new
        unknown.sealingKeys = try SealingKeys(lines[2])
        let rejected = unknown
        await #expect(throws: RelayError.self) { try await bench.relay.reload(rejected) }
        #expect(await bench.relay.context.configuration.sealingKeys == new.sealingKeys)
        await bench.stop()
    }

    @Test func `a reload replaces an app's key for Apple and for callers`() async throws {
        let bench = try await RelayBench()
        let client = try await bench.client()
        try await client.send(.alert("one"), to: RelayBench.token, topic: "com.example.orders")
        let key = try SigningKey.ephemeral(keyID: "OTHERKEY00", teamID: bench.key.teamID)
        var new = await bench.relay.context.configuration
        new.apps[0].key = key
        try await bench.relay.reload(new)
        // The caller's connection is the one from before.
        await #expect(throws: APNsError.self) {
            try await client.send(.alert("two"), to: RelayBench.token, topic: "com.example.orders")
        }
        try await bench.client(key).send(.alert("three"), to: RelayBench.token, topic: "com.example.orders")
        #expect(await bench.apple.pushCount == 2)
        await bench.stop()
    }

    @Test func `a reload can replace a key by one of another team`() async throws {
        let bench = try await RelayBench()
        #expect(await bench.push().json["state"] == "delivered")
        var new = await bench.relay.context.configuration
        new.apps[0].key = try .ephemeral(keyID: "OTHERKEY00", teamID: "OTHERTEAM0")
        try await bench.relay.reload(new)
        #expect(await bench.push().json["state"] == "delivered")
        await bench.stop()
    }

    @Test func `a reload adds, removes and changes apps`() async throws {
        let bench = try await RelayBench()
        var new = await bench.relay.context.configuration
        new.apps[0].rate = 7
        new.apps[1] = RelayConfiguration.App(name: "meals", bundleIDs: ["com.example.meals"], key: try .ephemeral())
        new.callers[0].apps = ["orders", "meals"]
        try await bench.relay.reload(new)
        #expect(await bench.push(to: "5d3a6a1c", #","app":"meals""#).json["state"] == "delivered")
        let lanes = await bench.parts.dispatcher.machine.lanes
        #expect(lanes[Lane(app: "orders", environment: .production)]?.rate?.rate == 7)
        #expect(await bench.parts.server.openLanes.map(\.app).sorted() == ["meals", "orders"])
        #expect(lanes.count == 3, "what waits for the app that is gone is still sent")
        await bench.stop()
    }

    @Test func `an invalid configuration changes nothing`() async throws {
        let bench = try await RelayBench()
        var new = await bench.relay.context.configuration
        new.callers = []
        new.apps[1].bundleIDs = new.apps[0].bundleIDs
        await #expect(throws: RelayError.self) { try await bench.relay.reload(new) }
        #expect(await bench.push().json["state"] == "delivered")
        await bench.stop()
    }

    @Test func `settings that need a restart are logged and not changed`() async throws {
        let lines = LogLines()
        let bench = try await RelayBench(log: lines.logger())
        var new = await bench.relay.context.configuration
        new.data = .file("/elsewhere")
        new.http = RelayConfiguration.Address(port: 0)
        new.logFormat = .plain
        new.endpoints = [:]
        new.logLevel = .error
        try await bench.relay.reload(new)
        let named = lines.objects.compactMap { $0["setting"]?.stringValue }
        #expect(named == ["data", "http", "log-format", "apple"])
        #expect(await bench.relay.context.configuration.data != .file("/elsewhere"))
        #expect(await bench.push().json["state"] == "delivered")
        #expect(!lines.objects.contains { $0["msg"] == "push" }, "the level is another one")
        await bench.stop()
    }

    @Test func `new connections get the new certificate`() async throws {
        let (first, second) = (try CertificateAuthority(), try CertificateAuthority())
        let lines = LogLines()
        let bench = try await RelayBench(log: lines.logger(.info)) { $0.identity = try? first.identity() }
        var new = await bench.relay.context.configuration
        let port = await bench.relay.ports[.production] ?? 0
        func trusts(_ authority: CertificateAuthority) async throws -> Bool {
            var configuration = PushClient.Configuration()
            configuration.additionalAuthorities = try authority.certificatePEM()
            configuration.retry = .none
            let client = try PushClient(
                APNsEndpoint(host: "localhost", port: port),
                authentication: .token(bench.key),
                configuration: configuration
            )
            defer { Task { await client.close() } }
            do throws(APNsError) {
                try await client.send(.alert("Hi"), to: RelayBench.token, topic: "com.example.orders")
                return true
            } catch {
                #expect(error.code == .certificateRejected)
                return false
            }
        }
        #expect(try await trusts(first))
        new.identity = try second.identity()
        try await bench.relay.reload(new)
        #expect(try await !trusts(first))
        #expect(try await trusts(second))
        try await eventually("the failed handshake is counted", in: bench.parts.server) {
            $0.counts.failedHandshakes == 1
        }
        #expect(lines.objects.contains { $0["msg"] == "handshake failed" }, "\(lines.all)")
        await bench.stop()
    }
}

extension CertificateAuthority {
    /// A certificate for this machine.
    fileprivate func identity() throws -> TLSContext.Identity {
        let issued = try issueServerCertificate(dnsNames: ["localhost"], ipAddresses: [])
        return TLSContext.Identity(certificateChainPEM: issued.certificatePEM, privateKeyPEM: issued.keyPEM)
    }
}

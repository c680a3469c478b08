// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletTransport
import TestSupport
import Testing

/// The memory of ten thousand idle clients.
@Suite(.serialized, .timeLimit(.minutes(10))) struct IdleCrowdTests {
    /// As many as a listener has places for, with the witness.
    private static let places = 10_000
    /// The maximum memory of a client: 16 kB were measured, and 48 to 75 kB with TLS.
    private static let bytes = (clear: 32 << 10, encrypted: 128 << 10)

    #if canImport(Glibc)
        private static let descriptors = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let descriptors = RLIMIT_NOFILE
    #endif

    /// Raises this process's bound on descriptors as far as the system allows; processes it starts inherit it.
    private static func raiseDescriptorLimit() -> Int {
        var limit = rlimit()
        getrlimit(Self.descriptors, &limit)
        #if canImport(Darwin)
            // macOS rejects a higher limit, although it reports none.
            limit.rlim_cur = min(limit.rlim_max, rlim_t(OPEN_MAX))
        #else
            limit.rlim_cur = min(limit.rlim_max, 1 << 20)
        #endif
        setrlimit(Self.descriptors, &limit)
        getrlimit(Self.descriptors, &limit)
        return Int(clamping: limit.rlim_cur)
    }

    @Test func `ten thousand idle clients use little memory, and one makes room`() async throws {
        let count = min(Self.places, Self.raiseDescriptorLimit() - 1_000) - 1
        let witness = try await Witness()
        var crowd: [RawClient] = []
        for _ in 0..<count {
            let raw = try RawClient(port: witness.simulator.port)
            raw.resetOnClose()
            raw.send(RawHTTP2.greeting)
            crowd.append(raw)
        }
        // Its SETTINGS, and that it has seen theirs.
        let greeted = crowd
        let isServed = await onOwnThread {
            greeted.allSatisfy { !$0.bytesBlocking { RawHTTP2.isGreeting($0) }.isEmpty }
        }
        #expect(isServed)
        try await witness.isServed()
        if let growth = witness.growth {
            #expect(growth / count < Self.bytes.clear, "\(growth / count) bytes for each of \(count)")
        }
        let late = try RawClient(port: witness.simulator.port)
        late.send(RawHTTP2.greeting)
        #expect(await !late.bytes { !$0.isEmpty }.isEmpty)
        #expect(crowd.count { $0.hasNews } == (count == Self.places - 1 ? 1 : 0))
        crowd = []
        try await witness.finish(within: count * Self.bytes.clear)
    }

    @Test func `a thousand idle clients with TLS use little memory`() async throws {
        let count = 1_000
        let witness = try await Witness(isEncrypted: true)
        let crowd = try EncryptedCrowd()
        try await crowd.connect(count, to: witness.simulator)
        try await witness.isServed()
        if let growth = witness.growth {
            #expect(growth / count < Self.bytes.encrypted, "\(growth / count) bytes for each of \(count)")
        }
        await crowd.leave()
        try await witness.finish(within: count * Self.bytes.encrypted)
    }
}

/// Clients that shake hands and say no more.
private actor EncryptedCrowd {
    private nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private var connections: [HTTP2Connection] = []
    private var missing = 0
    private var failure: TransportError?
    private var whenComplete: CheckedContinuation<Void, Never>?

    init() throws {
        loop = try EventLoop()
    }

    deinit {
        loop.shutdown()
    }

    func connect(_ count: Int, to simulator: SimulatorProcess) async throws {
        let tls = try TLSContext.client(authorities: simulator.authorityPEM)
        let endpoint = HTTP2Connection.Endpoint(host: "localhost", port: simulator.port, tls: tls)
        let limits = HTTP2Limits(concurrentStreams: 0, bodyBytes: 0, fieldBytes: 8_000)
        missing = count
        for _ in 0..<count {
            let connection = try HTTP2Connection(to: endpoint, limits: limits, timeout: .seconds(300), on: loop)
            connections.append(connection)
            connection.start { event in self.handle(event) }
        }
        await withCheckedContinuation { whenComplete = $0 }
        if let failure { throw failure }
    }

    private func handle(_ event: HTTP2Connection.Event) {
        switch event {
        case .settings: missing -= 1
        case .closed(let error):
            failure = error
            missing = 0
        default: return
        }
        if missing == 0 { whenComplete.take()?.resume() }
    }

    func leave() {
        for connection in connections { connection.close(TransportError(.closedLocally, "done")) }
        connections = []
    }
}

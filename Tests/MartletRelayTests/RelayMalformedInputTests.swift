// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCore
import MartletOutbox
import MartletSimulator
import TestSupport
import Testing

@testable import MartletRelay

/// Clients that break HTTP, at every listener of a relay: it ends their connection or stream, and serves the others.
@Suite(.timeLimit(.minutes(10))) struct RelayMalformedInputTests {
    /// The interface that receives the malformed input.
    enum Interface: CaseIterable {
        case apns
        case jsonOverHTTP2
        case jsonOverHTTP1

        /// The fields of a good request.
        var request: [UInt8] {
            let key = RawHTTP2.literal("authorization", "Bearer " + RelayBench.callerKey)
            return switch self {
            case .apns: RawHTTP2.request + key
            case .jsonOverHTTP2, .jsonOverHTTP1: RawHTTP2.post("/v1/pushes") + key
            }
        }
    }

    @Test(arguments: Interface.allCases) func `malformed input does not affect other connections`(interface: Interface)
        async throws
    {
        let bench = try await RelayBench { $0.http = RelayConfiguration.Address(port: 0) }
        let client = try await bench.client()
        try await client.send(.alert("before"), to: RelayBench.token, topic: "com.example.orders")
        let port = try #require(
            interface == .jsonOverHTTP1 ? await bench.relay.httpPort : await bench.relay.ports[.production]
        )
        var random = SplitMix64(state: 11)
        let changed = (0..<200).map { _ in MalformedInput.changed(interface.request, using: &random) }
        let cut = (0..<100).map { _ in
            let body = Array(#"{"to":"5d3a6a1c","payload":{"aps":{"alert":"Hi"}}}"#.utf8)
            return Array(body.prefix(Int.random(in: 0..<body.count, using: &random)))
        }
        let head =
            "POST /v1/pushes HTTP/1.1\r\nhost: a\r\nauthorization: Bearer \(RelayBench.callerKey)\r\ncontent-length: "
        let requests = cut.map { body in
            interface == .jsonOverHTTP1
                ? Array("\(head)\(body.count)\r\n\r\n".utf8) + body
                : RawHTTP2.greeting + RawHTTP2.headers(interface.request, isLast: false)
                    + RawHTTP2.frame(.data, flags: RawHTTP2.endsStream, stream: 1, body)
        }
        for bytes in MalformedInput.all(interface.request).map(\.bytes) + changed + requests {
            let raw = try RawClient(port: port)
            raw.send(bytes)
            raw.finish()
            _ = await raw.bytes()
        }
        try await client.send(.alert("after"), to: RelayBench.token, topic: "com.example.orders")
        #expect(await client.counters.connectionsOpened == 1, "over the connection it had")
        #expect(await bench.push().json["state"] == "delivered")
        let alive = try await ProgramRun.curl(["http://127.0.0.1:\(try #require(await bench.relay.httpPort))/livez"])
        #expect(alive.text == "ok\n")
        #expect(await bench.apple.pushes.allSatisfy { $0.status == 200 }, "what is broken is not passed on")
        await client.close()
        await bench.stop()
    }
}

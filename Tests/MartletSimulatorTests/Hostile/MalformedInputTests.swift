// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCore
import MartletSimulator
import TestSupport
import Testing

/// Clients that break HTTP/2: the simulator ends their connection or stream, and serves the others.
@Suite(.serialized, .timeLimit(.minutes(10))) struct MalformedInputTests {
    @Test(arguments: MalformedInput.all()) func `malformed input does not affect other connections`(
        input: MalformedInput
    )
        async throws
    {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
        let client = try PushClient(await apns.endpoint, authentication: .token(.ephemeral()))
        let token = try DeviceToken(hex: "5d3a6a1c")
        try await client.send(.alert("before"), to: token, topic: "com.example.app")
        let raw = try RawClient(port: await apns.port)
        raw.send(input.bytes)
        raw.finish()
        _ = await raw.read()
        try await client.send(.alert("after"), to: token, topic: "com.example.app")
        #expect(Set(await apns.pushes.filter { $0.status == 200 }.map(\.connection)).count == 1)
        await client.close()
        await apns.stop()
    }

    /// The same bytes at the port of the HTTP interface, and requests whose bodies are cut short.
    @Test func `malformed input to the HTTP interface is refused`() async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(inboxPort: 0, isEncrypted: false))
        let port = try #require(await apns.inboxPort)
        var random = SplitMix64(state: 11)
        let changed = (0..<200).map { _ in MalformedInput.changed(using: &random) }
        let body = Array(#"{"headers":{"apns-topic":"com.example.app"},"payload":{"aps":{"alert":"Hi"}}}"#.utf8)
        let cut = body.indices.map { count in
            let head = "POST /api/v1/lint HTTP/1.1\r\nhost: localhost\r\ncontent-length: \(count)\r\n\r\n"
            return Array(head.utf8) + body[..<count]
        }
        // The first of them is good HTTP/1.1.
        for bytes in MalformedInput.all().dropFirst().map(\.bytes) + changed {
            let raw = try RawClient(port: port)
            raw.send(bytes)
            raw.finish()
            #expect(!(await raw.read()).hasPrefix("HTTP/1.1 2"))
        }
        for bytes in cut {
            let raw = try RawClient(port: port)
            raw.send(bytes)
            raw.finish()
            let answer = await raw.read()
            #expect(answer.hasPrefix("HTTP/1.1 400"), "\(String(decoding: bytes, as: UTF8.self)): \(answer)")
        }
        let alive = try await ProgramRun.curl(["http://127.0.0.1:\(port)/livez"])
        #expect(alive.text == "ok\n")
        #expect(await apns.pushCount == 0)
        await apns.stop()
    }

    /// Random bytes after a good beginning, and good requests with bytes changed: the same ones in each run.
    @Test(arguments: 0..<40) func `a push is accepted after random bytes`(seed: UInt64) async throws {
        var random = SplitMix64(state: seed)
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
        for _ in 0..<10 {
            let raw = try RawClient(port: await apns.port)
            raw.send(MalformedInput.changed(using: &random))
            raw.finish()
            _ = await raw.read()
        }
        let client = try PushClient(await apns.endpoint, authentication: .token(.ephemeral()))
        try await client.send(.alert("after"), to: DeviceToken(hex: "5d3a"), topic: "com.example.app")
        await client.close()
        await apns.stop()
    }
}

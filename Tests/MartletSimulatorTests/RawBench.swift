// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import TestSupport
import Testing

@testable import MartletSimulator

/// A simulator without TLS, and one client that writes its frames itself.
struct RawBench {
    let apns: SimulatedAPNs
    let raw: RawClient
    /// The first frames of the server.
    let greeting: [RawHTTP2.Frame]
    private let authorization: String

    init(_ faults: [SimulatedAPNs.Fault] = [], streams: UInt32 = 100) async throws {
        apns = try await SimulatedAPNs.start(
            SimulatedAPNs.Configuration(
                inboxPort: 0,
                isEncrypted: false,
                streamsBeforeToken: streams,
                faults: faults,
                seed: 1
            )
        )
        raw = try RawClient(port: await apns.port)
        let token = try SigningKey.ephemeral().token(issuedAt: Date())
        authorization = "bearer " + String(decoding: token, as: UTF8.self)
        raw.send(RawHTTP2.greeting + RawHTTP2.frame(.settings, flags: RawHTTP2.isAcknowledgement))
        greeting = RawHTTP2.frames(in: await raw.bytes(until: RawHTTP2.isGreeting))
    }

    /// The HEADERS of a push.
    func headers(_ stream: UInt32, isLast: Bool = false, device: String = "5d3a6a1c", _ more: [UInt8] = []) -> [UInt8] {
        let block =
            RawHTTP2.post("/3/device/\(device)") + RawHTTP2.literal("authorization", authorization)
            + RawHTTP2.literal("apns-topic", "com.example.app") + RawHTTP2.literal("apns-push-type", "alert") + more
        return RawHTTP2.headers(block, stream: stream, isLast: isLast)
    }

    /// The DATA of a push.
    func body(_ stream: UInt32, isLast: Bool = true) -> [UInt8] {
        let payload = Array(#"{"aps":{"alert":"Hi"}}"#.utf8)
        return RawHTTP2.frame(.data, flags: isLast ? RawHTTP2.endsStream : 0, stream: stream, payload)
    }

    func push(_ stream: UInt32) -> [UInt8] { headers(stream) + body(stream) }

    /// The frames that arrive until one is of this kind, or until the connection ends.
    func frames(until kind: RawHTTP2.Kind) async -> [RawHTTP2.Frame] {
        RawHTTP2.frames(in: await raw.bytes { RawHTTP2.frames(in: $0).contains { $0.kind == kind } })
    }

    /// Waits until a condition on the simulator is true, which is described in words for the error.
    func wait(until expected: String, _ isTrue: @Sendable (isolated PushService) -> Bool) async throws {
        try await eventually(expected) { await apns.service.satisfies(isTrue) }
    }

    /// Waits until this number of pushes has come in.
    func wait(forPushes count: Int) async throws {
        try await eventually("\(count) pushes are recorded") { await apns.pushCount == count }
    }

    /// Returns the only connection as the HTTP interface reports it.
    func connection() async throws -> JSONValue {
        let list = try JSONReader.read(Array(try await get("/api/v1/connections").utf8))
        let all = (list["open"]?.elements ?? []) + (list["closed"]?.elements ?? [])
        #expect(all.count == 1)
        return try #require(all.first)
    }

    func get(_ path: String) async throws -> String {
        let port = try #require(await apns.inboxPort)
        return try await ProgramRun.curl(["http://127.0.0.1:\(port)\(path)"]).text
    }
}

extension PushService {
    fileprivate func satisfies(_ isTrue: (isolated PushService) -> Bool) -> Bool { isTrue(self) }
}

extension RawHTTP2.Frame {
    /// The last stream of a GOAWAY.
    var lastStream: UInt32 { payload.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } }
    /// The error code of a GOAWAY or RST_STREAM.
    var errorCode: UInt32 {
        payload.dropFirst(kind == .goAway ? 4 : 0).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }
}

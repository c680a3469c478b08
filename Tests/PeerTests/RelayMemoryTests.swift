// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Tests of the relay's memory while it cannot connect to Apple.
@Suite(.timeLimit(.minutes(10))) struct RelayMemoryTests {
    private static let lines = 1_000
    private static let few = 10_000
    private static let many = 50_000

    private func startRelay(_ members: [String: any Sendable] = [:]) async throws -> RelayProcess {
        let apple: [String: any Sendable] = [
            "host": "127.0.0.1", "port": Int(try SilentServer.unusedPort().port), "clear": true,
        ]
        let relay = try await RelayProcess(to: apple, members)
        try await relay.start()
        return relay
    }

    /// Checks that the incomplete requests of many clients take less than 64 MiB.
    private func checkMemory(of relay: RelayProcess, clients count: Int, at port: UInt16, sending input: [UInt8])
        async throws
    {
        let before = try #require(relay.memory)
        var clients: [RawClient] = []
        for _ in 0..<count {
            let client = try RawClient(port: port)
            await client.sendAll(input)
            clients.append(client)
        }
        #expect(await relay.ask([RawHTTP1.Request("GET", "/livez")]).first?.status == 200)
        let after = try #require(relay.memory)
        #expect(after - before < 64 << 20, "\(before) \(after)")
        clients = []
    }

    @Test func `memory does not grow with the number of waiting pushes`() async throws {
        let relay = try await startRelay(["durability": "relaxed"])
        let text = String(repeating: "x", count: 1_000)
        let line = #"{"to":"5d3a6a1c","payload":{"aps":{"alert":"\#(text)"}}}"#
        let body = String(repeating: line + "\n", count: Self.lines)
        var waiting = 0
        var memory: [Int] = []
        for goal in [Self.few, Self.many] {
            while waiting < goal {
                let answer = await relay.ask([RawHTTP1.Request("POST", "/v1/pushes:batch", body: body)]).first
                let accepted = answer?.body.split(separator: "\n").count { $0.contains(#""state":"accepted""#) } ?? 0
                try #require(accepted == Self.lines, "\(answer?.status ?? 0): \(answer?.body.prefix(200) ?? "")")
                waiting += accepted
            }
            memory.append(try #require(relay.memory))
        }
        // In memory, the other 40,000 pushes would take at least 40 MB.
        #expect(memory[1] - memory[0] < 16 << 20, "\(memory)")
        #expect(await relay.stop() == 0)
    }

    @Test func `incomplete bodies take no more memory than their limit`() async throws {
        let relay = try await startRelay()
        let fields = "host: a\r\nauthorization: bearer \(RelayProcess.callerKey)\r\ncontent-length: 1000000\r\n"
        let body = String(repeating: " ", count: 250_000)
        let request = Array("POST /v1/pushes HTTP/1.1\r\n\(fields)\r\n\(body)".utf8)
        // All bodies have 75 MB. The limit is 32 MiB, and the array of a body is up to twice as long as the body.
        try await checkMemory(of: relay, clients: 300, at: relay.httpPort, sending: request)
        #expect(await relay.stop() == 0)
    }

    @Test func `requests over HTTP/2 without a key take little memory`() async throws {
        let relay = try await startRelay()
        let block = RawHTTP2.post("/3/device/5d3a6a1c") + RawHTTP2.literal("authorization", "bearer wrong")
        let body = Array(repeating: UInt8(ascii: " "), count: 4_000)
        let input = (0..<900 as Range<UInt32>).flatMap { index in
            RawHTTP2.headers(block, stream: 2 * index + 1, isLast: false)
                + RawHTTP2.frame(.data, stream: 2 * index + 1, body)
        }
        // All requests have 280 MB. Half of the limit of 32 MiB is for clients without a key, and the arrays of their
        // bodies are up to twice as long as the bodies.
        try await checkMemory(of: relay, clients: 60, at: relay.port, sending: RawHTTP2.greeting + input)
        #expect(await relay.stop() == 0)
    }
}

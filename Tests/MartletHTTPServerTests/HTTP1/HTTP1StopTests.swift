// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import MartletHTTPServer
@testable import MartletTransport

@Suite(.timeLimit(.minutes(10))) struct HTTP1StopTests {
    @Test func `an orderly stop waits until an answer has been written whole`() async throws {
        let entered = Gate()
        let mayAnswer = Gate()
        let body = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
        let listener = try await HTTP1Listener(host: "127.0.0.1", port: 0) { _ in
            entered.open()
            await mayAnswer.wait()
            return .whole(HTTPResponse(status: 200, body: body))
        }
        let client = try RawClient(port: listener.port)
        client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        await entered.wait()
        let stop = Task { await listener.stop(within: .seconds(50)) }
        mayAnswer.open()
        let answer = await client.read()
        #expect(answer.hasPrefix("HTTP/1.1 200"))
        #expect(answer.utf8.count > body.count)
        await stop.value
    }

    @Test func `an orderly stop answers every request that was sent before`() async throws {
        let listener = try await HTTP1Listener(host: "127.0.0.1", port: 0) { _ in .whole(HTTPResponse(status: 200)) }
        // On the loop, so that it reads nothing before it is asked to stop.
        let (clients, stop) = await withCheckedContinuation { continuation in
            listener.server.loop.execute {
                let clients = (0..<20).compactMap { _ in try? RawClient(port: listener.port) }
                for client in clients { client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n") }
                let stop = Task(executorPreference: LoopTaskExecutor(listener.server.loop)) {
                    await listener.stop(within: .seconds(50))
                }
                continuation.resume(returning: (clients, stop))
            }
        }
        await stop.value
        #expect(clients.count == 20)
        for client in clients { #expect(await client.read().hasPrefix("HTTP/1.1 200")) }
    }

    @Test func `a listener that has been stopped refuses connections`() async throws {
        let listener = try await HTTP1Listener(host: "127.0.0.1", port: 0) { _ in .whole(HTTPResponse(status: 200)) }
        await listener.stop(within: .seconds(50))
        #expect(throws: (any Error).self) { try RawClient(port: listener.port) }
    }

    @Test func `an orderly stop without requests ends immediately`() async throws {
        let listener = try await HTTP1Listener(host: "127.0.0.1", port: 0) { _ in .whole(HTTPResponse(status: 200)) }
        let client = try RawClient(port: listener.port)
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(await client.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200"))
        await listener.stop(within: .seconds(50))
        #expect(await client.isClosedByPeer())
        await listener.stop(within: .seconds(50))
    }

    @Test func `an orderly stop cuts off a request that has no answer in time`() async throws {
        let entered = Gate()
        let never = Gate()
        let listener = try await HTTP1Listener(host: "127.0.0.1", port: 0) { _ in
            entered.open()
            await never.wait()
            return .whole(HTTPResponse(status: 200))
        }
        let client = try RawClient(port: listener.port)
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        await entered.wait()
        await listener.stop(within: .zero)
        #expect(await !client.read().hasPrefix("HTTP/1.1 200"))
        never.open()
    }
}

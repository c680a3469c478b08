// SPDX-License-Identifier: Apache-2.0

import MartletHTTPServer
import MartletTransport
import Synchronization
import TestSupport
import Testing

/// Requests whose bodies are not read.
@Suite(.timeLimit(.minutes(10))) struct HTTP1RefusalTests {
    @Test func `a request refused by its fields is answered before its body`() async throws {
        let handled = Mutex(0)
        let listener = try await HTTP1Listener(
            host: "127.0.0.1",
            port: 0,
            admission: { request in
                guard request.fields["authorization"] != nil else { return .answer(HTTPResponse(status: 401)) }
                return .whole { request, _ in
                    handled.withLock { $0 += 1 }
                    return .whole(HTTPResponse(status: 200, fields: [:], body: request.body))
                }
            }
        )
        defer { listener.stop() }
        let stranger = try RawClient(port: listener.port)
        stranger.send("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000\r\n\r\nabc")
        // No more of the body is waited for: the connection ends with the answer.
        #expect(await RawHTTP1.answers(in: stranger.bytes()).map(\.status) == [401])
        #expect(handled.withLock { $0 } == 0)
        let known = RawHTTP1.Request("POST", "/", ["authorization: a"], body: "abc")
        #expect(await RawHTTP1.ask([known], at: listener.port).map(\.body) == ["abc"])
    }

    @Test func `bodies share a limit, and a request beyond it gets a 503`() async throws {
        var limits = HTTP1Listener.Limits()
        limits.totalBodyBytes = 1_000
        let (began, gate) = (Gate(), Gate())
        let listener = try await HTTP1Listener(host: "127.0.0.1", port: 0, limits: limits) { request in
            began.open()
            await gate.wait()
            return .whole(HTTPResponse(status: 200, fields: [:], body: request.body))
        }
        defer { listener.stop() }
        let body = String(repeating: "x", count: 600)
        let request = RawHTTP1.Request("POST", "/", body: body)
        async let first = RawHTTP1.ask([request], at: listener.port)
        await began.wait()
        let second = await RawHTTP1.ask([request], at: listener.port)
        #expect(second.map(\.status) == [503] && second.first?.fields["retry-after"] == "1")
        let unannounced = try RawClient(port: listener.port)
        let head = "POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n"
        unannounced.send(head + "258\r\n\(body)\r\n0\r\n\r\n")
        #expect(await unannounced.read().hasPrefix("HTTP/1.1 503"))
        gate.open()
        #expect(await first.map(\.status) == [200])
        #expect(await RawHTTP1.ask([request], at: listener.port).map(\.status) == [200])
    }

    @Test func `an incomplete long body makes room for a shorter one`() async throws {
        var limits = HTTP1Listener.Limits()
        limits.totalBodyBytes = 1_000
        let listener = try await HTTP1Listener(host: "127.0.0.1", port: 0, limits: limits) { request in
            .whole(HTTPResponse(status: 200, fields: [:], body: request.body))
        }
        defer { listener.stop() }
        let slow = try RawClient(port: listener.port)
        slow.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n")
        #expect(await slow.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200"))
        slow.send("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 900\r\n\r\n" + String(repeating: "x", count: 800))
        let short = RawHTTP1.Request("POST", "/", body: String(repeating: "y", count: 600))
        #expect(await RawHTTP1.ask([short], at: listener.port).map(\.status) == [200])
        #expect(await slow.read().hasPrefix("HTTP/1.1 503"))
        #expect(await RawHTTP1.ask([short], at: listener.port).map(\.status) == [200])
    }
}

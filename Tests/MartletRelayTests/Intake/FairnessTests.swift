// SPDX-License-Identifier: Apache-2.0

import Dispatch
import MartletCore
import MartletOutbox
import MartletSimulator
import MartletTransport
import TestSupport
import Testing

@testable import MartletRelay

/// One caller cannot stop another.
@Suite(.timeLimit(.minutes(10))) struct FairnessTests {
    private static let key = ["authorization: Bearer " + RelayBench.callerKey]

    /// A push that is sent tomorrow.
    private func later(_ bench: RelayBench, to tokens: String = #""5d3a6a1c""#) -> String {
        let tomorrow = bench.parts.now / 1_000 + 86_400
        return #"{"to":\#(tokens),"not-before":\#(tomorrow),"payload":{"aps":{"alert":"Hi"}}}"#
    }

    private func bench(_ change: (inout RelayConfiguration) -> Void = { _ in }) async throws -> (RelayBench, UInt16) {
        let bench = try await RelayBench {
            $0.http = RelayConfiguration.Address(port: 0)
            change(&$0)
        }
        let port = try #require(await bench.relay.httpPort)
        return (bench, port)
    }

    /// Sends a request, without waiting for its answer.
    private func open(_ method: String, _ path: String, at port: UInt16, body: String = "") throws -> RawClient {
        let client = try RawClient(port: port)
        client.send(RawHTTP1.Request(method, path, Self.key, body: body).bytes(isLast: true))
        return client
    }

    @Test func `waiting requests of a caller are limited and end with the client`() async throws {
        let (bench, port) = try await bench { $0.loadLimits.waitingPerCaller = 20 }
        let id = await bench.ask("POST", "/v1/pushes", later(bench)).json["id"]?.stringValue ?? ""
        var waiting: [RawClient] = []
        for _ in 0..<20 { waiting.append(try open("GET", "/v1/pushes/\(id)?wait=60", at: port)) }
        try await eventually("20 requests wait") { await bench.parts.intake.load.waiting >= 20 }
        // A further one is answered at once.
        let further = await RawHTTP1.ask([.init("GET", "/v1/pushes/\(id)?wait=60", Self.key)], at: port).first
        #expect(further?.status == 200 && further?.body.contains("accepted") == true)
        let alive = await RawHTTP1.ask([.init("GET", "/livez"), .init("GET", "/readyz")], at: port)
        #expect(alive.map(\.status) == [200, 200])
        waiting = []
        try await eventually("no request waits") { await bench.parts.intake.load.waiting == 0 }
        await bench.stop()
    }

    @Test func `event streams have a bound for each caller, and end with their clients`() async throws {
        let (bench, port) = try await bench()
        var listening: [RawClient] = []
        for _ in 0..<OutcomeEvents.listenersPerCaller { listening.append(try open("GET", "/v1/events", at: port)) }
        try await eventually("as many clients listen as one caller may have") {
            await bench.parts.intake.events.listenerCount >= OutcomeEvents.listenersPerCaller
        }
        let further = await RawHTTP1.ask([.init("GET", "/v1/events", Self.key)], at: port).first
        #expect(further?.status == 429 && further?.fields["retry-after"] == "30")
        listening = []
        try await eventually("no client listens") { await bench.parts.intake.events.listenerCount == 0 }
        await bench.stop()
    }

    @Test func `callers that wait are answered when the relay stops`() async throws {
        let (bench, port) = try await bench()
        let client = try open("POST", "/v1/pushes?wait=60", at: port, body: later(bench))
        try await eventually("the request waits") { await bench.parts.intake.load.waiting > 0 }
        async let answer = client.read()
        await bench.stop()
        #expect(await answer.hasPrefix("HTTP/1.1 202"))
    }

    @Test func `removing a caller ends its streams and waiting requests`() async throws {
        let (bench, port) = try await bench()
        let listening = try open("GET", "/v1/events", at: port)
        let id = await bench.ask("POST", "/v1/pushes", later(bench)).json["id"]?.stringValue ?? ""
        let waiting = try open("GET", "/v1/pushes/\(id)?wait=60", at: port)
        try await eventually("the client listens") { await bench.parts.intake.events.listenerCount > 0 }
        try await eventually("the request waits") { await bench.parts.intake.load.waiting > 0 }
        var configuration = await bench.relay.context.configuration
        configuration.callers = []
        try await bench.relay.reload(configuration)
        #expect(await listening.read().hasSuffix("0\r\n\r\n"))
        _ = await waiting.read()
        #expect(await bench.parts.intake.load.waiting == 0)
        await bench.stop()
    }

    @Test func `a listener that closes idle connections for new clients is logged once`() async throws {
        let lines = LogLines()
        let clock = TestClock()
        let bench = try await RelayBench(clock: clock.wall, log: lines.logger(.warning)) {
            $0.http = RelayConfiguration.Address(port: 0)
            $0.connections = 2
        }
        let port = try #require(await bench.relay.httpPort)
        var clients: [RawClient] = []
        for _ in 0..<6 {
            let client = try RawClient(port: port)
            client.send("GET /livez HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(await client.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200"))
            clients.append(client)
        }
        try await eventually("the limit of connections is logged") { !lines.all.isEmpty }
        await bench.stop()
        let reached = lines.objects.filter { $0["msg"] == "connection limit reached" }
        #expect(reached.map { $0["for"]?.stringValue } == ["http"])
        withExtendedLifetime(clients) {}
    }

    @Test func `a batch is read while it arrives, and answered line by line`() async throws {
        let (bench, port) = try await bench()
        let client = try RawClient(port: port)
        let head = "POST /v1/pushes:batch HTTP/1.1\r\nhost: a\r\n\(Self.key[0])\r\ntransfer-encoding: chunked\r\n\r\n"
        client.send(head)
        for number in 0..<3 {
            let line = #"{"to":"5d3a6a1\#(number)","payload":{"aps":{"alert":"Hi"}}}"# + "\n"
            client.send("\(String(line.utf8.count, radix: 16))\r\n\(line)\r\n")
            #expect(await client.read(until: "accepted\"}\n").contains(#""state":"accepted""#))
        }
        client.send("8\r\nnonsense\r\n0\r\n\r\n")
        #expect(await client.read(until: "0\r\n\r\n").contains(#""status":400"#))
        await bench.stop()
    }

    @Test func `a short request does not wait for long ones`() async throws {
        let (bench, port) = try await bench()
        let isReleased = DispatchSemaphore(value: 0)
        bench.parts.longRequests.loop.execute { isReleased.wait() }
        let long = try open("POST", "/v1/pushes", at: port, body: Self.manyValues)
        let batch = try open("POST", "/v1/pushes:batch", at: port, body: Self.manyValues)
        let short = await RawHTTP1.ask([.init("POST", "/v1/pushes", Self.key, body: later(bench))], at: port).first
        #expect(short?.status == 202)
        isReleased.signal()
        let answer = await long.read()
        #expect(answer.hasPrefix("HTTP/1.1 400") && answer.contains("more than \(LongRequests.valueLimit) values"))
        #expect(await batch.read().contains("more than \(LongRequests.valueLimit) values"))
        await bench.stop()
    }

    @Test func `a short request does not wait for batches`() async throws {
        let (bench, port) = try await bench()
        let isReleased = DispatchSemaphore(value: 0)
        bench.parts.longRequests.loop.execute { isReleased.wait() }
        defer { isReleased.signal() }
        let lines = String(repeating: later(bench) + "\n", count: 3)
        var batches: [RawClient] = []
        for _ in 0..<10 { batches.append(try open("POST", "/v1/pushes:batch", at: port, body: lines)) }
        let short = await RawHTTP1.ask([.init("POST", "/v1/pushes", Self.key, body: later(bench))], at: port).first
        #expect(short?.status == 202)
        // The thread of long requests handles the batches.
        #expect(try await bench.parts.outbox.backlog().map(\.count) == [1])
        isReleased.signal()
        for batch in batches {
            let answer = await batch.read()
            #expect(answer.split(separator: #""state":"accepted""#).count == 4, "\(answer)")
        }
        await bench.stop()
    }

    @Test func `a long request is handled although its client sends no more`() async throws {
        let (bench, port) = try await bench()
        let tokens = (0..<3_000).map { #""\#(String(0xA000 + $0, radix: 16))""# }.joined(separator: ",")
        let body = later(bench, to: "[\(tokens)]")
        #expect(body.utf8.count > LongRequests.leastByteCount)
        let isReleased = DispatchSemaphore(value: 0)
        bench.parts.longRequests.loop.execute { isReleased.wait() }
        defer { isReleased.signal() }
        let client = try open("POST", "/v1/pushes", at: port, body: body)
        client.finish()
        // The end of the input is read before the request is handled.
        _ = await RawHTTP1.ask([.init("GET", "/livez"), .init("GET", "/livez")], at: port)
        isReleased.signal()
        let answer = await client.read()
        #expect(answer.hasPrefix("HTTP/1.1 202") && answer.contains("accepted"))
        await bench.stop()
    }

    /// A push whose payload has 100,001 numbers.
    private static let manyValues =
        #"{"to":"5d3a6a1c","payload":{"a":["# + String(repeating: "0,", count: 100_000) + "0]}}"

    @Test func `callers with long requests take turns`() {
        var turns = CallerTurns<String>()
        for (element, caller) in [("a1", "a"), ("a2", "a"), ("a3", "a"), ("b1", "b"), ("c1", "c"), ("b2", "b")] {
            turns.add(element, of: caller)
        }
        var order: [String] = []
        while let next = turns.next() { order.append(next) }
        #expect(order == ["a1", "b1", "c1", "a2", "b2", "a3"] && turns.isEmpty)
    }

    @Test func `a repeated long list has the same identifiers, each once`() async throws {
        let (bench, _) = try await bench()
        let count = 2 * LongRequests.destinationsPerTurn + 1
        let tokens = (0..<count).map { #""\#(String(0xA000 + $0, radix: 16))""# }.joined(separator: ",")
        let body = later(bench, to: "[\(tokens)]")
        var identifiers: [[String]] = []
        for _ in 0..<2 {
            let answer = await bench.ask("POST", "/v1/pushes", body, fields: ["idempotency-key": "list"])
            identifiers.append(answer.json["pushes"]?.elements?.compactMap { $0["id"]?.stringValue } ?? [])
        }
        #expect(Set(identifiers[0]).count == count && identifiers[1] == identifiers[0])
        await bench.stop()
    }

    @Test func `the longest list of tokens is within the limit of values`() {
        #expect(LongRequests.valueLimit > PushRequest.longestList + PushLimits.broadcastPayloadByteCount)
    }

    @Test func `a payload that is far too long is refused by its size alone`() async throws {
        let (bench, _) = try await bench()
        let text = String(repeating: "a", count: 20_000)
        let answer = await bench.ask("POST", "/v1/pushes", #"{"to":"5d3a6a1c","payload":{"aps":{"alert":"\#(text)"}}}"#)
        #expect(answer.status == 400)
        #expect(answer.json["detail"]?.stringValue?.contains("more than the 4096 allowed") == true, "\(answer.text)")
        await bench.stop()
    }

    @Test func `a large batch does not cause refusals of other pushes`() async throws {
        let (bench, port) = try await bench { $0.loadLimits.incoming = 8_000 }
        let tokens = (0..<1_000).map { #""\#(String(0xA000 + $0, radix: 16))""# }.joined(separator: ",")
        let line = later(bench, to: "[\(tokens)]") + "\n"
        let batch = RawHTTP1.Request("POST", "/v1/pushes:batch", Self.key, body: String(repeating: line, count: 40))
        async let answers = RawHTTP1.ask([batch], at: port)
        for _ in 0..<20 {
            let push = RawHTTP1.Request("POST", "/v1/pushes", Self.key, body: later(bench))
            let answer = await RawHTTP1.ask([push], at: port).first
            #expect(answer?.status == 202, "\(String(describing: answer))")
        }
        let text = await answers.first?.body ?? ""
        #expect(text.split(separator: #""state":"accepted""#).count == 40_001, "\(text.prefix(300))")
        await bench.stop()
    }
}

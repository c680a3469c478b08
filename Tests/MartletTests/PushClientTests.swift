// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import MartletTransport
import Synchronization
import TestSupport
import Testing

@testable import Martlet

/// Tests of the errors of a client, and of its operation after them.
@Suite(.timeLimit(.minutes(10))) struct PushClientTests {
    private let token: DeviceToken
    private let topic: Topic = "com.example.app"

    init() throws {
        token = try DeviceToken(hex: "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0")
    }

    /// Sends an alert and returns why it failed, if it did.
    private func failure(of client: PushClient, _ notification: PushNotification = .alert("Hello")) async -> APNsError?
    {
        do {
            try await client.send(notification, to: token, topic: topic)
            return nil
        } catch {
            return error
        }
    }

    /// A client that tries once, so that each try can be looked at.
    private func client(
        of server: ScriptedServer,
        _ configuration: PushClient.Configuration = .init(retry: .none)
    ) async throws
        -> PushClient
    {
        try PushClient(await server.endpoint, authentication: .token(.ephemeral()), configuration: configuration)
    }

    // MARK: Pushes that are not sent

    @Test func `a payload over the limit is refused before sending`() async throws {
        let server = try await ScriptedServer.start()
        let client = try await client(of: server)
        let large = PushNotification.alert(PushNotification.Alert(body: String(repeating: "x", count: 4_100)))
        let error = try #require(await failure(of: client, large))
        #expect(error.code == .invalid)
        #expect(error.localizedDescription == error.description)
        #expect(error.reason == .payloadTooLarge)
        #expect(error.description.contains("4096"))
        #expect(await failure(of: client) == nil)
        #expect(await server.requests == 1)
        await client.close()
        await server.stop()
    }

    @Test func `a refused connection and an unknown host have their own codes`() async throws {
        let unused = try SilentServer.unusedPort()
        let refused = try PushClient(
            APNsEndpoint(host: "127.0.0.1", port: unused.port, isEncrypted: false),
            authentication: .token(.ephemeral())
        )
        #expect(await failure(of: refused)?.code == .connectionFailed)
        #expect(await failure(of: refused)?.outcome == .neverSent)
        let unknown = try PushClient(APNsEndpoint(host: "nowhere.invalid"), authentication: .token(.ephemeral()))
        let error = try #require(await failure(of: unknown))
        #expect(error.code == .nameNotResolved)
        #expect(error.description.contains("nowhere.invalid"))
    }

    // MARK: Answers that are none

    @Test(arguments: ["<html>502 Bad Gateway</html>", "", "[]", #"{"reason":7}"#, #"{"reason":"#])
    func `an answer that is not APNs' own does not end the connection`(body: String) async throws {
        let server = try await ScriptedServer.start([.answer(502, body: body)])
        let client = try await client(of: server)
        let error = try #require(await failure(of: client))
        #expect(error.code == .unreadableAnswer)
        #expect(error.status == 502)
        #expect(error.outcome == .unknown)
        #expect(await failure(of: client) == nil)
        #expect(await server.connections == 1)
        await client.close()
        await server.stop()
    }

    @Test func `an unknown reason and a Retry-After are passed on`() async throws {
        let server = try await ScriptedServer.start([
            .answer(429, body: #"{"reason":"BrandNew"}"#, fields: [("retry-after", "12")]),
            .answer(410, body: #"{"reason":"Unregistered","timestamp":1790000000000}"#),
        ])
        let client = try await client(of: server)
        let busy = try #require(await failure(of: client))
        #expect(busy.code == .refused)
        #expect(busy.reason?.rawValue == "BrandNew")
        #expect(busy.retryAfter == .seconds(12))
        let gone = try #require(await failure(of: client))
        #expect(gone.reason == .unregistered)
        #expect(gone.unregisteredAt == Date(timeIntervalSince1970: 1_790_000_000))
        await client.close()
        await server.stop()
    }

    @Test(
        arguments: [
            ("0", 0), ("2592000", 2_592_000), ("9223372036854775807", 2_592_000), ("9223372036854775808", nil),
            ("-1", nil),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 2_592_000), ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("soon", nil),
        ] as [(String, Int64?)]
    )
    func `a Retry-After is passed on up to thirty days`(value: String, seconds: Int64?) async throws {
        let server = try await ScriptedServer.start([
            .answer(503, body: #"{"reason":"ServiceUnavailable"}"#, fields: [("retry-after", value)])
        ])
        let client = try await client(of: server)
        #expect(await failure(of: client)?.retryAfter == seconds.map { .seconds($0) })
        await client.close()
        await server.stop()
    }

    @Test(arguments: ["9223372036854775807", "-9223372036854775808", "1e300", "9223372036854775808", "\"x\""])
    func `a timestamp of an answer may be any number`(timestamp: String) async throws {
        let server = try await ScriptedServer.start([
            .answer(410, body: #"{"reason":"Unregistered","timestamp":\#(timestamp)}"#)
        ])
        let client = try await client(of: server)
        let error = try #require(await failure(of: client))
        #expect(error.reason == .unregistered && (error.unregisteredAt == nil) == (Int64(timestamp) == nil))
        #expect(error.unregisteredAt.map { $0.millisecondsSince1970 < 0 } == Int64(timestamp).map { $0 < 0 })
        await client.close()
        await server.stop()
    }

    @Test func `a truncated answer leaves the outcome unknown`() async throws {
        let server = try SilentServer()
        // SETTINGS, then the fields of an answer with status 400 whose body never comes.
        server.answerOnce(with: [0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 1, 1, 4, 0, 0, 0, 1, 0x8C])
        let client = try PushClient(
            APNsEndpoint(host: "127.0.0.1", port: server.port, isEncrypted: false),
            authentication: .token(.ephemeral())
        )
        let error = try #require(await failure(of: client))
        #expect(error.code == .connectionLost)
        #expect(error.outcome == .unknown)
        await client.close()
    }

    @Test func `a bare status of 500 or more is retried, unless retries are off`() async throws {
        for allowsRetries in [true, false] {
            let server = try await ScriptedServer.start([.answer(502), .answer(200)])
            let retry = RetryPolicy(baseDelay: .milliseconds(1), hasJitter: false)
            let client = try await client(of: server, .init(retry: retry, allowsRetries: allowsRetries))
            let error = await failure(of: client)
            #expect((error == nil) == allowsRetries)
            #expect(error == nil || error?.status == 502 && error?.code == .unreadableAnswer)
            #expect(await server.requests == (allowsRetries ? 2 : 1))
            await client.close()
            await server.stop()
        }
    }

    @Test func `options without retries override the configuration`() async throws {
        let server = try await ScriptedServer.start([.answer(503, body: #"{"reason":"ServiceUnavailable"}"#)])
        let client = try await client(of: server, .init(retry: .standard))
        let error = await #expect(throws: APNsError.self) {
            try await client.send(.alert("Hello"), to: token, topic: topic, options: SendOptions(retry: .none))
        }
        #expect(error?.status == 503 && error?.attempts == 1)
        await client.close()
        await server.stop()
    }

    @Test func `the next push after a lost connection opens another`() async throws {
        let server = try await ScriptedServer.start([.cut])
        let client = try await client(of: server)
        let error = try #require(await failure(of: client))
        #expect(error.code == .connectionLost)
        #expect(error.outcome == .unknown)
        #expect(await failure(of: client) == nil)
        #expect(await server.connections == 2)
        await client.close()
        await server.stop()
    }

    @Test func `a stream that the server resets ends only its own push`() async throws {
        let server = try await ScriptedServer.start([.reset(.internalError)])
        let client = try await client(of: server)
        let error = try #require(await failure(of: client))
        #expect(error.code == .connectionLost)
        #expect(error.outcome == .unknown)
        #expect(await failure(of: client) == nil)
        #expect(await server.connections == 1)
        await client.close()
        await server.stop()
    }

    @Test func `a push on a refused stream is sent again under any policy`() async throws {
        let server = try await ScriptedServer.start([.reset(.refusedStream), .reset(.refusedStream)])
        let client = try await client(of: server)
        let receipt = try await client.send(.alert("Hello"), to: token, topic: topic)
        #expect(receipt.attempts == 3)
        #expect(receipt.unknownTries == 0)
        #expect(await client.counters.resends == 2)
        await client.close()
        await server.stop()
    }

    @Test func `a lost connection fails only the push in flight`() async throws {
        let server = try await ScriptedServer.start([.cut])
        let client = try await client(of: server)
        let failures = await withTaskGroup(of: APNsError?.self) { group in
            for _ in 0..<500 { group.addTask { await self.failure(of: client) } }
            return await group.reduce(into: [APNsError]()) { if let error = $1 { $0.append(error) } }
        }
        #expect(failures.map(\.outcome) == [.unknown])
        #expect(await server.requests == 500)
        await client.close()
        await server.stop()
    }

    // MARK: Provider tokens

    @Test func `a push with an expired token is sent again on another connection`()
        async throws
    {
        let server = try await ScriptedServer.start([.answer(403, body: #"{"reason":"ExpiredProviderToken"}"#)])
        let client = try await client(of: server, .init())
        let receipt = try await client.send(.alert("Hello"), to: token, topic: topic)
        #expect(receipt.attempts == 2)
        #expect(await failure(of: client) == nil)
        let tokens = await server.authorizations
        #expect(tokens.count == 3 && tokens[0] != tokens[1] && tokens[1] == tokens[2])
        #expect(tokens.allSatisfy { $0?.hasPrefix("bearer ") == true })
        #expect(await server.connections == 2)
        await client.close()
        await server.stop()
    }

    @Test func `one push is sent until the first answer`() async throws {
        let server = try await ScriptedServer.start([.hold])
        let client = try await client(of: server)
        let failures = await withTaskGroup(of: APNsError?.self) { group in
            for _ in 0..<50 { group.addTask { await self.failure(of: client) } }
            await server.waitForRequests(1)
            // All that could go out has: a round trip over the loop of the client comes after it.
            await Task(executorPreference: client.executor) {}.value
            #expect(await server.requests == 1)
            await server.release()
            return await group.reduce(into: [APNsError]()) { if let error = $1 { $0.append(error) } }
        }
        #expect(failures.isEmpty)
        #expect(await server.requests == 50)
        #expect(await server.connections == 1)
        await client.close()
        await server.stop()
    }

    // MARK: Callers that change their mind, and time

    @Test func `a cancelled push is reset, and the connection stays open`() async throws {
        let server = try await ScriptedServer.start([.answer(200), .hold])
        let client = try await client(of: server)
        #expect(await failure(of: client) == nil)
        let task = Task { await failure(of: client) }
        await server.waitForRequests(2)
        task.cancel()
        let error = try #require(await task.value)
        #expect(error.code == .cancelled)
        #expect(error.outcome == .unknown)
        #expect(await failure(of: client) == nil)
        #expect(await server.isHeldRequestGone)
        #expect(await server.connections == 1)
        await client.close()
        await server.stop()
    }

    @Test func `a waiting push that is cancelled is not sent`() async throws {
        let server = try await ScriptedServer.start([.hold])
        let client = try await client(of: server)
        let first = Task { await failure(of: client) }
        await server.waitForRequests(1)
        let second = Task { await failure(of: client) }
        second.cancel()
        let error = try #require(await second.value)
        #expect(error.code == .cancelled)
        #expect(error.outcome == .neverSent)
        await server.release()
        #expect(await first.value == nil)
        #expect(await failure(of: client) == nil)
        #expect(await server.requests == 2)
        await client.close()
        await server.stop()
    }

    @Test func `a task that is cancelled already sends nothing`() async throws {
        let server = try await ScriptedServer.start()
        let client = try await client(of: server)
        let gate = Gate()
        let task = Task {
            await gate.wait()
            return await failure(of: client)
        }
        task.cancel()
        gate.open()
        #expect(await task.value?.code == .cancelled)
        #expect(await server.requests == 0)
        await client.close()
        await server.stop()
    }

    @Test func `a push without an answer fails after its timeout`() async throws {
        let server = try await ScriptedServer.start([.hold])
        let clock = ManualClock()
        let client = try PushClient(
            await server.endpoint,
            authentication: .token(.ephemeral()),
            configuration: .init(sendTimeout: .seconds(30), retry: .none),
            clock: .system,
            loopClock: clock
        )
        async let first = failure(of: client)
        await server.waitForRequests(1)
        async let second = failure(of: client)
        await clock.advance(by: .seconds(29))
        await clock.advance(by: .seconds(2))
        let sent = try #require(await first)
        #expect(sent.code == .timedOut)
        #expect(sent.outcome == .unknown)
        // Depending on when it came, the second timed out in the queue or went out when the first made room.
        if let waited = await second {
            #expect(waited.code == .timedOut)
            #expect(waited.outcome == .neverSent)
        }
        #expect(await failure(of: client) == nil)
        await client.close()
        await server.stop()
    }

    @Test func `more waiting pushes than allowed are refused at once`() async throws {
        let server = try await ScriptedServer.start([.hold])
        let client = try await client(of: server, .init(retry: .none, waitingLimit: 2))
        let failures = await withTaskGroup(of: APNsError?.self) { group in
            group.addTask { await self.failure(of: client) }
            await server.waitForRequests(1)
            for _ in 0..<5 { group.addTask { await self.failure(of: client) } }
            var failures: [APNsError] = []
            for await case let error? in group {
                failures.append(error)
                if failures.count == 3 { await server.release() }
            }
            return failures
        }
        #expect(failures.map(\.code) == [.overloaded, .overloaded, .overloaded])
        await client.close()
        await server.stop()
    }

    // MARK: Closing

    @Test func `closing waits for open pushes and accepts no more`() async throws {
        let server = try await ScriptedServer.start([.answer(200), .hold])
        let client = try await client(of: server)
        #expect(await failure(of: client) == nil)
        async let first = failure(of: client)
        await server.waitForRequests(2)
        async let closing: Void = client.close(within: .seconds(30))
        try await eventually("the client takes no more pushes") { await failure(of: client)?.code == .closed }
        await server.release()
        #expect(await first == nil)
        await closing
        #expect(await failure(of: client)?.code == .closed)
        await server.stop()
    }

    @Test func `closing fails open pushes at its deadline`() async throws {
        let server = try await ScriptedServer.start([.hold])
        let client = try await client(of: server)
        async let first = failure(of: client)
        await server.waitForRequests(1)
        await client.close(within: .zero)
        let error = try #require(await first)
        #expect(error.code == .closed)
        #expect(error.outcome == .unknown)
        await server.stop()
    }

    @Test func `events of a client that is closed end at once`() async throws {
        let server = try await ScriptedServer.start()
        let client = try await client(of: server)
        let before = client.events()
        #expect(await failure(of: client) == nil)
        await client.close()
        #expect(await before.contains(.connected(connection: 1)))
        for await event in client.events() { Issue.record("\(event) after the end") }
        await server.stop()
    }
}

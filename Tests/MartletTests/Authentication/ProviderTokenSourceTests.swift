// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import MartletTransport
import Synchronization
import TestSupport
import Testing

@testable import Martlet

/// Tests of the sources of provider tokens, and of changed tokens.
@Suite(.timeLimit(.minutes(10))) struct ProviderTokenSourceTests {
    private let token: DeviceToken
    private let topic: Topic = "com.example.app"

    init() throws {
        token = try DeviceToken(hex: "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0")
    }

    /// A source that counts its requests, and can be without a token.
    private final class CountingSource: ProviderTokenSource {
        let state = Mutex((asked: 0, expired: [Date](), isEmpty: false, validity: Duration.seconds(3_000)))

        func token() async throws(APNsError) -> SignedProviderToken {
            await Task.yield()
            let (number, isEmpty) = state.withLock { state in
                state.asked += 1
                return (state.asked, state.isEmpty)
            }
            if isEmpty { throw APNsError(.badCredentials, description: "the source is out of tokens") }
            let validity = state.withLock { $0.validity }
            return SignedProviderToken(
                text: Array("token-\(number)".utf8),
                issuedAt: Date(timeIntervalSince1970: Double(number)),
                validity: validity
            )
        }

        func expired(tokenIssuedAt issuedAt: Date) async {
            state.withLock { $0.expired.append(issuedAt) }
        }
    }

    @Test func `a source is asked once for many pushes`() async throws {
        let server = try await ScriptedServer.start()
        let source = CountingSource()
        let client = try PushClient(await server.endpoint, authentication: .tokens(from: source))
        try await withThrowingTaskGroup { group in
            for _ in 0..<100 { group.addTask { try await client.send(.alert("Hi"), to: token, topic: topic) } }
            try await group.waitForAll()
        }
        #expect(source.state.withLock { $0.asked } == 1)
        #expect(await Set(server.authorizations) == ["bearer token-1"])
        await client.close()
        await server.stop()
    }

    @Test func `an expired token is reported to the source and replaced`() async throws {
        let server = try await ScriptedServer.start([.answer(403, body: #"{"reason":"ExpiredProviderToken"}"#)])
        let source = CountingSource()
        let client = try PushClient(await server.endpoint, authentication: .tokens(from: source))
        try await client.send(.alert("Hi"), to: token, topic: topic)
        #expect(source.state.withLock { $0.expired } == [Date(timeIntervalSince1970: 1)])
        #expect(await server.authorizations == ["bearer token-1", "bearer token-2"])
        await client.close()
        await server.stop()
    }

    @Test func `a source without a token fails the push, and is asked again`() async throws {
        let server = try await ScriptedServer.start()
        let source = CountingSource()
        source.state.withLock { $0.isEmpty = true }
        let client = try PushClient(await server.endpoint, authentication: .tokens(from: source))
        let error = await #expect(throws: APNsError.self) {
            try await client.send(.alert("Hi"), to: token, topic: topic)
        }
        #expect(error?.description.contains("out of tokens") == true)
        #expect(error?.outcome == .neverSent)
        source.state.withLock { $0.isEmpty = false }
        try await client.send(.alert("Hi"), to: token, topic: topic)
        #expect(await server.requests == 1)
        await client.close()
        await server.stop()
    }

    @Test func `pushes that wait for a token fail with the source's error`() async throws {
        let server = try await ScriptedServer.start()
        let source = CountingSource()
        source.state.withLock { $0.isEmpty = true }
        let client = try PushClient(await server.endpoint, authentication: .tokens(from: source))
        let errors = await withTaskGroup(of: APNsError?.self) { group in
            for _ in 0..<10 {
                group.addTask {
                    do throws(APNsError) {
                        try await client.send(.alert("Hi"), to: token, topic: topic)
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(errors.allSatisfy { $0?.code == .badCredentials && $0?.outcome == .neverSent })
        await client.close()
        await server.stop()
    }

    @Test func `pushes are sent with a token of no validity`() async throws {
        let server = try await ScriptedServer.start()
        let source = CountingSource()
        source.state.withLock { $0.validity = .zero }
        let client = try PushClient(await server.endpoint, authentication: .tokens(from: source))
        for _ in 0..<3 { try await client.send(.alert("Hi"), to: token, topic: topic) }
        #expect(await server.requests == 3)
        await client.close()
        await server.stop()
    }

    @Test func `a push that waits for its token was never sent`() async throws {
        struct StalledSource: ProviderTokenSource {
            let gate: Gate
            func token() async throws(APNsError) -> SignedProviderToken {
                await gate.wait()
                throw APNsError(.badCredentials, description: "too late")
            }
            func expired(tokenIssuedAt issuedAt: Date) async {}
        }
        let server = try await ScriptedServer.start()
        let gate = Gate()
        let client = try PushClient(await server.endpoint, authentication: .tokens(from: StalledSource(gate: gate)))
        let error = await #expect(throws: APNsError.self) {
            let options = SendOptions(timeout: .milliseconds(100))
            try await client.send(.alert("Hi"), to: token, topic: topic, options: options)
        }
        #expect(error?.code == .timedOut && error?.outcome == .neverSent)
        gate.open()
        await client.close()
        await server.stop()
    }

    @Test func `each event loop has a share of at least one`() async throws {
        let server = try await ScriptedServer.start()
        var configuration = PushClient.Configuration(connectionLimit: 1, eventLoops: 4, waitingLimit: 2)
        configuration.eventLoops = 3
        let client = try PushClient(
            await server.endpoint,
            authentication: .token(.ephemeral()),
            configuration: configuration
        )
        try await client.warmUp(connections: .max)
        for _ in 0..<6 { try await client.send(.alert("Hi"), to: token, topic: topic) }
        configuration.eventLoops = -1
        let single = try PushClient(
            await server.endpoint,
            authentication: .token(.ephemeral()),
            configuration: configuration
        )
        try await single.send(.alert("Hi"), to: token, topic: topic)
        #expect(await server.requests == 7)
        await client.close()
        await single.close()
        await server.stop()
    }

    @Test func `two clients that share a source send with one token`() async throws {
        let server = try await ScriptedServer.start()
        let source = LocalProviderTokenSource(try .ephemeral())
        let endpoint = await server.endpoint
        for _ in 0..<2 {
            let client = try PushClient(endpoint, authentication: .tokens(from: source))
            try await client.send(.alert("Hi"), to: token, topic: topic)
            await client.close()
        }
        let authorizations = await server.authorizations
        #expect(authorizations.count == 2 && Set(authorizations).count == 1)
        await server.stop()
    }

    @Test func `a key is replaced while pushes are in flight, and none is lost`() async throws {
        let server = try await ScriptedServer.start([.answer(200), .hold])
        let old = try SigningKey.ephemeral(keyID: "OLDKEY0000")
        let client = try PushClient(await server.endpoint, authentication: .token(old))
        try await client.send(.alert("first"), to: token, topic: topic)
        async let held = client.send(.alert("held"), to: token, topic: topic)
        await server.waitForRequests(2)
        try await client.replaceKey(with: .ephemeral(keyID: "NEWKEY0000"))
        try await client.send(.alert("after"), to: token, topic: topic)
        await server.release()
        _ = try await held
        let keys = try await server.authorizations.map { authorization in
            try ParsedProviderToken(Array(try #require(authorization).utf8.dropFirst("bearer ".utf8.count))).claims
                .keyID
        }
        #expect(keys == ["OLDKEY0000", "OLDKEY0000", "NEWKEY0000"])
        #expect(await server.connections == 2)
        await client.close()
        await server.stop()
    }

    @Test func `a corrected key with the same identifier signs immediately`()
        async throws
    {
        let refusal = ScriptedServer.Reaction.answer(403, body: #"{"reason":"InvalidProviderToken"}"#)
        let refusals = [ScriptedServer.Reaction](repeating: refusal, count: 20)
        let server = try await ScriptedServer.start(refusals + [.answer(200)])
        let keys = [try SigningKey.ephemeral(), try SigningKey.ephemeral()]
        let client = try PushClient(await server.endpoint, authentication: .token(keys[0]))
        for _ in 0..<20 {
            await #expect(throws: APNsError.self) { try await client.send(.alert("Hi"), to: token, topic: topic) }
        }
        try await client.replaceKey(with: keys[1])
        try await client.send(.alert("after"), to: token, topic: topic)
        let authorization = try #require(await server.authorizations.last ?? nil)
        let sent = try ParsedProviderToken(Array(authorization.utf8.dropFirst("bearer ".utf8.count)))
        #expect(try keys[1].publicKey().isValid(signature: sent.signature, for: sent.signingInput))
        await client.close()
        await server.stop()
    }

    @Test func `a key of another team, and a client without a key, are refused`() async throws {
        let client = try PushClient(.production, authentication: .token(.ephemeral(teamID: "TEAM000001")))
        let other = try SigningKey.ephemeral(teamID: "TEAM000002")
        let error = await #expect(throws: APNsError.self) { try await client.replaceKey(with: other) }
        #expect(error?.code == .badCredentials)
        #expect(error?.description.contains("TEAM000002") == true)
        let foreign = try PushClient(.production, authentication: .tokens(from: CountingSource()))
        await #expect(throws: APNsError.self) { try await foreign.replaceKey(with: other) }
        await client.close()
        await foreign.close()
    }

    @Test(arguments: [Double.nan, .infinity, 1e300]) func `a token can be printed whatever its time of issue`(
        seconds: Double
    ) {
        let token = SignedProviderToken(text: [], issuedAt: Date(timeIntervalSince1970: seconds), validity: .zero)
        #expect("\(token)".hasPrefix("SignedProviderToken(issued at "))
    }

    @Test func `a closed client refuses another key, and its source keeps the old`() async throws {
        let key = try SigningKey.ephemeral(keyID: "OLDKEY0000")
        let source = LocalProviderTokenSource(key)
        let client = try PushClient(.production, authentication: .tokens(from: source))
        let before = try source.token().text
        await client.close()
        let error = await #expect(throws: APNsError.self) {
            try await client.replaceKey(with: .ephemeral(keyID: "NEWKEY0000"))
        }
        #expect(error?.code == .closed && error?.outcome == .neverSent)
        #expect(try source.token().text == before)
    }

    @Test func `several loops share the pushes, each with a connection of its own`() async throws {
        let server = try await ScriptedServer.start()
        let configuration = PushClient.Configuration(eventLoops: 3)
        let client = try PushClient(
            await server.endpoint,
            authentication: .token(.ephemeral()),
            configuration: configuration
        )
        for _ in 0..<9 { try await client.send(.alert("Hi"), to: token, topic: topic) }
        #expect(await server.connections == 3)
        let counters = await client.counters
        #expect(counters.accepted == 9 && counters.connectionsOpened == 3)
        #expect(await Set(server.authorizations).count == 1)
        await client.close()
        await server.stop()
    }
}

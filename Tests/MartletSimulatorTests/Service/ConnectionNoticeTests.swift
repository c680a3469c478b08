// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletTransport
import TestSupport
import Testing

@testable import MartletSimulator

/// Notices about clients that fail to connect.
@Suite(.timeLimit(.minutes(10))) struct ConnectionNoticeTests {
    /// Starts a simulator, lets a client connect, and returns the first notice.
    private func notice(
        isEncrypted: Bool = true,
        _ connect: (SimulatedAPNs) async throws -> Void
    ) async throws -> ConnectionNotice {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: isEncrypted))
        let notices = await apns.notices()
        try await connect(apns)
        var iterator = notices.makeAsyncIterator()
        let notice = try #require(await iterator.next())
        await apns.stop()
        #expect(notice.label == "failed" && notice.json["connection"] == 1)
        return notice
    }

    @Test func `a client that does not trust the certificate is told which file to trust`() async throws {
        let notice = try await notice { apns in
            let client = try PushClient(
                await apns.endpoint,
                authentication: .token(.ephemeral()),
                configuration: .init(retry: .none)
            )
            _ = try? await client.send(.alert("Hi"), to: DeviceToken(hex: "5d3a"), topic: "com.example.app")
            await client.close()
        }
        #expect(notice.text.contains("the client does not trust the server's certificate"), "\(notice.text)")
        #expect(notice.text.hasSuffix("make it trust ca.pem, as with --ca of martlet send"), "\(notice.text)")
    }

    @Test func `plain HTTP to the port with TLS is named`() async throws {
        let notice = try await notice { apns in
            let client = try RawClient(port: await apns.port)
            client.send("GET / HTTP/1.1\r\n\r\n")
            _ = await client.read()
        }
        #expect(notice.text.contains("the client sent plain HTTP to a port with TLS: connect with https://"))
        #expect(notice.json["connection-failed"]?.stringValue?.hasPrefix("the client sent plain HTTP") == true)
        #expect(!notice.text.contains("server may not use TLS"))
    }

    @Test func `a TLS handshake with the port without TLS is named`() async throws {
        let notice = try await notice(isEncrypted: false) { apns in
            let port = await apns.port
            let client = try PushClient(
                APNsEndpoint(host: "localhost", port: port),
                authentication: .token(.ephemeral()),
                configuration: .init(retry: .none)
            )
            _ = try? await client.send(.alert("Hi"), to: DeviceToken(hex: "5d3a"), topic: "com.example.app")
            await client.close()
        }
        #expect(notice.text.contains("the client sent a TLS handshake to a port without TLS"), "\(notice.text)")
        #expect(notice.text.contains("connect with http://"), "\(notice.text)")
    }

    @Test func `HTTP1 to the port without TLS is named`() async throws {
        let notice = try await notice(isEncrypted: false) { apns in
            let client = try RawClient(port: await apns.port)
            client.send("POST /3/device/5d3a HTTP/1.1\r\nHost: localhost\r\n\r\n")
            _ = await client.read()
        }
        #expect(notice.text.contains("the client sent data that is not HTTP/2"), "\(notice.text)")
    }

    @Test func `notices are limited for each host and kind of error`() {
        var limit = NoticeLimit()
        let (untrusted, clear) = (TransportError(.certificateRejected, ""), TransportError(.tlsFailed, ""))
        let requests: [(TransportError, String, Int64)] = [
            (untrusted, "127.0.0.1:1", 100), (untrusted, "127.0.0.1:2", 109), (untrusted, "127.0.0.2:2", 109),
            (clear, "127.0.0.1:2", 109), (untrusted, "127.0.0.1:3", 110), (untrusted, "127.0.0.1:3", 90),
        ]
        let admitted = requests.map { error, peer, time in limit.admits(error, from: peer, at: time * 1_000) }
        #expect(admitted == [true, false, true, true, true, true], "the last clock was set back")
    }
}

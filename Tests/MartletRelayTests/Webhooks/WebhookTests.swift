// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletHTTPServer
import MartletOutbox
import MartletSimulator
import MartletTransport
import TestSupport
import Testing

@testable import MartletRelay

@Suite(.timeLimit(.minutes(10))) struct WebhookTests {
    /// The example of the specification of Standard Webhooks.
    @Test func `the signature of a report equals that of the specification`() throws {
        let webhook = try Webhook(url: "https://example.com/hook", secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        let report = WebhookReport(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
            body: Array(#"{"test": 2432232314}"#.utf8),
            time: 1_614_265_330
        )
        let fields = try report.fields(signedWith: webhook.secret)
        #expect(fields["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    @Test(arguments: [
        ("ftp://example.com", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
        ("http://example.com", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
        ("https://user:word@example.com", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
        ("https://", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
        ("https://example.com/a hook", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
        ("https://example.com/hook ", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
        ("https://exam%20ple.com/hook", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
        ("https://example.com", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
        ("https://example.com", "whsec_AAAA"),
    ])
    func `an invalid URL or secret is refused`(url: String, secret: String) {
        #expect(throws: RelayError.self) { try Webhook(url: url, secret: secret) }
    }

    @Test(arguments: [
        ("8.8.8.8", true), ("127.0.0.1", false), ("10.1.2.3", false), ("172.31.0.1", false), ("172.32.0.1", true),
        ("192.168.1.1", false), ("169.254.169.254", false), ("100.64.0.1", false), ("0.0.0.0", false),
        ("224.0.0.1", false), ("255.255.255.255", false), ("2606:4700::1111", true), ("::1", false), ("::", false),
        ("fd00::1", false), ("fe80::1", false), ("ff02::1", false), ("::ffff:127.0.0.1", false),
        ("::ffff:8.8.8.8", true), ("64:ff9b::10.0.0.1", false), ("2002:7f00:1::", false), ("2001:db8::1", false),
    ])
    func `private addresses are not public`(address: String, isPublic: Bool) throws {
        #expect(try #require(SocketAddress(literal: address, port: 443)).isPublic == isPublic)
    }

    @Test func `pauses grow until a call succeeds`() {
        var schedule = WebhookSchedule()
        var now: Int64 = 0
        var pauses: [Int64] = []
        for _ in 0..<14 {
            while !schedule.mayCall(at: now) { now += 1_000 }
            schedule.ended(succeeded: false, at: now)
            let start = now
            while !schedule.mayCall(at: now) { now += 1_000 }
            pauses.append(now - start)
            schedule.ended(succeeded: false, at: now)
        }
        #expect(pauses.first == 5_000 && pauses.last == 3_600_000 && pauses == pauses.sorted())
        while !schedule.mayCall(at: now) { now += 1_000 }
        schedule.ended(succeeded: true, at: now)
        let (first, second) = (schedule.mayCall(at: now), schedule.mayCall(at: now))
        #expect(first && !second, "one call at a time")
    }

    @Test(arguments: [
        ("https://10.0.0.5/hook", false, true), ("https://10.0.0.5/hook", true, false),
        ("https://[fd00::1]/hook", false, true), ("https://localhost/hook", false, true),
        ("https://example.com/hook", false, false), ("https://93.184.216.34/hook", false, false),
    ])
    func `a check warns of a webhook that may not be called`(url: String, allows: Bool, warns: Bool) throws {
        let file = try ConfigurationFile()
        var configuration = try RelayConfiguration(file: file.path)
        configuration.apps[0].webhook = try Webhook(
            url: url,
            secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            allowsPrivateAddresses: allows
        )
        #expect(configuration.warnings.contains { $0.contains("set allow-private") } == warns)
    }

    @Test func `a report of unregistered tokens can be repeated after a failure`() async throws {
        let calls = Calls()
        let server = try await HTTP1Listener(host: "127.0.0.1", port: 0, limits: HTTP1Listener.Limits()) { request in
            await calls.record(request)
        }
        let directory = "http://127.0.0.1:\(server.port)/hook?x=1"
        let webhook = try Webhook(
            url: directory,
            secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            allowsPrivateAddresses: true
        )
        let closed = try Webhook(
            url: "https://127.0.0.1:\(server.port)/",
            secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        )
        let loop = try EventLoop()
        let dead = UnregisteredToken(
            cursor: 3,
            token: try DeviceToken(hex: "dead00ff"),
            environment: .development,
            topic: "com.example.orders.voip",
            unregisteredAt: 1,
            reportedAt: 2,
            reason: "Unregistered"
        )
        let refusal = await #expect(throws: RelayError.self) {
            try await WebhookReport([dead], of: "orders", at: 5_000).send(to: webhook, on: loop)
        }
        #expect(refusal?.description == "the answer was status 500")
        try await WebhookReport([dead], of: "orders", at: 6_000).send(to: webhook, on: loop)
        await #expect(throws: RelayError.self) {
            try await WebhookReport([dead], of: "orders", at: 6_000).send(to: closed, on: loop)
        }
        let requests = await calls.requests
        #expect(requests.count == 2 && requests.allSatisfy { $0.target == "/hook?x=1" && $0.method == "POST" })
        #expect(
            requests.map { $0.fields["webhook-id"] } == [
                "unregistered-tokens.orders.3", "unregistered-tokens.orders.3",
            ]
        )
        let body = try JSONReader.read(requests[1].body)
        #expect(body["type"] == "tokens.unregistered" && body["data"]?["app"] == "orders")
        let found = body["data"]?["unregistered-tokens"]?.elements?.first
        #expect(found?["token"] == "dead00ff" && found?["environment"] == "development")
        #expect(found?["topic"] == "com.example.orders.voip")
        server.stop()
        loop.shutdown()
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffff\r\nxxxx", nil),
        ("HTTP/1.1 200 OK\r\n" + String(repeating: "x: y\r\n", count: 3_000), "more than 16 KB of header fields"),
        (String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 1_000), "more than 16 KB of interim responses"),
    ])
    func `an answer needs only its status, and endless fields have an error`(answer: String, error: String?)
        async throws
    {
        let server = try SilentServer()
        server.answerOnce(with: Array(answer.utf8))
        let webhook = try Webhook(
            url: "http://127.0.0.1:\(server.port)/hook",
            secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            allowsPrivateAddresses: true
        )
        let dead = UnregisteredToken(
            cursor: 1,
            token: try DeviceToken(hex: "dead00ff"),
            environment: .production,
            topic: "com.example.orders",
            unregisteredAt: 1,
            reportedAt: 2,
            reason: "Unregistered"
        )
        let loop = try EventLoop()
        var message: String?
        do {
            try await WebhookReport([dead], of: "orders", at: 5_000).send(to: webhook, on: loop)
        } catch {
            message = "\(error)"
        }
        #expect(
            (message == nil) == (error == nil) && (error.map { message?.contains($0) == true } ?? true),
            "\(message ?? "")"
        )
        loop.shutdown()
    }

    /// Refuses the first call, takes the others.
    private actor Calls {
        var requests: [HTTPRequest] = []

        func record(_ request: HTTPRequest) -> HTTP1Answer {
            requests.append(request)
            return .whole(HTTPResponse(status: requests.count == 1 ? 500 : 204))
        }
    }
}

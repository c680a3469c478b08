// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletSimulator
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct SimulatedAPNsTests {
    /// A simulator with a client that talks to it.
    private struct Bench {
        let apns: SimulatedAPNs
        let client: PushClient

        init(
            _ configuration: SimulatedAPNs.Configuration = .init(),
            checksBeforeSending: Bool = true
        ) async throws {
            apns = try await SimulatedAPNs.start(configuration)
            var settings = apns.clientConfiguration
            settings.checksBeforeSending = checksBeforeSending
            client = try PushClient(await apns.endpoint, authentication: .token(.ephemeral()), configuration: settings)
        }

        func stop() async {
            await client.close()
            await apns.stop()
        }
    }

    private let token: DeviceToken
    private let topic: Topic = "com.example.app"

    init() throws {
        token = try DeviceToken(hex: "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0")
    }

    @Test(.enabled(if: Loopback.hasIPv6)) func `both loopback addresses are served over TLS`() async throws {
        let apns = try await SimulatedAPNs.start()
        let port = await apns.port
        for host in ["127.0.0.1", "::1"] {
            let endpoint = APNsEndpoint(host: host, port: port)
            let client = try PushClient(
                endpoint,
                authentication: .token(.ephemeral()),
                configuration: apns.clientConfiguration
            )
            try await client.send(.alert("Hello"), to: token, topic: topic)
            await client.close()
        }
        #expect(await apns.pushCount == 2)
        await apns.stop()
    }

    #if os(Linux)
        // Each simulator has an address of its own, so that no other server of the tests gets its port.
        @Test func `a stopped simulator answers no request`() async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in UInt32(1)...200 {
                    group.addTask {
                        var configuration = SimulatedAPNs.Configuration(inboxPort: 0, isEncrypted: false)
                        configuration.host = "127.7.7.\(number)"
                        let apns = try await SimulatedAPNs.start(configuration)
                        let port = try #require(await apns.inboxPort)
                        await apns.stop()
                        // A program that another test starts meanwhile has the socket, too, until it has replaced the
                        // copy of this process.
                        guard let client = try? RawClient(port: port, at: 0x7F07_0700 + number) else { return }
                        client.send("GET /readyz HTTP/1.1\r\nhost: localhost\r\n\r\n")
                        let answer = await client.read()
                        #expect(answer == "")
                    }
                }
                try await group.waitForAll()
            }
        }
    #endif

    @Test func `an alert is accepted and stored`() async throws {
        let bench = try await Bench()
        let id = APNsID(randomBits: (1, 2))
        let receipt = try await bench.client.send(
            .alert(PushNotification.Alert(title: "Order ready", body: "Tap."), sound: .default, badge: 3, id: id),
            to: token,
            topic: topic
        )
        #expect(receipt.id == id)
        #expect(receipt.uniqueID != nil)
        let push = try #require(await bench.apns.pushes.first)
        #expect(push.deviceToken == token.hex && push.token == token)
        #expect(push.headers.topic == "com.example.app")
        #expect(push.headers.pushType == "alert")
        #expect(push.headers.priority == "10" && push.priority == .immediate)
        #expect(push.headers.id == id.description)
        #expect(
            String(decoding: push.payload, as: UTF8.self)
                == #"{"aps":{"alert":{"title":"Order ready","body":"Tap."},"badge":3,"sound":"default"}}"#
        )
        #expect(push.findings.isEmpty)
        await bench.stop()
    }

    @Test func `ten thousand concurrent pushes each get their own answer`() async throws {
        let bench = try await Bench()
        let wrong = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<UInt64(10_000) {
                group.addTask { [token, topic] in
                    let id = APNsID(randomBits: (number, number))
                    return try await bench.client.send(
                        .alert(PushNotification.Alert(body: "\(number)"), id: id),
                        to: token,
                        topic: topic
                    ).id != id
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(wrong == 0)
        #expect(await bench.apns.pushCount == 10_000)
        #expect(await bench.apns.pushes.count == 1_000)
        await bench.stop()
    }
}

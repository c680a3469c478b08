// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import MartletSimulator
import TestSupport
import Testing

/// Requests as curl sends them, with the answer that Apple's documentation gives to each.
@Suite(.serialized, .timeLimit(.minutes(10))) struct RequestEvaluatorTests {
    /// A request that differs from a valid one, with the answer of APNs.
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var path = "/3/device/5d3a6a1c8f9a42d6"
        var method = "POST"
        /// The age of the provider token when the request is sent, in seconds.
        var tokenAge: Int64
        var scheme: String
        /// Fields that replace those of the good request; nil leaves one out.
        var fields: [String: String?] = [:]
        var moreFields: [String] = []
        var payload = #"{"aps":{"alert":"Hello"}}"#
        var status: Int
        var reason: String?

        init(
            _ description: String,
            path: String = "/3/device/5d3a6a1c8f9a42d6",
            method: String = "POST",
            tokenAge: Int64 = 0,
            scheme: String = "bearer",
            fields: [String: String?] = [:],
            moreFields: [String] = [],
            payload: String = #"{"aps":{"alert":"Hello"}}"#,
            _ status: Int,
            _ reason: String? = nil
        ) {
            testDescription = description
            self.path = path
            self.method = method
            self.tokenAge = tokenAge
            self.scheme = scheme
            self.fields = fields
            self.moreFields = moreFields
            self.payload = payload
            self.status = status
            self.reason = reason
        }
    }

    /// A payload of exactly this many bytes.
    private static func payload(byteCount: Int) -> String {
        let frame = #"{"aps":{"alert":""}}"#
        return #"{"aps":{"alert":""# + String(repeating: "x", count: byteCount - frame.utf8.count) + #""}}"#
    }

    private static func token(_ age: Int64) -> String {
        guard let key = try? SigningKey.ephemeral(),
            let token = try? key.token(issuedAt: Date() - TimeInterval(age))
        else { return "no token" }
        return String(decoding: token, as: UTF8.self)
    }

    static let cases = [
        Case("a good push", 200),
        Case("a push without a type", fields: ["apns-push-type": nil], 200),
        Case("no token", fields: ["authorization": nil], 403, "MissingProviderToken"),
        Case("no JWT", fields: ["authorization": "bearer abc"], 403, "InvalidProviderToken"),
        Case("another scheme", fields: ["authorization": "basic abc"], 403, "InvalidProviderToken"),
        Case("the scheme in capitals", scheme: "Bearer", 200),
        Case("a token of 50 minutes", tokenAge: 50 * 60, 200),
        Case("a token of 61 minutes", tokenAge: 61 * 60, 403, "ExpiredProviderToken"),
        Case("a token from the future", tokenAge: -7_200, 403, "InvalidProviderToken"),
        Case("another path", path: "/2/device/5d3a6a1c", 404, "BadPath"),
        Case("the root", path: "/", 404, "BadPath"),
        Case("a path that only begins well", path: "/3/devices/5d3a6a1c", 404, "BadPath"),
        Case("no device", path: "/3/device/", 400, "MissingDeviceToken"),
        Case("a device of letters", path: "/3/device/martlet", 400, "BadDeviceToken"),
        Case("half a byte of device", path: "/3/device/5d3a6a1c8", 400, "BadDeviceToken"),
        Case("another method", method: "PUT", 405, "MethodNotAllowed"),
        Case("a header twice", moreFields: ["apns-priority: 10", "apns-priority: 5"], 400, "DuplicateHeaders"),
        Case("no topic", fields: ["apns-topic": nil], 400, "MissingTopic"),
        Case("an unknown type", fields: ["apns-push-type": "loud"], 400, "InvalidPushType"),
        Case("the wrong topic for the type", fields: ["apns-push-type": "voip"], 400, "TopicDisallowed"),
        Case("a priority of 7", fields: ["apns-priority": "7"], 400, "BadPriority"),
        Case("a priority of 05", fields: ["apns-priority": "05"], 400, "BadPriority"),
        Case("a priority of 1", fields: ["apns-priority": "1"], 200),
        Case("an expiration in words", fields: ["apns-expiration": "tomorrow"], 400, "BadExpirationDate"),
        Case("one attempt", fields: ["apns-expiration": "0"], 200),
        Case("an identifier that is none", fields: ["apns-id": "42"], 400, "BadMessageId"),
        Case("64 bytes of collapse id", fields: ["apns-collapse-id": String(repeating: "c", count: 64)], 200),
        Case(
            "65 bytes of collapse id",
            fields: ["apns-collapse-id": String(repeating: "c", count: 65)],
            400,
            "BadCollapseId"
        ),
        Case("no payload", payload: "", 400, "PayloadEmpty"),
        Case("4096 bytes", payload: payload(byteCount: 4_096), 200),
        Case("4097 bytes", payload: payload(byteCount: 4_097), 413, "PayloadTooLarge"),
        Case("40 000 bytes", payload: payload(byteCount: 40_000), 413, "PayloadTooLarge"),
        Case(
            "5120 bytes of VoIP",
            fields: ["apns-push-type": "voip", "apns-topic": "com.example.app.voip"],
            payload: payload(byteCount: 5_120),
            200
        ),
        Case("no JSON", payload: "{", 400, "BadRequestPayload"),
        Case("an array", payload: "[]", 400, "BadRequestPayload"),
        Case(
            "background in a hurry",
            fields: ["apns-push-type": "background", "apns-priority": "10"],
            payload: #"{"aps":{"content-available":1}}"#,
            400,
            "BadPriority"
        ),
        Case("a device that has gone", path: "/3/device/dead", 410, "Unregistered"),
        Case("a device of another app", path: "/3/device/0f1e", 400, "DeviceTokenNotForTopic"),
        Case("a device of the other environment", path: "/3/device/a1b2", 400, "BadDeviceToken"),
    ]

    @Test(arguments: cases) func `a request has the status and reason of APNs`(_ test: Case) async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
        await apns.unregister(try DeviceToken(hex: "dead"), since: Date(timeIntervalSince1970: 1_790_000_000.123))
        await apns.register(try DeviceToken(hex: "0f1e"), for: ["com.example.other"])
        await apns.register(try DeviceToken(hex: "a1b2"), for: ["com.example.app"], in: .production)

        var fields: [String: String?] = [
            "authorization": "\(test.scheme) \(Self.token(test.tokenAge))",
            "apns-topic": "com.example.app", "apns-push-type": "alert", "content-type": nil,
        ]
        fields.merge(test.fields) { $1 }
        let scratch = try ScratchDirectory()
        let run = try await ProgramRun.curl(
            [
                "--http2-prior-knowledge", "--request", test.method, "--include",
                "--data-binary", "@" + scratch.write(test.payload, to: "payload.json"),
            ]
                + (fields.map { "\($0): \($1 ?? "")" } + test.moreFields).flatMap { ["-H", $0] }
                + ["http://127.0.0.1:\(await apns.port)" + test.path]
        )
        let answer = run.text.split(separator: "\r\n", omittingEmptySubsequences: false).map(String.init)
        #expect(answer.first == "HTTP/2 \(test.status) ", "\(run.text) \(run.errorOutput)")
        #expect(answer.contains { $0.hasPrefix("apns-id: ") })
        let body = answer.last ?? ""
        switch (test.reason, test.status) {
        case (let reason?, 410): #expect(body == #"{"reason":"\#(reason)","timestamp":1790000000123}"#)
        case (let reason?, _): #expect(body == #"{"reason":"\#(reason)"}"#)
        case (nil, _): #expect(body.isEmpty)
        }
        let kept = await apns.pushes.map { "\($0.status) \($0.reason?.rawValue ?? "")" }
        #expect(kept == ["\(test.status) \(test.reason ?? "")"])
        let push = try #require(await apns.pushes.first)
        #expect(push.reason == nil || push.findings.contains { $0.reason == push.reason }, "a refusal is explained")
        await apns.stop()
    }

    @Test func `a HEAD request is answered without a body`() async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
        let port = await apns.port
        let run = try await ProgramRun.curl([
            "--http2-prior-knowledge", "--head", "http://127.0.0.1:\(port)/3/device/5d3a6a1c",
        ])
        #expect(run.status == 0, "\(run.errorOutput)")
        #expect(run.text.hasPrefix("HTTP/2 405 ") && !run.text.contains("reason"), "\(run.text)")
        await apns.stop()
    }

    /// aioapns waits for the identifier that it has sent, letter by letter.
    @Test func `an upper-case identifier is answered as it was sent`() async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
        let port = await apns.port
        let run = try await ProgramRun.curl([
            "--http2-prior-knowledge", "--include", "-H", "authorization: bearer \(Self.token(0))",
            "-H", "apns-topic: com.example.app", "-H", "apns-push-type: alert",
            "-H", "apns-id: 123E4567-E89B-12D3-A456-4266554400A0", "--data", #"{"aps":{"alert":"Hi"}}"#,
            "http://127.0.0.1:\(port)/3/device/5d3a6a1c",
        ])
        #expect(run.text.hasPrefix("HTTP/2 200 "), "\(run.text) \(run.errorOutput)")
        #expect(run.text.contains("apns-id: 123E4567-E89B-12D3-A456-4266554400A0\r\n"), "\(run.text)")
        #expect(await apns.pushes.first?.id == "123E4567-E89B-12D3-A456-4266554400A0")
        #expect(await apns.pushes.first?.findings.map(\.rule) == ["id-upper-case"])
        await apns.stop()
    }

    @Test func `with a registered key, tokens of other keys are refused`() async throws {
        let apns = try await SimulatedAPNs.start()
        let key = try SigningKey.ephemeral(keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
        let impostor = try SigningKey.ephemeral(keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
        let stranger = try SigningKey.ephemeral(keyID: "ZZZ999ZZZZ", teamID: "DEF123GHIJ")
        try await apns.register(key)
        let token = try DeviceToken(hex: "5d3a6a1c")
        for (key, reason) in [
            (key, nil), (impostor, APNsReason.invalidProviderToken), (stranger, .invalidProviderToken),
        ] {
            let client = try PushClient(
                await apns.endpoint,
                authentication: .token(key),
                configuration: apns.clientConfiguration
            )
            do throws(APNsError) {
                try await client.send(.alert("Hello"), to: token, topic: "com.example.app")
                #expect(reason == nil)
            } catch {
                #expect(error.reason == reason, "\(error.code) \(error)")
            }
            await client.close()
        }
        await apns.stop()
    }

    @Test(arguments: [SimulatedAPNs.Environment.development, .production])
    func `only the development environment gives a unique identifier`(
        environment: SimulatedAPNs.Environment
    ) async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(environment: environment))
        let client = try PushClient(
            await apns.endpoint,
            authentication: .token(.ephemeral()),
            configuration: apns.clientConfiguration
        )
        let receipt = try await client.send(
            .alert("Hello"),
            to: DeviceToken(hex: "5d3a6a1c"),
            topic: "com.example.app"
        )
        #expect((receipt.uniqueID != nil) == (environment == .development))
        await client.close()
        await apns.stop()
    }
}

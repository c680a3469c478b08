// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletServer
import MartletTransport
import Testing

@testable import MartletSimulator

/// Pushes whose payload is longer than what the simulator stores.
@Suite struct TruncatedPayloadTests {
    private static let kept = 16_384

    private static func push(contentLength: String?, isBroadcast: Bool) -> ReceivedPush {
        var fields = HTTPFields()
        let path = isBroadcast ? "/4/broadcasts/apps/com.example.app" : "/3/device/5d3a"
        let all = [
            (":method", "POST"), (":path", path), ("apns-push-type", isBroadcast ? "liveactivity" : "alert"),
            ("apns-topic", "com.example.app"), ("apns-channel-id", "YQ=="), ("apns-priority", "10"),
            ("apns-expiration", "0"),
        ]
        for (name, value) in all { fields.append(name, value) }
        if let contentLength { fields.append("content-length", contentLength) }
        let body = Array((#"{"aps":{"alert":""# + String(repeating: "x", count: kept)).utf8.prefix(kept))
        return ReceivedPush(
            APNsRequest(fields, body: body, isBodyTooLong: true),
            number: 1,
            answeredWith: .refused(.payloadTooLarge),
            id: "",
            fault: nil,
            in: nil,
            over: 1,
            at: 0
        )
    }

    @Test(arguments: [
        ("20000", false, "the payload has 20000 bytes, 15904 more than the 4096 allowed; APNs refuses the push"),
        (nil, false, "the payload has at least 16385 bytes; the maximum is 4096; APNs refuses the push"),
        ("7", false, "the payload has at least 16385 bytes; the maximum is 4096; APNs refuses the push"),
        ("20000", true, "the payload has 20000 bytes, 14880 more than the 5120 allowed; APNs refuses the push"),
        (nil, true, "the payload has at least 16385 bytes; the maximum is 5120; APNs refuses the push"),
    ])
    func `the size is the only finding, also after a restart`(
        contentLength: String?,
        isBroadcast: Bool,
        message: String
    ) throws {
        let push = Self.push(contentLength: contentLength, isBroadcast: isBroadcast)
        #expect(push.findings.map(\.message) == [message])
        #expect(try ReceivedPush(record: push.record).findings.map(\.message) == [message])
    }
}

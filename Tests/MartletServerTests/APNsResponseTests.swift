// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletTransport
import Testing

@testable import MartletServer

@Suite struct APNsResponseTests {
    @Test func `a refusal has its reason and its time as JSON`() {
        let response = APNsResponse(
            status: 410,
            reason: .unregistered,
            timestamp: 1_790_000_000_000,
            fields: [(name: "apns-id", value: "x")]
        ).http
        #expect(response.status == 410 && response.fields["apns-id"] == "x")
        #expect(response.fields["content-type"] == "application/json")
        let body = String(decoding: response.body, as: UTF8.self)
        #expect(body == #"{"reason":"Unregistered","timestamp":1790000000000}"#)
    }

    @Test func `an accepted push has no body`() {
        let response = APNsResponse(status: 200, fields: [(name: "apns-id", value: "x")]).http
        #expect(response.status == 200 && response.body.isEmpty && response.fields["content-type"] == nil)
    }
}

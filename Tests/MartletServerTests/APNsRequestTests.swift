// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletServer
import MartletTransport
import Testing

@Suite struct APNsRequestTests {
    private static let broadcast = "/4/broadcasts/apps/com.example.app"

    private func target(_ path: String) -> APNsRequest.Target? {
        APNsRequest([":method": "POST", ":path": path], body: []).target
    }

    // MARK: Parsing

    @Test func `each path of APNs has its target`() {
        #expect(target("/3/device/5d3a") == .device("5d3a"))
        #expect(target("/3/device/") == .device("") && target("/3/device") == .device(""))
        #expect(target(Self.broadcast) == .broadcast(app: "com.example.app"))
        #expect(target("/1/apps/com.example.app/channels") == .channels(app: "com.example.app"))
        #expect(target("/1/apps/com.example.app/all-channels") == .allChannels(app: "com.example.app"))
    }

    @Test(arguments: [
        "", "/", "3/device/5d3a", "/3/devices/5d3a", "/3/device/5d3a/x", "/4/broadcasts/apps/", "/1/apps//channels",
        "/1/apps/com.example.app", "/1/apps/com.example.app/channels/x",
    ])
    func `a request to another path is kept whole`(path: String) {
        let request = APNsRequest([":method": "POST", ":path": path], body: [1, 2])
        #expect(request.target == nil && request.other?.body == [1, 2])
    }

    @Test func `the fields of a request are its members`() {
        let fields: HTTPFields = [
            ":method": "POST", ":path": Self.broadcast, "apns-topic": "com.example.app", "apns-priority": "5",
            "apns-channel-id": "dHN0", "apns-request-id": "1", "authorization": "bearer x", "prefer": "respond-async",
            "x-martlet-namespace": "checkout", "content-encoding": "gzip",
        ]
        let request = APNsRequest(fields, body: [])
        #expect(request.method == "POST" && request.other == nil && request.duplicatedField == nil)
        #expect(request.headers.topic == "com.example.app" && request.headers.priority == "5")
        #expect(request.channelID == "dHN0" && request.requestID == "1" && request.authorization == "bearer x")
        #expect(request.prefersAsync && request.namespace == "checkout" && request.contentEncoding == "gzip")
    }

    @Test func `the first repeated field of APNs is named`() {
        var fields: HTTPFields = [":path": "/3/device/5d3a", "apns-topic": "a", "accept": "b", "authorization": "c"]
        for name in ["accept", "authorization", "apns-topic"] { fields.append(name, "x") }
        #expect(APNsRequest(fields, body: []).duplicatedField == "apns-topic")
    }

    @Test func `only a truncated body has a declared size`() {
        let fields: HTTPFields = [":path": "/3/device/5d3a", "content-length": "5000"]
        #expect(APNsRequest(fields, body: [], isBodyTooLong: true).declaredBodyByteCount == 5_000)
        #expect(APNsRequest(fields, body: []).declaredBodyByteCount == nil)
    }

    // MARK: Rules

    @Test func `a path refuses other methods with the reason of APNs`() throws {
        let device = try #require(target("/3/device/5d3a"))
        #expect(device.reason(forMethod: "POST") == nil && device.reason(forMethod: "PUT") == .methodNotAllowed)
        let channels = try #require(target("/1/apps/com.example.app/channels"))
        #expect(channels.reason(forMethod: "DELETE") == nil && channels.reason(forMethod: "PUT") == .badPath)
        let broadcasts = try #require(target(Self.broadcast))
        #expect(broadcasts.reason(forMethod: "POST") == nil && broadcasts.reason(forMethod: "GET") == .badPath)
    }

    @Test func `a repeated field has the reason of its path`() throws {
        let device = try #require(target("/3/device/5d3a"))
        #expect(device.reason(forRepeated: "apns-priority") == .duplicateHeaders)
        let broadcasts = try #require(target(Self.broadcast))
        #expect(broadcasts.reason(forRepeated: "apns-priority") == .badPriority)
        #expect(broadcasts.reason(forRepeated: "authorization") == .invalidProviderToken)
        #expect(broadcasts.reason(forRepeated: "apns-topic") == nil)
    }

    @Test(arguments: [
        ("", false), (" ", false), ("bearer", false), ("Bearer ", false), ("x", true), ("bearer x", true),
    ])
    func `a credential is more than the name of its scheme`(authorization: String, hasCredential: Bool) {
        #expect(APNsRequest.hasCredential(authorization) == hasCredential)
    }

    @Test(arguments: [
        ("/3/device/5d3a", "1", false), (broadcast, "1", true), (broadcast, "", true),
        (broadcast, "9A8E0F6C-1B2C-4D3E-8F90-123456789ABC", false), ("/4/nothing", "1", true),
        ("/5/nothing", "1", false),
    ])
    func `the request identifier of a broadcast is a UUID`(path: String, id: String, isMalformed: Bool) {
        let fields: HTTPFields = [":method": "POST", ":path": path, "apns-request-id": id]
        #expect(APNsRequest(fields, body: []).hasMalformedRequestID == isMalformed)
    }

    @Test(arguments: ["9A8E0F6C-1B2C-4D3E-8F90-123456789ABC", "9a8e0f6c-1b2c-4d3e-8f90-123456789abc"])
    func `an identifier is returned unchanged`(id: String) {
        #expect(APNsRequest.returnedID(id) == id)
    }

    @Test(arguments: [nil, "", "9A8E0F6C", "9a8e0f6c-1b2c-4d3e-8f90-123456789abc ", "a\r\nx: y", "<script>"])
    func `a missing or malformed identifier is not returned`(id: String?) {
        #expect(APNsRequest.returnedID(id) == nil)
    }
}

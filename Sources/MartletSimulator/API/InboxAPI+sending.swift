// SPDX-License-Identifier: Apache-2.0

internal import Martlet
internal import MartletCore
internal import MartletHTTPServer
internal import MartletServer
internal import MartletTransport

extension InboxAPI {
    /// The routes that receive a push over the HTTP interface and send one on to a real device.
    static let sendingRoutes: [Route] = [
        Route(
            "POST",
            "/api/v1/pushes",
            "Send a push to the simulator: device-token, or app and channel; headers, payload"
        ) { (call) throws(APIProblem) in
            let body = try call.object(of: [
                "device-token", "app", "channel", "headers", "payload", "payload-text", "payload-base64",
            ])
            let payload = try ReceivedPush.payload(in: body)
            let request = APNsRequest(composed: try fields(of: body), payload)
            let push = await call.simulator.service.receive(composed: request)
            let note = await call.simulator.service.plan.note(onComposed: push)
            return .json(.object((push.json.members ?? []) + note))
        },
        Route(
            "POST",
            "/api/v1/pushes/{number}/release",
            "Send a push on to a real device, if the simulator was started with --allow-release"
        ) { (call) throws(APIProblem) in
            guard let release = call.simulator.configuration.release else {
                throw APIProblem(403, "sending pushes on is disabled: start the simulator with --allow-release")
            }
            return try await answer(to: try await push(call), releasedWith: release, call.simulator)
        },
    ]

    private static let pushFields = [
        "apns-push-type", "apns-id", "apns-expiration", "apns-priority", "apns-topic", "apns-collapse-id",
    ]

    /// Returns the header fields of the push that a request body describes.
    private static func fields(of body: APIField) throws(APIProblem) -> HTTPFields {
        let token = try body["device-token"].ifPresent?.text()
        let app = try body["app"].ifPresent?.text()
        guard (token == nil) != (app == nil) else {
            throw APIProblem(400, "device-token is missing: a push needs device-token, or app and channel")
        }
        let path = token.map { "/3/device/\($0)" } ?? "/4/broadcasts/apps/\(app ?? "")"
        var fields: HTTPFields = [":method": "POST", ":path": path]
        if let channel = try body["channel"].ifPresent?.text() { fields.append("apns-channel-id", channel) }
        for member in body["headers"].value?.members ?? [] {
            guard pushFields.contains(member.name), let text = member.value.stringValue else {
                throw APIProblem(400, "headers must be strings with these names: " + pushFields.joined(separator: ", "))
            }
            fields.append(member.name, text)
        }
        return fields
    }

    /// Sends a push on to APNs and returns the answer with the result.
    private static func answer(
        to push: ReceivedPush,
        releasedWith release: SimulatedAPNs.Release,
        _ simulator: SimulatedAPNs
    ) async throws(APIProblem) -> HTTP1Answer {
        guard push.app == nil else {
            throw APIProblem(403, "broadcasts cannot be sent on, because they reach all subscribers")
        }
        guard let token = push.token, release.deviceTokens.contains(token) else {
            throw APIProblem(403, "the device token of the push must be one of those given with --release-to")
        }
        guard let notification = PushNotification(sendingOn: push), let topic = push.headers.topic else {
            throw APIProblem(409, "the headers of the push are not valid in a request to APNs")
        }
        let inbox = simulator.inbox
        do throws(APNsError) {
            let receipt = try await release.client.send(notification, to: token, topic: Topic(topic))
            await inbox.recordRelease(of: push.number, "to \(release.destination), answered 200")
            return .json(["status": 200, "apns-id": .string(receipt.id.description)])
        } catch {
            let reason = error.reason?.rawValue
            let answer = error.status.map { ", answered \($0) \(reason ?? "")" } ?? ": \(error)"
            await inbox.recordRelease(of: push.number, "to \(release.destination)\(answer)")
            guard let status = error.status else { throw APIProblem(502, "\(error)") }
            return .json(.members(["status": .integer(status), "reason": reason.map(JSONValue.string)]))
        }
    }
}

extension SimulatedAPNs.Release {
    /// The settings that a page needs before it offers to send pushes on.
    var json: JSONValue {
        [
            "destination": .string(destination), "environment": .string(environment.rawValue),
            "device-tokens": .strings(deviceTokens.map(\.hex).sorted()),
        ]
    }
}

extension FaultPlan {
    /// Returns the note on an accepted push whose device token selects a fault of connections, which a push over the
    /// HTTP interface does not have; none for other pushes.
    fileprivate func note(onComposed push: ReceivedPush) -> [JSONValue.Member] {
        guard push.status == 200, usesTokenSuffixes, let action = FaultPlan.suffixAction(push.deviceToken) else {
            return []
        }
        let suffix = FaultInjection(action: action, ofSuffixIn: push.deviceToken).description
        return [.init("note", .string("\(suffix) (\(action.name)) affects only pushes of clients over HTTP/2"))]
    }
}

extension APNsRequest {
    /// Creates the request of a push that was sent over the HTTP interface, as if it had come over HTTP/2.
    init(composed fields: HTTPFields, _ payload: [UInt8]) {
        let limit = APNsListener.Limits().bodyBytes
        self.init(fields, body: Array(payload.prefix(limit)), isBodyTooLong: payload.count > limit)
        if isBodyTooLong { declaredBodyByteCount = payload.count }
    }
}

extension PushNotification {
    /// Creates a push to send on from a received one; nil when its headers have values that no client can send.
    fileprivate init?(sendingOn push: ReceivedPush) {
        let headers = push.headers
        let priority = push.priority
        let expiration = headers.expiration.flatMap { Int64($0) }.map(Expiration.init(secondsSince1970:))
        let collapseID = headers.collapseID.flatMap(CollapseID.init(rawValue:))
        guard (priority == nil) == (headers.priority == nil), (expiration == nil) == (headers.expiration == nil),
            (collapseID == nil) == (headers.collapseID == nil)
        else { return nil }
        self = .opaque(
            push.payload,
            pushType: headers.pushType.map(PushType.init(rawValue:)),
            priority: priority,
            expiration: expiration,
            collapseID: collapseID
        )
    }
}

// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletServer

/// The answers of APNs to broadcasts and to requests about channels ("Handling error responses from APNs").
extension ChannelRegistry {
    /// Returns the answer to a broadcast whose sender is authorized.
    func answer(onBroadcast request: APNsRequest, to app: String) -> RequestEvaluator.Answer {
        let headers = request.headers
        if let reason = PushLint.firstRefusal(broadcastTo: app, channel: request.channelID, headers: headers) {
            return .refused(reason)
        }
        guard let channel = request.channelID, let storage = storage(of: channel, in: app) else {
            return .refused(.channelNotRegistered)
        }
        // Without storage, a broadcast cannot be delivered later, so only 0 is allowed.
        if storage == .nothing, let expiration = headers.expiration, Int64(expiration) != 0 {
            let text = "apns-expiration must be 0 for a channel that stores nothing (found \(expiration))"
            let place = PushLint.Place.header("apns-expiration")
            return .refused(Refusal(.badExpirationDate, .broadcastExpirationNotStored, place, text))
        }
        return PushLint.firstRefusal(broadcastPayload: request.body).map { .refused($0) } ?? .accepted
    }

    /// Returns the answer to a request about channels whose sender is authorized to manage them.
    mutating func answer(
        to request: APNsRequest,
        about app: String,
        using generator: inout some RandomNumberGenerator
    ) -> RequestEvaluator.Answer {
        let isList = if case .allChannels? = request.target { true } else { false }
        let needsChannel = !isList && request.method != "POST"
        if let reason = PushLint.firstRefusal(app: app, channel: request.channelID, needsChannel: needsChannel) {
            return .refused(reason)
        }
        if isList {
            let list = all(of: app).map { JSONValue.string($0.rawValue) }
            return RequestEvaluator.Answer(status: 200, body: ["channels": .array(list)])
        }
        if request.method == "POST" { return create(request.body, for: app, using: &generator) }
        guard let channel = request.channelID, let storage = storage(of: channel, in: app) else {
            return .refused(.channelNotRegistered)
        }
        guard request.method == "DELETE" else {
            let policy = JSONValue.integer(storage.rawValue)
            return RequestEvaluator.Answer(
                status: 200,
                body: ["message-storage-policy": policy, "push-type": "LiveActivity"]
            )
        }
        delete(channel, in: app)
        return RequestEvaluator.Answer(status: 204)
    }

    private mutating func create(
        _ body: [UInt8],
        for app: String,
        using generator: inout some RandomNumberGenerator
    ) -> RequestEvaluator.Answer {
        guard let members = (try? JSONReader.read(body))?.members else { return .refused(.badRequestPayload) }
        let known = ["message-storage-policy", "push-type"]
        guard members.allSatisfy({ known.contains($0.name) }) else { return .refused(.badRequestParams) }
        let value = JSONValue.object(members)
        let type = value["push-type"].map { $0.stringValue ?? "" }
        if let reason = PushLint.broadcastTypeRefusal(type) { return .refused(reason) }
        guard let policy = value["message-storage-policy"]?.integerValue,
            let storage = ChannelStorage(rawValue: Int(clamping: policy))
        else { return .refused(.badRequestParams) }
        guard let channel = create(for: app, storing: storage, using: &generator) else {
            return .refused(.cannotCreateChannelConfig)
        }
        return RequestEvaluator.Answer(status: 201, channel: channel)
    }
}

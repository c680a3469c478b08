internal import Martlet
internal import MartletCore
internal import MartletHTTPServer
internal import MartletTransport

extension InboxAPI {
    /// The routes of channels, which clients also manage at the port for channels.
    static let channelRoutes: [Route] = [
        Route(method: "GET", path: "/api/v1/channels", summary: "List the channels of all apps with their subscribers")
        { call in
            let judge = await call.simulator.service.judge
            let channels = judge.channels.allChannels.map { app, channel, storage -> JSONValue in
                let subscribers = judge.devices.subscribers(of: channel)
                return [
                    "app": .string(app), "channel": .string(channel.rawValue),
                    "message-storage-policy": .number(JSONNumber(storage.rawValue)),
                    "subscriber-count": .number(JSONNumber(subscribers.count)),
                    "subscribers": .array(subscribers.sorted().prefix(subscriberLimit).map(JSONValue.string)),
                ]
            }
            return .json(["channels": .array(channels)])
        },
        Route(method: "POST", path: "/api/v1/channels", summary: "Create a channel: app, message-storage-policy") {
            (call) throws(APIProblem) in
            let body = try call.object(of: ["app", "message-storage-policy"])
            guard let app = try body.text("app"), !app.isEmpty else { throw APIProblem(400, "app is missing") }
            let policy = try body.number("message-storage-policy", 0...1) ?? 0
            guard let storage = ChannelStorage(rawValue: policy),
                let channel = await call.simulator.service.createChannel(for: app, storing: storage)
            else { throw APIProblem(409, "\(app) has the maximum number of channels: delete some first") }
            return .json(
                [
                    "app": .string(app), "channel": .string(channel.rawValue),
                    "message-storage-policy": .number(JSONNumber(policy)),
                ],
                status: 201
            )
        },
        Route(
            method: "DELETE",
            path: "/api/v1/channels",
            summary: "Delete a channel and its subscriptions",
            parameters: [
                RouteParameter(name: "app", summary: "The app's bundle identifier"),
                RouteParameter(name: "channel", summary: "The channel's identifier"),
            ],
            answers: [RouteAnswer(204, "Done", type: nil)]
        ) { (call) throws(APIProblem) in
            let app = call.text("app") ?? ""
            let channel = ChannelID(call.text("channel") ?? "")
            guard await call.simulator.service.deleteChannel(channel, of: app) else {
                throw APIProblem(404, "\(app) has no channel \(channel)")
            }
            return .done
        },
    ]

    private static let subscriberLimit = 100
}

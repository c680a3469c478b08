// SPDX-License-Identifier: Apache-2.0

internal import Martlet
internal import MartletCore
internal import MartletHTTPServer
internal import MartletTransport

extension InboxAPI {
    /// The routes of channels, which clients also manage at the port for channels.
    static let channelRoutes: [Route] = [
        Route("GET", "/api/v1/channels", "List the channels of all apps with their subscribers") { call in
            let evaluator = await call.simulator.service.evaluator
            var broadcasts: [String: [ChannelID: ReceivedPush]] = [:]
            for push in await call.simulator.inbox.pushes where push.status == 200 {
                guard let app = push.app, let channel = push.channel else { continue }
                broadcasts[app, default: [:]][channel] = push
            }
            let channels = evaluator.channels.allChannels.map { app, channel, storage -> JSONValue in
                let subscribers = evaluator.devices.subscriptions.tokens(of: channel)
                let last = broadcasts[app]?[channel]
                return .members([
                    "app": .string(app), "channel": .string(channel.rawValue),
                    "message-storage-policy": .integer(storage.rawValue),
                    "subscriber-count": .integer(subscribers.count),
                    "subscribers": .strings(subscribers.sorted().prefix(subscriberLimit)),
                    "last-broadcast": last.map { ["number": .integer($0.number), "time-ms": .integer($0.time)] },
                ])
            }
            return .json(["channels": .array(channels)])
        },
        Route("POST", "/api/v1/channels", "Create a channel: app, message-storage-policy") {
            (call) throws(APIProblem) in
            let body = try call.object(of: ["app", "message-storage-policy"])
            let app = try body["app"].nonemptyText()
            let policy = try body["message-storage-policy"].ifPresent?.integer(in: 0...1) ?? 0
            guard let storage = ChannelStorage(rawValue: policy),
                let channel = await call.simulator.service.createChannel(for: app, storing: storage)
            else { throw APIProblem(409, "\(ShownValue(app)) has the maximum number of channels: delete some first") }
            let channelID = JSONValue.string(channel.rawValue)
            return .json(
                ["app": .string(app), "channel": channelID, "message-storage-policy": .integer(policy)],
                status: 201
            )
        },
        Route.action(
            "DELETE",
            "/api/v1/channels",
            "Delete a channel and its subscriptions",
            [
                RouteParameter(name: "app", summary: "The app's bundle identifier"),
                RouteParameter(name: "channel", summary: "The channel's identifier"),
            ]
        ) { (call) throws(APIProblem) in
            let (app, channel) = (call.text("app") ?? "", ChannelID(call.text("channel") ?? ""))
            guard await call.simulator.service.deleteChannel(channel, of: app) else {
                throw .missing("\(ShownValue(app)) has no channel with this identifier")
            }
        },
    ]

    private static let subscriberLimit = 100
}

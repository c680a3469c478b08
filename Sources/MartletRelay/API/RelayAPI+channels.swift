// SPDX-License-Identifier: Apache-2.0

internal import Martlet
internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox
internal import MartletTransport

extension RelayAPI {
    private static let places = [
        RouteParameter(
            name: "environment",
            summary: "Apple's environment; the app's first by default",
            schema: ["enum": ["production", "development"]]
        ),
        RouteParameter(name: "bundle-id", summary: "The app's first by default"),
    ]
    private static let problems = [404, 429, 502, 503]

    /// Routes for broadcast channels, which Apple stores: every request is forwarded to Apple immediately.
    static let channelRoutes: [Route] = [
        Route(
            method: "GET",
            path: "/v1/apps/{app}/channels",
            summary: "The broadcast channels of an app",
            access: .scope("read", audit: nil),
            parameters: places,
            answers: [RouteAnswer(200, "The channels", .schema("Channels"))],
            problems: problems
        ) { (call) throws(APIProblem) in
            let channels = try await channels(call)
            let all = try await appleCall(await channels.list())
            return .json(["channels": .array(all.map { .string($0.rawValue) })])
        },
        Route(
            method: "POST",
            path: "/v1/apps/{app}/channels",
            summary: "Creates a channel; message-storage-policy is 0 to store nothing and 1 for the most recent push",
            access: .scope("manage", audit: "create-channel"),
            parameters: places,
            body: RouteBody(
                [
                    "type": "object", "additionalProperties": false,
                    "properties": ["message-storage-policy": ["enum": [0, 1], "default": 0]],
                ],
                isRequired: false
            ),
            answers: [RouteAnswer(201, "The channel", object("channel", "string"))],
            problems: problems
        ) { (call) throws(APIProblem) in
            let channels = try await channels(call)
            let storage = try storage(call)
            let channel = try await appleCall(await channels.create(storing: storage))
            return .json(["channel": .string(channel.rawValue)], status: 201)
        },
        Route(
            method: "DELETE",
            path: "/v1/apps/{app}/channels",
            summary: "Deletes a channel",
            access: .scope("manage", audit: "delete-channel"),
            parameters: places + [
                RouteParameter(
                    name: "channel",
                    summary: "The channel, percent-encoded",
                    schema: ["type": "string", "minLength": 1],
                    isRequired: true
                )
            ],
            answers: [RouteAnswer(204, "The channel is deleted", type: nil)],
            problems: problems
        ) { (call) throws(APIProblem) in
            let channels = try await channels(call)
            guard let channel = call.text("channel"), !channel.isEmpty else {
                throw APIProblem(400, "channel is missing")
            }
            try await appleCall(await channels.delete(ChannelID(channel)))
            return .done
        },
    ]

    private static func channels(_ call: Call) async throws(APIProblem) -> PushClient.Channels {
        let name = try call.app()
        let environment = try call.text("environment").map { (text) throws(APIProblem) in
            guard let environment = PushEnvironment(rawValue: text) else {
                let found = ShownValue.quoted(text)
                throw APIProblem(400, "environment must be production or development (found \(found))")
            }
            return environment
        }
        let dispatcher = call.parts.dispatcher
        let configuration = await dispatcher.context.configuration
        let clients = await dispatcher.clients
        return try clients.channels(of: name, environment, bundleID: call.text("bundle-id"), in: configuration)
    }

    private static func storage(_ call: Call) throws(APIProblem) -> ChannelStorage {
        guard !call.body.isEmpty else { return .nothing }
        let name = "message-storage-policy"
        return try call.object(of: [name])[name].ifPresent?.integer(in: 0...1) == 1 ? .mostRecent : .nothing
    }

    /// Returns Apple's answer, or throws the reason for its failure.
    private static func appleCall<Value>(
        _ body: @autoclosure () async throws(APNsError) -> Value
    ) async throws(APIProblem) -> Value {
        do throws(APNsError) {
            return try await body()
        } catch {
            throw APIProblem(error.outcome == .answered ? error.status ?? 502 : 502, "\(error)")
        }
    }
}

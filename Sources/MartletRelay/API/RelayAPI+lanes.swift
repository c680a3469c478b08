// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox
internal import MartletTransport

extension RelayAPI {
    private static let environment = RouteParameter(
        .path,
        name: "environment",
        summary: "Apple's environment",
        schema: ["enum": ["production", "development"]]
    )

    /// Routes for lanes: each is an app in one of Apple's environments.
    static let laneRoutes: [Route] = [
        Route(
            method: "POST",
            path: "/v1/apps/{app}/lanes/{environment}/pause",
            summary: "Stops sending the pushes of a lane; further ones are still accepted and stored",
            access: .scope("manage", audit: "pause"),
            parameters: [environment],
            answers: [RouteAnswer(200, "The lane is paused", .schema("ManualPause"))],
            problems: [404, 503]
        ) { (call) throws(APIProblem) in
            let lane = try await lane(of: call)
            let pause = try await call.parts.change(
                await call.parts.dispatcher.pause(lane, by: call.caller.name),
                remedy: pausesRemedy
            )
            await call.parts.monitor.postHealth()
            return .json(pause.json)
        },
        Route(
            method: "POST",
            path: "/v1/apps/{app}/lanes/{environment}/resume",
            summary: "Sends the pushes of a paused lane again",
            access: .scope("manage", audit: "resume"),
            parameters: [environment],
            answers: [RouteAnswer(200, "The lane is not paused any more, or was not", object("resumed", "boolean"))],
            problems: [404, 503]
        ) { (call) throws(APIProblem) in
            let lane = try await lane(of: call)
            let wasPaused = try await call.parts.change(
                await call.parts.dispatcher.resume(lane),
                remedy: pausesRemedy
            )
            await call.parts.monitor.postHealth()
            return .json(["resumed": .bool(wasPaused)])
        },
        Route(
            method: "POST",
            path: "/v1/apps/{app}/lanes/{environment}/purge",
            summary: "Cancels the waiting pushes of a lane, scheduled ones too, until the client closes the connection",
            access: .scope("manage", audit: "purge"),
            parameters: [environment],
            answers: [RouteAnswer(200, "The number of cancelled pushes", object("purged", "integer"))],
            problems: [404, 503]
        ) { (call) throws(APIProblem) in
            let lane = try await lane(of: call)
            let count = try await outboxCall(await call.parts.dispatcher.purge(lane))
            return .json(["purged": .whole(count)])
        },
    ]

    private static let pausesRemedy = "GET /v1/status shows the paused lanes"

    /// Returns the lane in the path, which the caller must be permitted to manage.
    private static func lane(of call: Call) async throws(APIProblem) -> Lane {
        let app = try call.app()
        let name = call.arguments["environment"] ?? ""
        let lanes = await call.parts.monitor.lanes(of: [app])
        guard let lane = lanes.first(where: { $0.environment.rawValue == name }) else {
            let known = lanes.map(\.environment.rawValue).joined(separator: ", ")
            throw APIProblem(404, "\(app) has no lane \(ShownValue(name)); known: \(known.isEmpty ? "none" : known)")
        }
        return lane
    }
}

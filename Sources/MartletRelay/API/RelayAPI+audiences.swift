// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox
internal import MartletTransport

extension RelayAPI {
    /// The route that counts the installations of an audience.
    static let audienceRoutes: [Route] = [
        Route(
            method: "POST",
            path: "/v1/apps/{app}/audiences/count",
            summary: "Counts the installations that match an expression, and those that a push would reach",
            access: .scope(RelayConfiguration.Caller.Scope.send.rawValue, audit: nil),
            body: RouteBody(
                .schema("AudienceCountRequest"),
                examples: [.init("tags", ["where": "vip && !trial && app-version>=2.10"])]
            ),
            answers: [RouteAnswer(200, "The numbers", .schema("AudienceCount"))],
            problems: [503]
        ) { (call) throws(APIProblem) in
            let app = try await call.configuredApp(try call.app())
            var count = try AudienceCount(try call.object(of: AudienceCount.members), of: app)
            do throws(OutboxError) {
                try await count.run(in: await call.parts.server.context, for: call.caller.name)
            } catch {
                throw APIProblem(error)
            }
            return .json(count.json)
        }
    ]
}

internal import Martlet
internal import MartletCore
internal import MartletHTTPServer
internal import MartletTransport

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension InboxAPI {
    /// The routes of the JSON Schemas of Live Activities, and of checks of a single push.
    static let checkRoutes: [Route] = [
        Route(method: "GET", path: "/api/v1/schemas", summary: "List the schemas of Live Activities") {
            call in
            let contracts = await call.simulator.service.contracts
            return .json(["schemas": .array(contracts.all.map(\.json))])
        },
        Route(
            method: "PUT",
            path: "/api/v1/schemas",
            summary: "Check Live Activities of a topic and attributes-type by JSON Schemas: content-state, attributes",
            answers: [RouteAnswer(204, "Done", type: nil)]
        ) { (call) throws(APIProblem) in
            let json = try call.json()
            do throws(ActivityContractError) {
                try await call.simulator.service.setContract(try ActivityContract(json: json))
            } catch {
                throw APIProblem(400, "\(error)")
            }
            return .done
        },
        Route(
            method: "DELETE",
            path: "/api/v1/schemas/{topic}/{attributes-type}",
            summary: "Remove the schemas of a type",
            answers: [RouteAnswer(204, "Done", type: nil)]
        ) {
            (call) throws(APIProblem) in
            let type = call.arguments["attributes-type"] ?? ""
            let topic = Topic(call.arguments["topic"] ?? "")
            guard await call.simulator.service.removeContract(type, topic: topic) else {
                throw APIProblem(404, "there are no schemas for \(type) of \(topic)")
            }
            return .done
        },
        Route(
            method: "POST",
            path: "/api/v1/lint",
            summary: "Check headers and payload by the rules, without storing a push"
        ) { (call) throws(APIProblem) in
            let body = try call.object(of: ["headers", "payload", "payload-text", "device-token", "app", "channel"])
            let fields = body["headers"]
            guard fields == nil || fields?.members?.allSatisfy({ $0.value.stringValue != nil }) == true else {
                throw APIProblem(400, "headers must be an object of strings")
            }
            let headers = PushHeaders { fields?[$0.description]?.stringValue }
            let now = Date(secondsSince1970: call.simulator.service.clock.secondsSince1970())
            let payload = try body.text("payload-text").map { Array($0.utf8) } ?? body["payload"]?.encoded() ?? []
            let channel = try body.text("channel")
            let findings =
                try body.text("app").map { app in
                    Lint.check(broadcastTo: app, channel: channel, headers: headers, payload: payload, at: now)
                } ?? Lint.check(headers: headers, payload: payload, at: now)
            return .json(["findings": .array(findings.map(\.json))])
        },
    ]
}

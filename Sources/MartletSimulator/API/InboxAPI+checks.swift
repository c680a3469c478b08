// SPDX-License-Identifier: Apache-2.0

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
        Route("GET", "/api/v1/schemas", "List the schemas of Live Activities") { call in
            let contracts = await call.simulator.service.contracts
            return .json(["schemas": .array(contracts.all.map(\.json))])
        },
        Route.action(
            "PUT",
            "/api/v1/schemas",
            "Check Live Activities of a topic and attributes-type by JSON Schemas: content-state, attributes"
        ) { (call) throws(APIProblem) in
            let json = try call.json()
            let contract = try APIProblem.wrapping { try ActivityContract(json: json) }
            do throws(ActivityContractError) {
                try await call.simulator.setContract(contract)
            } catch {
                throw APIProblem(400, "\(error)")
            }
        },
        Route.action("DELETE", "/api/v1/schemas/{topic}/{attributes-type}", "Remove the schemas of a type") {
            (call) throws(APIProblem) in
            let (type, topic) = (call.argument("attributes-type"), Topic(call.argument("topic")))
            guard await call.simulator.removeContract(type, topic: topic) else {
                throw .missing("there are no schemas for \(ShownValue(type)) of \(ShownValue(topic.rawValue))")
            }
        },
        Route("POST", "/api/v1/lint", "Check headers and payload by the rules, without storing a push") {
            (call) throws(APIProblem) in
            let body = try call.object(of: ["headers", "payload", "payload-text", "device-token", "app", "channel"])
            let fields = body["headers"].value
            guard fields == nil || fields?.members?.allSatisfy({ $0.value.stringValue != nil }) == true else {
                throw body["headers"].error("must be an object of strings")
            }
            let headers = PushHeaders { fields?[$0.description]?.stringValue }
            let now = Date(millisecondsSince1970: call.simulator.service.clock.millisecondsSince1970())
            let text = try body["payload-text"].ifPresent?.text()
            let payload = text.map { Array($0.utf8) } ?? body["payload"].value?.encoded() ?? []
            let channel = try body["channel"].ifPresent?.text()
            let app = try body["app"].ifPresent?.text()
            let findings =
                app.map {
                    PushLint.check(broadcastTo: $0, channel: channel, headers: headers, payload: payload, at: now)
                }
                ?? PushLint.check(headers: headers, payload: payload, at: now)
            let content = try? JSONReader.read(payload)
            let results = JSONValue.members([
                "findings": .array(findings.map(\.json)),
                "presentation": NotificationPresentation.json(headers, isBroadcast: app != nil, content),
            ])
            let effects = NotificationPresentation.effects(headers, isBroadcast: app != nil, content)
            return .json(.object((results.members ?? []) + effects))
        },
    ]
}

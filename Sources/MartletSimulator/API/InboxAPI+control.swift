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
    /// The routes of faults, of the JSON Schemas of Live Activities, and of checks of a single push.
    static let controlRoutes: [Route] = [
        Route(
            method: "PUT",
            path: "/api/v1/chaos",
            summary: "Has things go wrong: presets, rules and a seed; {} for none"
        ) { (call) throws(APIProblem) in
            let body = try call.object(of: ["seed", "presets", "rules"])
            var faults: [Fault] = []
            for name in try body.texts("presets") {
                guard let preset = Fault.presets.first(where: { $0.name == name }) else {
                    let known = Fault.presets.map(\.name).joined(separator: ", ")
                    throw APIProblem(400, "presets: \(name) is unknown; these are: \(known)")
                }
                faults += preset.faults
            }
            for (index, rule) in try body.list("rules").enumerated() {
                faults.append(try fault(rule, "rules.\(index)"))
            }
            let seed = try body.number("seed", .min ... .max).map { UInt64(bitPattern: Int64($0)) }
            await call.simulator.service.setFaults(faults, seed: seed ?? .random(in: .min ... .max))
            return await chaos(call.simulator)
        },
        Route(method: "GET", path: "/api/v1/chaos", summary: "What goes wrong, and the presets there are") { call in
            await chaos(call.simulator)
        },
        Route(method: "POST", path: "/api/v1/chaos/rules", summary: "Has one more thing go wrong") {
            (call) throws(APIProblem) in
            let rule = try fault(try call.json(), "the rule")
            do throws(SimulatorError) {
                try await call.simulator.service.addFault(rule)
            } catch {
                throw APIProblem(409, "\(error)")
            }
            return await chaos(call.simulator)
        },
        Route(method: "DELETE", path: "/api/v1/chaos/rules/{index}", summary: "Has one thing go wrong no more") {
            (call) throws(APIProblem) in
            let name = call.arguments["index"] ?? ""
            guard let index = Int(name), await call.simulator.service.removeFault(at: index) else {
                throw APIProblem(404, "there is no rule \(name): they count from 0")
            }
            return await chaos(call.simulator)
        },
        Route(method: "GET", path: "/api/v1/schemas", summary: "What the types of apps take in Live Activities") {
            call in
            let contracts = await call.simulator.service.contracts
            return .json(["schemas": .array(contracts.all.map(\.json))])
        },
        Route(
            method: "PUT",
            path: "/api/v1/schemas",
            summary: "Holds Live Activities of a topic and attributes-type to JSON Schemas: content-state, attributes",
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
            summary: "Forgets these schemas",
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
            summary: "What the rules say of headers and payload; nothing is kept"
        ) { (call) throws(APIProblem) in
            let body = try call.object(of: ["headers", "payload", "payload-text", "device-token", "app", "channel"])
            let fields = body["headers"]
            guard fields == nil || fields?.members?.allSatisfy({ $0.value.stringValue != nil }) == true else {
                throw APIProblem(400, "headers must be an object of texts")
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

    private static func fault(_ json: JSONValue, _ place: String) throws(APIProblem) -> Fault {
        do throws(FaultError) {
            return try Fault(json: json)
        } catch {
            throw APIProblem(400, "\(place): \(error)")
        }
    }

    /// Returns the answer with the presets and with the seed and the rules that `PUT /api/v1/chaos` takes.
    private static func chaos(_ simulator: SimulatedAPNs) async -> HTTP1Answer {
        let plan = await simulator.service.plan
        return .json([
            "seed": .number(JSONNumber(Int64(bitPattern: plan.seed))),
            "rules": .array(plan.faults.map(\.json)),
            "presets": .array(
                Fault.presets.map { preset in
                    [
                        "name": .string(preset.name), "summary": .string(preset.summary),
                        "rules": .array(preset.faults.map(\.json)),
                    ]
                }
            ),
        ])
    }
}

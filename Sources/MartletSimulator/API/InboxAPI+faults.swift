internal import Martlet
internal import MartletCore
internal import MartletHTTPServer
internal import MartletTransport

extension InboxAPI {
    /// The routes of faults.
    static let faultRoutes: [Route] = [
        Route(
            method: "PUT",
            path: "/api/v1/chaos",
            summary: "Set the faults: presets, rules and a seed; {} for none"
        ) { (call) throws(APIProblem) in
            let body = try call.object(of: ["seed", "presets", "rules"])
            var faults: [Fault] = []
            for name in try body.texts("presets") {
                guard let preset = Fault.presets.first(where: { $0.name == name }) else {
                    let known = Fault.presets.map(\.name).joined(separator: ", ")
                    throw APIProblem(400, "unknown preset \(name); known: \(known)")
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
        Route(method: "GET", path: "/api/v1/chaos", summary: "List the faults and the presets") { call in
            await chaos(call.simulator)
        },
        Route(method: "POST", path: "/api/v1/chaos/rules", summary: "Add a fault") {
            (call) throws(APIProblem) in
            let rule = try fault(try call.json(), "the rule")
            do throws(SimulatorError) {
                try await call.simulator.service.addFault(rule)
            } catch {
                throw APIProblem(409, "\(error)")
            }
            return await chaos(call.simulator)
        },
        Route(method: "DELETE", path: "/api/v1/chaos/rules/{index}", summary: "Remove a fault") {
            (call) throws(APIProblem) in
            let name = call.arguments["index"] ?? ""
            guard let index = Int(name), await call.simulator.service.removeFault(at: index) else {
                throw APIProblem(404, "there is no rule \(name): rules are numbered from 0")
            }
            return await chaos(call.simulator)
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

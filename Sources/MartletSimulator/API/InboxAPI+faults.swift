// SPDX-License-Identifier: Apache-2.0

internal import Martlet
internal import MartletCore
internal import MartletHTTPServer
internal import MartletTransport

extension InboxAPI {
    /// The routes of faults.
    static let faultRoutes: [Route] = [
        Route("PUT", "/api/v1/chaos", "Set the faults: presets, rules and a seed; {} for none") {
            (call) throws(APIProblem) in
            let body = try call.object(of: ["seed", "presets", "rules"])
            var faults: [SimulatedAPNs.Fault] = []
            for preset in try body["presets"].ifPresent?.elements() ?? [] {
                let name = try preset.text()
                guard let known = SimulatedAPNs.Fault.presets.first(where: { $0.name == name }) else {
                    throw preset.mismatch("one of " + SimulatedAPNs.Fault.presets.map(\.name).joined(separator: ", "))
                }
                faults += known.faults
            }
            for rule in try body["rules"].ifPresent?.elements() ?? [] { faults.append(try SimulatedAPNs.Fault(rule)) }
            let seed = try body["seed"].ifPresent?.integer(in: Int64.min...Int64.max)
            let bits = seed.map { UInt64(bitPattern: $0) } ?? .random(in: .min ... .max)
            await call.simulator.setFaults(faults, seed: bits)
            return await chaos(call.simulator)
        },
        Route("GET", "/api/v1/chaos", "List the faults and the presets") { call in await chaos(call.simulator) },
        Route("POST", "/api/v1/chaos/rules", "Add a fault") { (call) throws(APIProblem) in
            let rule = try SimulatedAPNs.Fault(APIField(try call.json(), named: "the rule"))
            do throws(SimulatorError) {
                try await call.simulator.addFault(rule)
            } catch {
                throw APIProblem(409, "\(error)")
            }
            return await chaos(call.simulator)
        },
        Route("DELETE", "/api/v1/chaos/rules/{index}", "Remove a fault") { (call) throws(APIProblem) in
            let name = call.argument("index")
            guard let index = Int(name), await call.simulator.removeFault(at: index) else {
                throw .missing("there is no rule \(ShownValue(name)): rules are numbered from 0")
            }
            return await chaos(call.simulator)
        },
    ]

    /// Returns the answer with the presets, with the seed and the rules that `PUT /api/v1/chaos` takes, and with the
    /// number of times that each rule has affected a request, and the last of these times in milliseconds since 1970.
    private static func chaos(_ simulator: SimulatedAPNs) async -> HTTP1Answer {
        let plan = await simulator.service.plan
        let presets = SimulatedAPNs.Fault.presets.map { preset -> JSONValue in
            [
                "name": .string(preset.name), "summary": .string(preset.summary),
                "rules": .array(preset.faults.map(\.json)),
            ]
        }
        return .json([
            "seed": .integer(Int64(bitPattern: plan.seed)), "rules": .array(plan.faults.map(\.json)),
            "counts": .array(plan.counts.map(JSONValue.integer)),
            "last-times": .array(plan.lastTimes.map { $0.map(JSONValue.integer) ?? .null }),
            "presets": .array(presets),
        ])
    }
}

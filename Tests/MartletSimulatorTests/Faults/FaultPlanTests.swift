// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletHTTPServer
import Testing

@testable import MartletSimulator

/// Decisions of faults.
@Suite struct FaultPlanTests {
    private let device = "5d3a6a1c"
    private let headers = PushHeaders(pushType: "alert", topic: "com.example.app")

    /// Returns the numbers of the requests that faults affect.
    private func times(_ faults: [SimulatedAPNs.Fault], seed: UInt64 = 1, of count: Int = 20) -> [Int] {
        var plan = FaultPlan(faults, seed: seed)
        return (1...count).filter { _ in !plan.injections(on: device, headers, at: 0).isEmpty }
    }

    @Test func `a fault occurs according to after, every and count`() {
        #expect(times([SimulatedAPNs.Fault(.hang)]) == Array(1...20))
        #expect(times([SimulatedAPNs.Fault(.hang, count: 2)]) == [1, 2])
        #expect(times([SimulatedAPNs.Fault(.hang, after: 18)]) == [19, 20])
        #expect(times([SimulatedAPNs.Fault(.hang, every: 8)]) == [1, 9, 17])
        #expect(times([SimulatedAPNs.Fault(.hang, count: 2, after: 4, every: 3)]) == [5, 8])
        #expect(times([SimulatedAPNs.Fault(.hang, every: 0)]).count == 20, "every is 1 at least")
    }

    @Test func `the same seed reproduces the same faults, another seed does not`() {
        let fault = SimulatedAPNs.Fault(.hang, probability: 0.3)
        let first = times([fault], seed: 7, of: 10_000)
        #expect(times([fault], seed: 7, of: 10_000) == first)
        #expect(times([fault], seed: 8, of: 10_000) != first)
        #expect((2_700...3_300).contains(first.count), "\(first.count)")
        #expect(
            times([SimulatedAPNs.Fault(.close, count: 0), fault], seed: 7, of: 10_000) != first,
            "each fault has its own chance"
        )
        var plan = FaultPlan([fault, SimulatedAPNs.Fault(.close, probability: 0.5)], seed: 7)
        let hangs = (1...10_000).filter { _ in
            plan.injections(on: device, headers, at: 0).contains { $0.action == .hang }
        }
        #expect(hangs == first, "what else goes wrong changes nothing")
    }

    @Test func `a fault affects matching requests only`() {
        func matches(_ match: SimulatedAPNs.Fault.Match) -> Bool {
            !times([SimulatedAPNs.Fault(.hang, with: match)], of: 1).isEmpty
        }
        #expect(matches(SimulatedAPNs.Fault.Match(topic: "com.example.app", pushType: "alert", deviceSuffix: "6A1C")))
        #expect(!matches(SimulatedAPNs.Fault.Match(topic: "com.example.other")))
        #expect(!matches(SimulatedAPNs.Fault.Match(pushType: "background")))
        #expect(!matches(SimulatedAPNs.Fault.Match(priority: "5")))
        #expect(!matches(SimulatedAPNs.Fault.Match(deviceSuffix: "0000")))
        #expect(
            matches(SimulatedAPNs.Fault.Match(devicePrefix: "5D3A"))
                && !matches(SimulatedAPNs.Fault.Match(devicePrefix: "6a1c"))
        )
    }

    @Test func `the limit for a device counts the pushes of one second`() {
        var plan = FaultPlan([SimulatedAPNs.Fault(.throttle(perDevice: 2))], seed: 1)
        let requests = [(device, 1), (device.uppercased(), 1), ("ffff", 1), (device, 1), (device, 2)]
        let answers = requests.map { device, second in
            plan.injections(on: device, headers, at: Int64(second) * 1_000 + 999).map(\.action)
        }
        #expect(answers == [[], [], [], [.respond(.tooManyRequests)], []])
    }

    @Test(arguments: [
        (Duration.seconds(-60), Duration.zero, Duration.zero), (.seconds(Int64.max), .zero, .seconds(3_600)),
        (.seconds(1), .seconds(-60), .seconds(1)),
    ])
    func `a delay is limited to an hour`(delay: Duration, jitter: Duration, expected: Duration) {
        var plan = FaultPlan([SimulatedAPNs.Fault(.delay(delay, jitter: jitter))], seed: 1)
        #expect(plan.injections(on: device, headers, at: 0).map(\.delay) == [expected])
    }

    @Test(arguments: [
        #"{"do":"delay","seconds":-1}"#, #"{"do":"delay","seconds":3601}"#, #"{"do":"delay","seconds":1,"jitter":-1}"#,
        #"{"do":"delay","seconds":1,"jitter":3601}"#,
    ])
    func `a delay in JSON must be from 0 seconds to an hour`(json: String) throws {
        let rule = APIField(try JSONReader.read(Array(json.utf8)), named: "the rule")
        let problem = try #require(throws: APIProblem.self) { try SimulatedAPNs.Fault(rule) }
        #expect(problem.detail.contains("must be a number from 0 to 3600"))
    }

    @Test func `a delay with jitter is within its bounds`() {
        var plan = FaultPlan([SimulatedAPNs.Fault(.delay(.seconds(1), jitter: .seconds(2)))], seed: 1)
        let delays = (0..<100).flatMap { _ in plan.injections(on: device, headers, at: 0).map(\.action) }
        let isWithin = delays.allSatisfy { action in
            if case .delay(let delay, _) = action { (.seconds(1)...(.seconds(3))).contains(delay) } else { false }
        }
        #expect(isWithin && Set(delays).count > 50)
    }

    @Test(arguments: [
        ("5d3a00dead", SimulatedAPNs.Fault.Action.respond(.unregistered)), ("5d3a000429", .respond(.tooManyRequests)),
        ("5d3a000503", .respond(.serviceUnavailable)), ("5d3a00deaf", .hang), ("5d3a00c105", .close),
        ("5d3a00fa11", .resetConnection), ("5d3a00e5e7", .resetStream(code: 2)),
        ("5D3A00DEAD", .respond(.unregistered)), ("5d3a00DeaF", .hang), ("5D3A00C105", .close),
    ])
    func `the suffix of a device token selects a fault`(device: String, action: SimulatedAPNs.Fault.Action) {
        var plan = FaultPlan([], seed: 1)
        let injections = plan.injections(on: device, PushHeaders(), at: 0)
        #expect(injections.map(\.action) == [action])
        #expect(injections.map(\.name) == [device.suffix(6).lowercased()])
    }

    @Test(arguments: ["", "00", "dead", "11dead", "000200", "5d3a6a1c8f9a42d6"])
    func `other suffixes select no fault`(device: String) {
        #expect(FaultPlan.suffixAction(device) == nil)
    }

    @Test(arguments: [("unavailable", 5), ("server-errors", 10), ("drain", 1_000)])
    func `a periodic preset affects every nth push`(name: String, interval: Int) throws {
        let preset = try #require(SimulatedAPNs.Fault.presets.first { $0.name == name })
        #expect(times(preset.faults, of: 3 * interval) == [interval, 2 * interval, 3 * interval])
    }

    @Test func `a stream limit without conditions affects no single request`() {
        let limits = [
            SimulatedAPNs.Fault(.limitStreams(7)), SimulatedAPNs.Fault(.limitStreams(3)),
            SimulatedAPNs.Fault(.limitStreams(1), count: 1),
        ]
        #expect(FaultPlan(limits, seed: 1).streamLimit == 3)
        #expect(times(limits) == [1])
        #expect(FaultPlan([SimulatedAPNs.Fault(.limitStreams(1), probability: 0.5)], seed: 1).streamLimit == nil)
    }

    @Test func `the names of presets are unique`() {
        #expect(Set(SimulatedAPNs.Fault.presets.map(\.name)).count == SimulatedAPNs.Fault.presets.count)
        #expect(SimulatedAPNs.Fault.presets.allSatisfy { !$0.faults.isEmpty })
    }

    @Test func `faults of connections do not affect a push without one`() {
        let faults: [SimulatedAPNs.Fault] = [
            SimulatedAPNs.Fault(.delay(.seconds(1))), SimulatedAPNs.Fault(.respond(.shutdown)),
            SimulatedAPNs.Fault(.hang),
        ]
        var plan = FaultPlan(faults, seed: 1)
        let headers = PushHeaders(pushType: "alert", topic: "com.example.app")
        let composed = plan.injections(on: "5d3a6a1c", headers, hasConnection: false, at: 7)
        #expect(composed.map(\.name) == ["respond"])
        #expect(plan.counts == [0, 1, 0] && plan.lastTimes == [nil, 7, nil])
        #expect(plan.injections(on: "5d3a6a1c", headers, at: 9).count == 3)
        #expect(plan.counts == [1, 2, 1] && plan.lastTimes == [9, 9, 9])
    }
}

// SPDX-License-Identifier: Apache-2.0

import MartletCore
import TestSupport
import Testing

/// Tests of `simulate --phones`.
@Suite(.timeLimit(.minutes(10))) struct SimulatedPhonesTests {
    private static let simulate = [
        "simulate", "--json", "--h2c", "--port", "0", "--inbox-port", "0", "--environment", "production",
        "--reliable-phones", "--seed", "7",
    ]

    /// Starts a simulator and waits until it runs; returns the port of its HTTP interface.
    private func start(
        _ options: [String],
        writing output: String,
        in scratch: ScratchDirectory
    ) async throws -> (ChildProcess, inboxPort: Int64) {
        let simulator = try ChildProcess(
            MartletProcess.program,
            Self.simulate + options,
            output: scratch.path + "/" + output,
            errors: scratch.path + "/errors"
        )
        var addresses: JSONValue?
        try await eventually("the simulator runs, or ends") {
            let text = try scratch.read(output)
            if let end = text.firstIndex(of: "\n") { addresses = try JSONReader.read(Array(text[..<end].utf8)) }
            return addresses != nil || !simulator.isRunning
        }
        return (simulator, try #require(addresses?["inbox-port"]?.integerValue))
    }

    @Test func `simulate prints the summary of its phones when it stops`() async throws {
        let scratch = try ScratchDirectory()
        let options = ["--phones", "3", "--phone-app", "com.example.orders", "--phone-attributes", "Order.number"]
        let (simulator, inboxPort) = try await start(options, writing: "output", in: scratch)
        defer { simulator.kill() }
        let path = "http://127.0.0.1:\(inboxPort)/api/v1/phones/reports"
        try await eventually("three phones have reported a start token of the type") {
            let json = try JSONReader.read(try await ProgramRun.curl([path]).output)
            let reports = json["reports"]?.elements?.filter { $0["change"]?["tokens"]?["start"]?["Order"] != nil }
            return Set((reports ?? []).compactMap { $0["phone"]?.integerValue }) == [1, 2, 3]
        }
        simulator.interrupt()
        #expect(await simulator.ended() == 0)
        let last = try #require(try scratch.read("output").split(separator: "\n").last)
        let summary = try #require(try JSONReader.read(Array(last.utf8))["phones"])
        #expect(summary["total"] == 3 && summary["app"] == "com.example.orders", "\(summary)")
        #expect(summary["account"]?["pushes"] == 0, "\(summary)")
    }

    @Test func `phones enroll at a relay that starts after them`() async throws {
        let caller: [String: any Sendable] = [
            "name": "back end", "key-sha256": RelayProcess.callerKeyHash, "apps": ["app"], "scopes": ["installations"],
        ]
        let relay = try await RelayProcess(to: ["host": "127.0.0.1", "port": 1, "clear": true], ["callers": [caller]])
        let key = try relay.scratch.write(RelayProcess.callerKey, to: "back-end.key")
        let url = "http://127.0.0.1:\(relay.httpPort)"
        let options = [
            "--phones", "3", "--phone-relay", url, "--phone-relay-app", "app", "--phone-relay-key-file", key,
            "--phone-control", "pause",
        ]
        let (simulator, _) = try await start(options, writing: "simulator", in: relay.scratch)
        defer { simulator.kill() }
        try await eventually("the simulator reports that the relay cannot be reached") {
            try relay.scratch.read("errors").contains("martlet: phones: ")
        }
        try await relay.start()
        let export = ["relay", "export", "--app", "app", "--url", url, "--key-file", key]
        try await eventually("three phones are enrolled with their tokens") {
            let run = try await ProgramRun(MartletProcess.program, export)
            let installations = try run.text.split(separator: "\n").map { try JSONReader.read(Array($0.utf8)) }
            let users = installations.filter { installation in
                let tokens = installation["tokens"]
                let reported = [
                    tokens?["device"], tokens?["start"]?["SurfaceActivityAttributes"], tokens?["widgets"],
                    tokens?["controls"]?["pause"],
                ]
                return !reported.contains(nil) && installation["system-version"] == "26.1"
                    && installation["permissions"]?["live-activities"] == true
            }
            return Set(users.compactMap { $0["user"]?.stringValue }) == ["phone-1", "phone-2", "phone-3"]
        }
        #expect(try relay.scratch.read("errors").contains("martlet: phones: the relay answers again\n"))
        simulator.interrupt()
        #expect(await simulator.ended() == 0)
        _ = await relay.stop()
    }
}

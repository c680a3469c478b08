// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import MartletSimulator
import TestSupport
import Testing

/// Tests of the relay's and the simulator's HTTP interfaces against their OpenAPI descriptions, with third-party tools.
@Suite(
    .timeLimit(.minutes(10)),
    .enabled(
        if: FileManager.default.fileExists(atPath: Python.interpreter),
        "run `make test`, which installs openapi-spec-validator and schemathesis"
    )
)
struct InterfaceDescriptionTests {
    private static let program = "Tests/Peers/check_interface.py"

    @Test func `the relay's responses match its description`() async throws {
        let apple = try await SimulatedAPNs.start(
            SimulatedAPNs.Configuration(channelPort: 0, isEncrypted: false, environment: .production)
        )
        let endpoint = await apple.endpoint
        let channelPort = Int(try #require(endpoint.channels).port)
        let relay = try await RelayProcess(
            to: ["host": "127.0.0.1", "port": Int(endpoint.port), "channel-port": channelPort, "clear": true]
        )
        try await relay.start()
        let url = "http://127.0.0.1:\(relay.httpPort)"
        let run = try await ProgramRun(Python.interpreter, [Self.program, url, RelayProcess.callerKey])
        #expect(run.status == 0, "\(run.text.suffix(6_000))\(run.errorOutput.suffix(2_000))")
        #expect(relay.isRunning)
        #expect(await relay.stop() == 0)
        await apple.stop()
    }

    @Test func `the simulator's description is valid`() async throws {
        let simulator = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(inboxPort: 0))
        let url = "http://127.0.0.1:\(try #require(await simulator.inboxPort))"
        let run = try await ProgramRun(Python.interpreter, [Self.program, url])
        #expect(run.status == 0 && run.text.hasSuffix("paths described\n"), "\(run.text)\(run.errorOutput)")
        await simulator.stop()
    }
}

import Foundation
import Martlet
import MartletSimulator
import TestSupport
import Testing

/// The HTTP interfaces of the relay and the simulator, held to their own descriptions by programs of others.
@Suite(
    .timeLimit(.minutes(3)),
    .enabled(
        if: FileManager.default.fileExists(atPath: Python.interpreter),
        "run `make test`, which installs openapi-spec-validator and schemathesis"
    )
)
struct InterfaceDescriptionTests {
    private static let program = "Tests/Peers/check_interface.py"

    @Test func `the relay answers as it describes`() async throws {
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
        #expect(run.status == 0, "\(run.text.suffix(6_000))\(run.complaint.suffix(2_000))")
        #expect(relay.isRunning)
        #expect(await relay.stop() == 0)
        await apple.stop()
    }

    @Test func `the simulator describes itself`() async throws {
        let simulator = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(inboxPort: 0))
        let url = "http://127.0.0.1:\(try #require(await simulator.inboxPort))"
        let run = try await ProgramRun(Python.interpreter, [Self.program, url])
        #expect(run.status == 0 && run.text.hasSuffix("paths are described\n"), "\(run.text)\(run.complaint)")
        await simulator.stop()
    }
}

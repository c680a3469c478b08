// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// A `martlet relay` process, which keeps its files and ports when it is killed and restarted.
package final class RelayProcess: Sendable {
    /// The port for APNs clients.
    package let port: UInt16
    /// The port of the JSON interface.
    package let httpPort: UInt16
    /// The API key of the caller.
    package static let callerKey = "mrt_0123456789abcdefghijklmnopqrstuv"
    /// The SHA-256 of the key, as in the configuration.
    package static let callerKeyHash = "62e8323ef7d6a6b1dbcf68cfcdfffbb12d8c4684121b4e27b108d66523ffb778"
    /// The app's signing key in PEM.
    package let keyPEM: String
    package static let keyID = "ABC123DEFG"
    package static let teamID = "DEF123GHIJ"
    /// The app's bundle identifier.
    package static let bundleID = "com.example.app"

    /// The directory of the configuration and, by default, the data.
    package let scratch: ScratchDirectory
    /// The path of the configuration file.
    package let configuration: String
    private let running = Mutex<MartletProcess?>(nil)
    private var process: MartletProcess? { running.withLock { $0 } }

    /// Writes a configuration with an app whose pushes go to a substitute for Apple on this machine.
    ///
    /// - Parameters:
    ///   - apple: The members of the substitute's address.
    ///   - dataDirectory: The directory of the outbox; by default that of the configuration.
    ///   - more: Additional members of the configuration.
    /// - Throws: An error if openssl fails or no port is free.
    package init(
        to apple: [String: any Sendable],
        dataDirectory: String? = nil,
        _ more: [String: any Sendable] = [:]
    ) async throws {
        scratch = try ScratchDirectory()
        (port, httpPort) = (try SilentServer.unusedPort().port, try SilentServer.unusedPort().port)
        keyPEM = try await ProgramRun(
            "openssl",
            ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
        ).text
        try scratch.write(keyPEM, to: "key.p8")
        let app: [String: any Sendable] = [
            "name": "app", "bundle-ids": [Self.bundleID], "team-id": Self.teamID, "key-id": Self.keyID,
            "key-file": "key.p8",
        ]
        let members: [String: any Sendable] = [
            "data": (dataDirectory.map { $0 + "/" } ?? "") + "relay.sqlite",
            "listen": ["production": "127.0.0.1:\(port)"], "http": "127.0.0.1:\(httpPort)", "apps": [app],
            "callers": [
                [
                    "name": "test", "key-sha256": Self.callerKeyHash, "apps": ["app"],
                    "scopes": ["send", "read", "manage"],
                ] as [String: any Sendable]
            ],
            "apple": ["production": apple],
        ]
        let bytes = try JSONSerialization.data(withJSONObject: members.merging(more) { $1 })
        configuration = try scratch.write(bytes, to: "relay.json")
    }

    /// The arguments of the program.
    package var arguments: [String] { ["relay", "--configuration", configuration] }

    /// Starts the relay and waits until it accepts pushes.
    package func start() async throws {
        let process = try await MartletProcess(arguments)
        guard process.readyOutput.contains("Answers in JSON on port \(httpPort)") else {
            throw MissingProgram(name: "martlet: \(process.readyOutput)\(process.errorOutput)")
        }
        running.withLock { $0 = process }
    }

    /// Kills the relay with SIGKILL, as in a crash.
    package func kill() {
        process?.kill()
        running.withLock { $0 = nil }
    }

    /// Shuts the relay down and returns its exit code.
    package func stop() async -> Int32? {
        let status = await process?.end()
        running.withLock { $0 = nil }
        return status
    }

    /// Whether the relay runs.
    package var isRunning: Bool { process?.isRunning ?? false }
    /// The resident memory in bytes; nil if it cannot be measured.
    package var memory: Int? { process?.memory }
    /// The processor time that the process has used; nil if it cannot be measured.
    package var processorTime: Duration? { process?.processorTime }

    /// Sends requests to the JSON interface; returns fewer responses than requests if the relay stops.
    package func ask(_ requests: [RawHTTP1.Request]) async -> [RawHTTP1.Answer] {
        let key = "authorization: bearer \(Self.callerKey)"
        let all = requests.map { RawHTTP1.Request($0.method, $0.path, $0.fields + [key], body: $0.body) }
        return await RawHTTP1.ask(all, at: httpPort)
    }
}

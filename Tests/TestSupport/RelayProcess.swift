import Foundation
import Synchronization

/// `martlet relay` in a process of its own: its files and ports stay, however often it is killed and started again.
package final class RelayProcess: Sendable {
    /// Where APNs clients call.
    package let port: UInt16
    /// Where the interface in JSON is.
    package let httpPort: UInt16
    /// What callers in JSON show.
    package static let callerKey = "mrt_0123456789abcdefghijklmnopqrstuv"
    private static let callerKeyHash = "62e8323ef7d6a6b1dbcf68cfcdfffbb12d8c4684121b4e27b108d66523ffb778"
    /// The app's signing key, PEM.
    package let keyPEM: String
    package static let keyID = "ABC123DEFG"
    package static let teamID = "DEF123GHIJ"
    /// The app's bundle identifier.
    package static let bundleID = "com.example.app"

    /// Where its configuration and its data lie.
    package let scratch: ScratchDirectory
    /// The configuration's file.
    package let configuration: String
    private let running = Mutex<MartletProcess?>(nil)
    private var process: MartletProcess? { running.withLock { $0 } }

    /// Writes a configuration for an app that is sent to a stand-in for Apple on this machine.
    ///
    /// - Parameters:
    ///   - apple: The members of the stand-in.
    ///   - dataDirectory: Where pushes are kept; beside the configuration when not given.
    ///   - more: Further members of the configuration.
    /// - Throws: When openssl makes no key, or no port is free.
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

    /// The arguments that it is started with.
    package var arguments: [String] { ["relay", "--configuration", configuration] }

    /// Starts it and waits until it takes pushes.
    package func start() async throws {
        let process = try await MartletProcess(arguments)
        guard process.words.contains("Answers in JSON on port \(httpPort)") else {
            throw MissingProgram(name: "martlet, which says: \(process.words)\(process.complaints)")
        }
        running.withLock { $0 = process }
    }

    /// Ends it at once, as a crash does.
    package func kill() {
        process?.kill()
        running.withLock { $0 = nil }
    }

    /// Ends it in order.
    package func stop() async -> Int32? {
        let status = await process?.end()
        running.withLock { $0 = nil }
        return status
    }

    /// Whether it has not ended yet.
    package var isRunning: Bool { process?.isRunning ?? false }
    /// Bytes of memory it has at the moment; nil where that cannot be told.
    package var memory: Int? { process?.memory }

    /// Asks its interface in JSON, one after the other; fewer answers than requests when it has gone.
    package func ask(_ requests: [RawHTTP1.Request]) async -> [RawHTTP1.Answer] {
        let key = "authorization: bearer \(Self.callerKey)"
        let all = requests.map { RawHTTP1.Request($0.method, $0.path, $0.fields + [key], body: $0.body) }
        return await RawHTTP1.ask(all, at: httpPort)
    }
}

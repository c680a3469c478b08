// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import MartletSimulator
import MartletTransport
import TestSupport
import Testing

/// Tests of unmodified clients from PyPI against the simulator and the relay.
@Suite(.timeLimit(.minutes(10))) struct PythonClientTests {
    /// A client, with its test program and Python environment.
    enum Client: String, CaseIterable {
        /// Sends `iat` with a fraction, and opens a connection for each push.
        case pyapnsClient = "pyapns_client"
        /// Sends `iat` with a fraction; the client of django-push-notifications.
        case apns2
        /// Uses a certificate and sends no topic.
        case aapns

        var interpreter: String { self == .pyapnsClient ? Python.interpreter : Python.interpreter(for: rawValue) }
        var hasCertificate: Bool { self == .aapns }
        var isInstalled: Bool { FileManager.default.fileExists(atPath: interpreter) }
    }

    /// The installed clients; `make test` installs all.
    private static let clients = Client.allCases.filter(\.isInstalled)

    /// A simulator in place of Apple, with registered credentials.
    private struct Apple {
        let simulator: SimulatedAPNs
        let scratch: ScratchDirectory
        let certificate: ProviderCertificateFiles
        let authority: String

        init(_ faults: [SimulatedAPNs.Fault] = []) async throws {
            var configuration = SimulatedAPNs.Configuration(environment: .production)
            configuration.storedPushes = 5_000
            configuration.faults = faults
            simulator = try await SimulatedAPNs.start(configuration)
            scratch = try ScratchDirectory()
            certificate = try await ProviderCertificateFiles(suffixes: [""])
            let pem = try certificate.scratch.read("certificate.pem") + certificate.scratch.read("key.pem")
            try certificate.scratch.write(pem, to: "both.pem")
            authority = try scratch.write(simulator.authorityPEM, to: "apple.pem")
        }

        /// Writes a new key to a file and registers it.
        func makeKey() async throws -> String {
            let pem = try ES256PrivateKey().pem()
            try await simulator.register(SigningKey(pem: pem, keyID: RelayProcess.keyID, teamID: RelayProcess.teamID))
            return try scratch.write(pem, to: "key.p8")
        }

        /// The SHA-256 of the certificate.
        var fingerprint: String {
            get async throws {
                let file = certificate.scratch.path + "/certificate.pem"
                let run = try await ProgramRun(
                    "openssl",
                    ["x509", "-noout", "-fingerprint", "-sha256", "-in", file]
                )
                return String(run.text.drop { $0 != "=" }.dropFirst().filter { !$0.isWhitespace })
            }
        }

        /// Checks that `count` pushes are accepted, each once.
        func expectAccepted(_ count: Int) async throws {
            // A relay responds before Apple does if Apple takes longer than its time limit. A wait for no push would
            // last for its whole timeout.
            if count > 0 {
                _ = await simulator.wait(for: try PushQuery("status:200"), count: count, timeout: .seconds(300))
            }
            let devices = await simulator.pushes.filter { $0.status == 200 }.map(\.deviceToken)
            #expect(devices.count == count && Set(devices).count == count)
        }
    }

    /// Runs a client and returns its output lines.
    private func run(
        _ client: Client,
        _ apple: Apple,
        port: UInt16,
        authority: String,
        key: String,
        _ arguments: [String]
    ) async throws -> [Substring] {
        let credentials = client.hasCertificate ? apple.certificate.scratch.path + "/both.pem" : key
        let run = try await ProgramRun(
            client.interpreter,
            ["-W", "ignore", "Tests/Peers/\(client.rawValue)_peer.py", "\(port)", authority, credentials] + arguments
        )
        #expect(run.status == 0, "\(run.errorOutput)")
        return run.text.split(separator: "\n")
    }

    /// Starts a relay that sends to a simulator and accepts the client's key or certificate.
    private func relay(before apple: Apple) async throws -> (relay: RelayProcess, authority: String) {
        let own = try CertificateAuthority()
        let identity = try own.issueServerCertificate(dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"])
        let port = await apple.simulator.port
        let fingerprint = try await apple.fingerprint
        let caller: [String: any Sendable] = [
            "name": "legacy", "certificate-sha256": fingerprint, "apps": ["app"], "scopes": ["send"],
        ]
        let relay = try await RelayProcess(
            to: ["host": "localhost", "port": Int(port), "authorities": apple.authority],
            [
                "certificate": try apple.scratch.write(identity.certificatePEM, to: "relay.pem"),
                "certificate-key": try apple.scratch.write(identity.keyPEM, to: "relay.key"),
                "callers": [caller],
            ]
        )
        try await relay.start()
        return (relay, try apple.scratch.write(own.certificatePEM(), to: "authority.pem"))
    }

    @Test(arguments: clients) func `a client sends a thousand pushes to a simulator`(client: Client) async throws {
        let apple = try await Apple()
        let port = await apple.simulator.port
        let key = try await apple.makeKey()
        let lines = try await run(
            client,
            apple,
            port: port,
            authority: apple.authority,
            key: key,
            ["1000", "martlet", "5d3a00dead"]
        )
        #expect(lines == ["accepted 1000", "BadDeviceToken", "Unregistered"])
        try await apple.expectAccepted(1_000)
        await apple.simulator.stop()
    }

    @Test(arguments: clients) func `a client sends a thousand pushes to a relay`(client: Client) async throws {
        let apple = try await Apple()
        let (relay, authority) = try await relay(before: apple)
        let lines = try await run(
            client,
            apple,
            port: relay.port,
            authority: authority,
            key: relay.scratch.path + "/key.p8",
            ["1000", "martlet", "5d3a00dead", "5d3a00dead"]
        )
        #expect(lines == ["accepted 1000", "BadDeviceToken", "Unregistered", "Unregistered"])
        try await apple.expectAccepted(1_000)
        #expect(await relay.stop() == 0)
        await apple.simulator.stop()
    }

    /// The simulator's faults reach a client directly; the relay handles them.
    @Test(arguments: clients, ["unavailable", "token-expired"])
    func `a relay hides faults from a client`(client: Client, preset: String) async throws {
        let count = 200
        let faults = try #require(SimulatedAPNs.Fault.presets.first { $0.name == preset }).faults
        let alone = try await Apple(faults)
        let port = await alone.simulator.port
        let key = try await alone.makeKey()
        let lines = try await run(client, alone, port: port, authority: alone.authority, key: key, ["\(count)"])
        let counts = Dictionary(
            uniqueKeysWithValues: lines.map { line in
                let words = line.split(separator: " ")
                return (String(words[0]), words.last.flatMap { Int($0) } ?? 0)
            }
        )
        #expect(counts.values.reduce(0, +) == count, "\(lines)")
        try await alone.expectAccepted(counts["accepted"] ?? 0)
        await alone.simulator.stop()

        let apple = try await Apple(faults)
        let (relay, authority) = try await relay(before: apple)
        let keyFile = relay.scratch.path + "/key.p8"
        let behind = try await run(client, apple, port: relay.port, authority: authority, key: keyFile, ["\(count)"])
        #expect(behind == ["accepted \(count)"])
        try await apple.expectAccepted(count)
        #expect(await relay.stop() == 0)
        await apple.simulator.stop()
    }
}

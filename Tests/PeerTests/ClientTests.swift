// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import MartletSimulator
import TestSupport
import Testing

/// Tests of third-party clients against the simulator.
@Suite(.timeLimit(.minutes(10))) struct ClientTests {
    private static let pushes = 1_000

    /// A simulator, with a provider token and certificate files for clients.
    private struct Bench {
        let apns: SimulatedAPNs
        let scratch: ScratchDirectory
        let authority: String
        let authorization: String
        let port: UInt16

        init(streamsBeforeToken: UInt32 = 1, isEncrypted: Bool = true) async throws {
            apns = try await SimulatedAPNs.start(
                SimulatedAPNs.Configuration(isEncrypted: isEncrypted, streamsBeforeToken: streamsBeforeToken)
            )
            scratch = try ScratchDirectory()
            authority = try scratch.write(apns.authorityPEM, to: "ca.pem")
            let token = try SigningKey.ephemeral().token(issuedAt: Date())
            authorization = "authorization: bearer " + String(decoding: token, as: UTF8.self)
            port = await apns.port
        }

        func url(isEncrypted: Bool = true) -> String {
            "\(isEncrypted ? "https" : "http")://localhost:\(port)/3/device/"
        }

        /// The number of received pushes by status.
        func answers() async -> [Int: Int] {
            await apns.pushes.reduce(into: [:]) { $0[$1.status, default: 0] += 1 }
        }
    }

    /// curl 7.88 cannot reuse an h2c connection with prior knowledge, with any server: without TLS it sends one push.
    @Test(arguments: [(true, pushes), (false, 1)]) func `curl sends pushes`(isEncrypted: Bool, count: Int) async throws
    {
        let bench = try await Bench(isEncrypted: isEncrypted)
        let run = try await ProgramRun.curl([
            isEncrypted ? "--http2" : "--http2-prior-knowledge", "--cacert", bench.authority, "--output", "/dev/null",
            "--write-out", "%{http_code}\n", "-H", bench.authorization, "-H", "apns-topic: com.example.app",
            "-H", "apns-push-type: alert", "--data", #"{"aps":{"alert":"Hello"}}"#,
            bench.url(isEncrypted: isEncrypted) + "5d3a6a1c[1000-\(999 + count)]",
        ])
        #expect(run.text == String(repeating: "200\n", count: count), "\(run.errorOutput)")
        #expect(await bench.apns.pushCount == count)
        #expect(Set(await bench.apns.pushes.map(\.connection)).count == 1)
        await bench.apns.stop()
    }

    /// h2load opens many streams at once from the start, which APNs does not allow before it has verified a token.
    @Test(arguments: [(true, 1, 1), (true, 100, 1_000), (false, 100, 1_000)])
    func `h2load sends a thousand pushes`(isEncrypted: Bool, streams: Int, streamsBeforeToken: UInt32) async throws {
        let bench = try await Bench(streamsBeforeToken: streamsBeforeToken, isEncrypted: isEncrypted)
        let payload = try bench.scratch.write(#"{"aps":{"alert":"Hello"}}"#, to: "payload.json")
        let run = try await ProgramRun(
            "h2load",
            [
                "-n", "\(Self.pushes)", "-c", "2", "-m", "\(streams)", "-d", payload, "-H", bench.authorization,
                "-H", "apns-topic: com.example.app", "-H", "apns-push-type: alert",
                bench.url(isEncrypted: isEncrypted) + "5d3a6a1c",
            ]
        )
        #expect(run.text.contains("\(Self.pushes) succeeded, 0 failed, 0 errored, 0 timeout"), "\(run.text)")
        #expect(run.text.contains("status codes: \(Self.pushes) 2xx"))
        #expect(await bench.answers() == [200: Self.pushes])
        await bench.apns.stop()
    }

    @Test(
        .enabled(
            if: FileManager.default.fileExists(atPath: Python.interpreter),
            "run `make test`, which installs aioapns"
        )
    )
    func `aioapns sends a thousand pushes`() async throws {
        let bench = try await Bench()
        let key = try await ProgramRun(
            "openssl",
            ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
        ).text
        try await bench.apns.register(SigningKey(pem: key, keyID: "ABC123DEFG", teamID: "DEF123GHIJ"))
        await bench.apns.unregister(try DeviceToken(hex: "5d3a6a1c"), since: Date(timeIntervalSince1970: 1_790_000_000))
        let run = try await ProgramRun(
            Python.interpreter,
            [
                "Tests/Peers/aioapns_peer.py", "\(bench.port)", bench.authority,
                try bench.scratch.write(key, to: "key.p8"),
                "\(Self.pushes)", "5d3a6a1c", "martlet",
            ]
        )
        // After a rejected push one stream is left, as with APNs, and aioapns 4 waits forever: send that push last.
        let last = "410 Unregistered 1790000000000\n400 BadDeviceToken \n"
        #expect(run.text == "200 \(Self.pushes)\n" + last, "\(run.errorOutput)")
        #expect(await bench.apns.pushCount == Self.pushes + 2)
        await bench.apns.stop()
    }

    @Test(
        .enabled(
            if: FileManager.default.fileExists(atPath: Python.interpreter),
            "run `make test`, which installs aioapns"
        )
    )
    func `aioapns sends a hundred pushes with a certificate`() async throws {
        let bench = try await Bench()
        let files = try await ProviderCertificateFiles()
        let both = try files.scratch.read("certificate.pem") + files.scratch.read("key.pem")
        let run = try await ProgramRun(
            Python.interpreter,
            [
                "Tests/Peers/aioapns_peer.py", "\(bench.port)", bench.authority,
                try files.scratch.write(both, to: "both.pem"),
                "100",
            ]
        )
        #expect(run.text == "200 100\n", "\(run.errorOutput)")
        #expect(await bench.apns.pushes.allSatisfy { $0.status == 200 })
        await bench.apns.stop()
    }

    /// kalyke opens a connection for each push, and sends `iat` as a string, which APNs accepts.
    @Test(
        .enabled(
            if: FileManager.default.fileExists(atPath: Python.interpreter),
            "run `make test`, which installs kalyke-apns"
        )
    )
    func `kalyke maps responses to its error types`() async throws {
        let expected = "accepted\nBadDeviceToken\nUnregistered\nTooManyRequests\n"
        let apns = try await SimulatedAPNs.start()
        let scratch = try ScratchDirectory()
        let key = try await ProgramRun(
            "openssl",
            ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
        )
        let port = await apns.port
        let run = try await ProgramRun(
            "env",
            [
                "SSL_CERT_FILE=" + scratch.write(apns.authorityPEM, to: "ca.pem"), Python.interpreter,
                "Tests/Peers/kalyke_peer.py", "\(port)", scratch.write(key.text, to: "key.p8"), "5d3a6a1c",
                "martlet", "5d3a00dead", "5d3a000429",
            ]
        )
        #expect(run.text == expected, "\(run.errorOutput)")
        #expect(Set(await apns.pushes.map(\.connection)).count == 4)
        await apns.stop()
    }
}

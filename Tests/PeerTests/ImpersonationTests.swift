// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import MartletSimulator
import MartletTransport
import TestSupport
import Testing

/// Tests of clients that connect to the simulator under Apple's host names, with curl as the client.
@Suite(.timeLimit(.minutes(10))) struct ImpersonationTests {
    private struct Bench {
        let apns: SimulatedAPNs
        let scratch: ScratchDirectory
        let authority: String
        let headers: [String]
        let port: UInt16

        init(names: [String] = []) async throws {
            apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(names: names))
            scratch = try ScratchDirectory()
            authority = try scratch.write(apns.authorityPEM, to: "ca.pem")
            let token = try SigningKey.ephemeral().token(issuedAt: Date())
            headers = [
                "-H", "authorization: bearer " + String(decoding: token, as: UTF8.self), "-H",
                "apns-topic: com.example.app", "-H", "apns-push-type: alert",
            ]
            port = await apns.port
        }

        /// Options of curl that connect to the simulator for a host and port, as a network alias does.
        func redirected(_ host: String, _ port: UInt16 = 443) -> [String] {
            ["--connect-to", "\(host):\(port):127.0.0.1:\(self.port)"]
        }

        let push = [
            "--http2", "--output", "/dev/null", "--write-out", "%{http_code}", "--data", #"{"aps":{"alert":"Hello"}}"#,
        ]
    }

    @Test(arguments: ["api.push.apple.com", "api.sandbox.push.apple.com", "api.development.push.apple.com"])
    func `the simulator serves clients under the names of Apple's hosts`(host: String) async throws {
        let bench = try await Bench()
        let url = "https://\(host)/3/device/5d3a6a1c"
        let trusting = ["--cacert", bench.authority]
        let run = try await ProgramRun.curl(trusting + bench.redirected(host) + bench.push + bench.headers + [url])
        #expect(run.text == "200", "\(run.errorOutput)")
        // The name resolves to this machine, and the client uses the simulator's port.
        let resolved = ["--resolve", "\(host):\(bench.port):127.0.0.1"]
        let local = "https://\(host):\(bench.port)/3/device/5d3a6a1c"
        let again = try await ProgramRun.curl(trusting + resolved + bench.push + bench.headers + [local])
        #expect(again.text == "200", "\(again.errorOutput)")
        #expect(await bench.apns.pushCount == 2)
        await bench.apns.stop()
    }

    @Test func `SSL_CERT_FILE makes a client trust the simulator`() async throws {
        let bench = try await Bench()
        let host = "api.push.apple.com"
        // Remove this machine's own settings of trusted authorities.
        let environment = ["-u", "CURL_CA_BUNDLE", "-u", "SSL_CERT_DIR", "-u", "SSL_CERT_FILE"]
        let curl =
            ["curl", "--silent", "--show-error", "--max-time", "20"] + bench.redirected(host) + bench.push
            + bench.headers + ["https://\(host)/3/device/5d3a6a1c"]
        let trusted = try await ProgramRun("env", environment + ["SSL_CERT_FILE=\(bench.authority)"] + curl)
        #expect(trusted.text == "200", "\(trusted.errorOutput)")
        let untrusted = try await ProgramRun("env", environment + curl)
        #expect(untrusted.status == 60, "a certificate that is not trusted: \(untrusted.errorOutput)")
        await bench.apns.stop()
    }

    /// Runs `martlet send` with variables that select the trusted authorities, in place of this machine's.
    private static func sending(to bench: Bench, _ authorities: String...) async throws -> ProgramRun {
        try await ProgramRun(
            "env",
            ["-u", "SSL_CERT_DIR", "-u", "SSL_CERT_FILE"] + authorities + [MartletProcess.program, "send"]
                + [
                    "--host", "localhost:\(bench.port)", "--to", "5d3a6a1c", "--topic", "com.example.app", "--title",
                    "Hello",
                ]
        )
    }

    @Test func `Martlet's client uses SSL_CERT_FILE and SSL_CERT_DIR`() async throws {
        let bench = try await Bench()
        // The simulator's authority is the last of several in the file.
        let others = try (0..<3).map { _ in try CertificateAuthority().certificatePEM() }
        let file = try bench.scratch.write(others.joined() + bench.apns.authorityPEM, to: "all.pem")
        #expect(try await Self.sending(to: bench, "SSL_CERT_FILE=\(file)").status == 0)

        let directory = bench.scratch.path + "/authorities"
        let hash = try await ProgramRun("openssl", ["x509", "-noout", "-hash", "-in", bench.authority]).text
        let name = hash.trimmingCharacters(in: .whitespacesAndNewlines) + ".0"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        try FileManager.default.copyItem(atPath: bench.authority, toPath: "\(directory)/\(name)")
        let none = "SSL_CERT_FILE=/dev/null"
        #expect(try await Self.sending(to: bench, none, "SSL_CERT_DIR=\(directory)").status == 0)

        let unrelated = try bench.scratch.write(others.joined(), to: "others.pem")
        for file in [unrelated, "/nowhere", "/dev/null"] {
            let untrusted = try await Self.sending(to: bench, "SSL_CERT_FILE=\(file)")
            #expect(untrusted.status == 3)
            #expect(untrusted.text.contains("is not trusted"), "\(untrusted.text)\(untrusted.errorOutput)")
        }
        #expect(await bench.apns.pushCount == 2)
        await bench.apns.stop()
    }

    @Test(
        arguments: [
            ("api-manage-broadcast.push.apple.com", 2196), ("api-manage-broadcast.sandbox.push.apple.com", 2195),
        ] as [(String, UInt16)]
    )
    func `channels can be managed under the names of Apple's hosts`(host: String, port: UInt16) async throws {
        let bench = try await Bench()
        let run = try await ProgramRun.curl(
            ["--cacert", bench.authority, "--http2"] + bench.redirected(host, port) + bench.headers
                + ["https://\(host):\(port)/1/apps/com.example.app/all-channels"]
        )
        #expect(run.text.contains("channels"), "\(run.text)\(run.errorOutput)")
        await bench.apns.stop()
    }

    @Test(arguments: [
        "localhost", "127.0.0.1", "[::1]", "apns", "push.test.internal", "a.wild.internal", "10.0.0.5", "[fd00::5]",
    ])
    func `the certificate has the names of this machine and the configured names`(name: String) async throws {
        let bench = try await Bench(names: ["apns", "push.test.internal", "*.wild.internal", "10.0.0.5", "fd00::5"])
        let run = try await ProgramRun.curl(
            ["--cacert", bench.authority] + bench.redirected(name) + bench.push + bench.headers
                + ["https://\(name)/3/device/5d3a6a1c"]
        )
        #expect(run.text == "200", "\(run.errorOutput)")
        await bench.apns.stop()
    }

    @Test func `an authority issues certificates only for its names`() async throws {
        let authority = try LocalAuthority(names: ["apns"])
        let apns = try await SimulatedAPNs.start(.init(authority: authority, names: ["apns", "eu.apns"]))
        await apns.stop()
        for name in ["other", "10.0.0.5"] {
            let error = await #expect(throws: SimulatorError.self) {
                try await SimulatedAPNs.start(.init(authority: authority, names: [name]))
            }
            #expect(error?.description.contains("was created without \(name)") == true, "\(String(describing: error))")
        }
    }

    @Test(arguments: ["", "a b", "a,DNS:b", "a..b", "*", "a.*.b", "fe80::1%lo", "-\n"])
    func `invalid names are rejected`(name: String) throws {
        #expect(throws: SimulatorError.self) { try LocalAuthority(names: [name]) }
    }
}

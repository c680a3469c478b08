// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import MartletSimulator
import MartletTransport
import TestSupport
import Testing

/// Tests of third-party APNs clients against the relay.
@Suite(.timeLimit(.minutes(10))) struct RelayClientTests {
    private static let pushes = 1_000
    /// A relay that sends to a simulator, both with TLS.
    private struct Bench {
        let apple: SimulatedAPNs
        let relay: RelayProcess
        /// The file with the authority of the relay's certificate.
        let authority: String

        init() async throws {
            var configuration = SimulatedAPNs.Configuration(environment: .production)
            configuration.storedPushes = 2 * RelayClientTests.pushes
            apple = try await SimulatedAPNs.start(configuration)
            let scratch = try ScratchDirectory()
            let authorities = try scratch.write(apple.authorityPEM, to: "apple.pem")
            let own = try CertificateAuthority()
            let identity = try own.issueServerCertificate(dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"])
            let port = await apple.port
            relay = try await RelayProcess(
                to: ["host": "localhost", "port": Int(port), "authorities": authorities],
                [
                    "certificate": try scratch.write(identity.certificatePEM, to: "relay.pem"),
                    "certificate-key": try scratch.write(identity.keyPEM, to: "relay.key"),
                ]
            )
            try await relay.start()
            authority = try relay.scratch.write(own.certificatePEM(), to: "authority.pem")
        }

        /// The header fields of a push, as options of curl and h2load.
        let fields = [
            "-H", "authorization: bearer \(RelayProcess.callerKey)", "-H", "apns-topic: \(RelayProcess.bundleID)",
            "-H", "apns-push-type: alert",
        ]

        var url: String { "https://localhost:\(relay.port)/3/device/" }

        func end() async {
            #expect(await relay.stop() == 0)
            await apple.stop()
        }
    }

    @Test(
        .enabled(
            if: FileManager.default.fileExists(atPath: Python.interpreter),
            "run `make test`, which installs aioapns"
        )
    )
    func `aioapns sends a thousand pushes, and receives Apple's errors`() async throws {
        let bench = try await Bench()
        await bench.apple.unregister(
            try DeviceToken(hex: "5d3a6a1c"),
            since: Date(timeIntervalSince1970: 1_790_000_000)
        )
        let run = try await ProgramRun(
            Python.interpreter,
            [
                "Tests/Peers/aioapns_peer.py", "\(bench.relay.port)", bench.authority,
                bench.relay.scratch.path + "/key.p8", "\(Self.pushes)", "5d3a6a1c", "5d3a6a1c", "martlet",
            ]
        )
        // The relay itself rejects the second push to the unregistered token.
        let dead = String(repeating: "410 Unregistered 1790000000000\n", count: 2)
        #expect(run.text == "200 \(Self.pushes)\n" + dead + "400 BadDeviceToken \n", "\(run.errorOutput)")
        #expect(await bench.apple.pushes.count { $0.status == 200 } == Self.pushes)
        #expect(await bench.apple.pushCount == Self.pushes + 1)
        await bench.end()
    }

    @Test(arguments: [1, 100]) func `h2load sends a thousand pushes`(streams: Int) async throws {
        let bench = try await Bench()
        let payload = try bench.relay.scratch.write(#"{"aps":{"alert":"Hello"}}"#, to: "payload.json")
        let run = try await ProgramRun(
            "h2load",
            ["-n", "\(Self.pushes)", "-c", "2", "-m", "\(streams)", "-d", payload] + bench.fields
                + [bench.url + "5d3a6a1c"]
        )
        #expect(run.text.contains("status codes: \(Self.pushes) 2xx"), "\(run.text)")
        let pushes = await bench.apple.pushes
        #expect(pushes.count == Self.pushes && pushes.allSatisfy { $0.status == 200 })
        #expect(Set(pushes.map(\.id)).count == Self.pushes)
        await bench.end()
    }

    /// A payload with duplicate and unsorted members, a large number, unnecessary escapes and optional white space.
    private static let payload =
        "{ \"z\" : 1e400,\r\n\t\"big\":123456789012345678901234567890, \"a\":-0.0 ,\"a\" : \"\\u00e9\\/\", \"é\":[ ] , "
        + "\"aps\" :{ \"mutable-content\":1,\"alert\":\"Hi\\u0021\" } ,\"z\":null }\n "

    @Test func `payload and headers arrive unchanged`() async throws {
        let bench = try await Bench()
        let file = try bench.relay.scratch.write(Self.payload, to: "payload.json")
        let id = "123e4567-e89b-42d3-a456-426655440000"
        let run = try await ProgramRun.curl(
            ["--http2", "--cacert", bench.authority, "--include", "--data-binary", "@" + file] + bench.fields
                + [
                    "-H", "apns-id: \(id)", "-H", "apns-collapse-id: o-1", "-H", "apns-priority: 5",
                    bench.url + "5d3a6a1c",
                ]
        )
        #expect(run.text.hasPrefix("HTTP/2 200"), "\(run.text)\(run.errorOutput)")
        #expect(run.text.contains("apns-id: \(id)"), "\(run.text)")
        let push = try #require(await bench.apple.pushes.first)
        #expect(push.payload == Array(Self.payload.utf8) && push.id == id && push.status == 200)
        #expect(push.headers.collapseID == "o-1" && push.headers.priority == "5" && push.headers.pushType == "alert")
        await bench.end()
    }

    @Test func `curl sends a thousand pushes, and uses the JSON interface on the same port`() async throws {
        let bench = try await Bench()
        let run = try await ProgramRun.curl(
            [
                "--http2", "--cacert", bench.authority, "--output", "/dev/null", "--write-out", "%{http_code}\n",
                "--data", #"{"aps":{"alert":"Hello"}}"#,
            ] + bench.fields + [bench.url + "5d3a6a1c[1000-\(999 + Self.pushes)]"]
        )
        #expect(run.text == String(repeating: "200\n", count: Self.pushes), "\(run.errorOutput)")
        #expect(await bench.apple.pushes.count { $0.status == 200 } == Self.pushes)
        let encoded = Data(Self.payload.utf8).base64EncodedString()
        let posted = try await ProgramRun.curl(
            [
                "--http2", "--cacert", bench.authority, "--data", #"{"to":"5d3a6a1c","payload-base64":"\#(encoded)"}"#,
                "https://localhost:\(bench.relay.port)/v1/pushes?wait=60",
            ] + bench.fields
        )
        #expect(posted.text.contains(#""state":"delivered""#), "\(posted.text)\(posted.errorOutput)")
        #expect(await bench.apple.pushes.last?.payload == Array(Self.payload.utf8))
        await bench.end()
    }
}
